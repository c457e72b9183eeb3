// SPDX-License-Identifier: Apache-2.0
/// One race for a connection (Happy Eyeballs, RFC 8305): which address is tried when, and which are left.
///
/// A pure value: its owner asks what to do, does it, and reports how it went.
package struct ConnectionRace {
  /// What its owner does next.
  package enum Step: Equatable {
    /// Connect to this address now; the attempt gets that number.
    case start(IPAddress, attempt: Int)
    /// Find out the other family's addresses, and ``ConnectionRace/add(_:)`` them once they are known.
    case ask
    /// Nothing before that instant, in milliseconds of the owner's clock.
    case wait(until: Int64)
    /// Nothing: the race is won, or it waits for the last attempts or for the other family.
    case rest
    /// Every address has failed, and no other will come.
    case lost
  }

  /// Whether the other family's addresses may join.
  private enum Others { case unasked, awaited, none }

  private var addresses: [IPAddress]
  private let delay: Int64
  private var others: Others
  private var started = 0
  /// The numbers of the attempts that have failed.
  private var failed: [Int] = []
  /// The next attempt does not start before this instant, unless one fails.
  private var notBefore = Int64.min
  private(set) var winner: Int?

  /// Creates a race.
  ///
  /// - Parameters:
  ///   - addresses: at least one, in the order of trying; see ``interleaved(_:after:)``.
  ///   - delay: milliseconds from one attempt to the next.
  ///   - hasOthers: whether the other family is still missing: it is asked for when the first attempt does not connect
  ///     at once, and the race is not lost before it has come.
  package init(_ addresses: [IPAddress], delay: Int64, hasOthers: Bool = false) {
    self.addresses = addresses
    self.delay = delay
    others = hasOthers ? .unasked : .none
  }

  /// What to do now; call it again after ``Step/start(_:attempt:)`` and ``Step/ask``.
  package mutating func step(at now: Int64) -> Step {
    guard winner == nil else { return .rest }
    guard mayStart else { return isIdle && others == .none ? .lost : .rest }
    guard now >= notBefore || isIdle else { return .wait(until: notBefore) }
    // Before the second attempt, so that the families alternate if the other one comes at once.
    if others == .unasked, started > 0 {
      others = .awaited
      return .ask
    }
    let attempt = started
    started += 1
    notBefore = now + delay
    return .start(addresses[attempt], attempt: attempt)
  }

  /// Whether no attempt is under way.
  private var isIdle: Bool { failed.count == started }

  /// Whether there is another address to try, or another family to ask for.
  private var mayStart: Bool { started < addresses.count || others == .unasked }

  /// When the next attempt starts unless something happens before; nil if none will.
  var nextStart: Int64? { winner == nil && mayStart ? notBefore : nil }

  /// The other family has come: its addresses, if any, alternate with the untried ones (RFC 8305 §3).
  package mutating func add(_ found: [IPAddress]) {
    others = .none
    let waiting = addresses[started...] + found.filter { !addresses.contains($0) }
    let last = started > 0 ? addresses[started - 1].family : nil
    addresses.replaceSubrange(started..., with: Self.interleaved(Array(waiting), after: last))
  }

  /// An attempt has failed: the next one may start at once (RFC 8305 §5).
  package mutating func failed(_ attempt: Int) {
    guard attempt < started, !failed.contains(attempt) else { return }
    failed.append(attempt)
    notBefore = .min
  }

  /// An attempt has connected.
  ///
  /// - Returns: whether it has won, being the first.
  package mutating func connected(_ attempt: Int) -> Bool {
    guard winner == nil || winner == attempt else { return false }
    winner = attempt
    return true
  }

  /// The addresses with the families alternating, and each family in its own order (RFC 8305 §4).
  ///
  /// - Parameters:
  ///   - addresses: the addresses to try.
  ///   - last: the family that was tried last, so that the other one is next; nil to begin with the first address's.
  /// - Returns: the addresses in the order of trying.
  package static func interleaved(_ addresses: [IPAddress], after last: IPAddress.Family? = nil) -> [IPAddress] {
    guard let family = addresses.first?.family, addresses.contains(where: { $0.family != family }) else {
      return addresses
    }
    var (first, second) = (addresses.filter { $0.family == family }, addresses.filter { $0.family != family })
    if family == last { swap(&first, &second) }
    var mixed: [IPAddress] = []
    for index in 0..<max(first.count, second.count) {
      if index < first.count { mixed.append(first[index]) }
      if index < second.count { mixed.append(second[index]) }
    }
    return mixed
  }
}
