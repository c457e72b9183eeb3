// SPDX-License-Identifier: Apache-2.0
/// One race for a connection, by RFC 8305: which address is tried when, and what is left to try.
///
/// A pure value: the performer asks what to do, does it, and says how it went.
package struct ConnectionRace {
  /// What the performer does next.
  package enum Step: Equatable {
    /// Try this address now; the attempt has the number.
    case start(IPAddress, attempt: Int)
    /// Find out the other family's addresses, and ``add(_:)`` them as soon as they are known.
    case ask
    /// Nothing before that instant, in the performer's milliseconds.
    case wait(until: Int64)
    /// Nothing: the race is won, the last attempts are running, or other addresses are awaited.
    case rest
    /// Every address has failed, and no other one will come.
    case lost
  }

  /// Whether other addresses may join.
  private enum Others { case unasked, awaited, none }

  private var addresses: [IPAddress]
  private let delay: Int64
  private var others: Others
  private var started = 0
  /// Those that have failed.
  private var failed: [Int] = []
  /// No further attempt starts before it, unless one fails.
  private var notBefore = Int64.min
  private(set) var winner: Int?

  /// Creates a race.
  ///
  /// - Parameters:
  ///   - addresses: at least one, in the order of trying; see ``interleaved(_:after:)``.
  ///   - delay: milliseconds from one attempt to the next.
  ///   - hasOthers: whether a family has yet to come: it is asked for when the first attempt does not bring a connection
  ///     at once, and the race is not lost before it is there.
  package init(_ addresses: [IPAddress], delay: Int64, hasOthers: Bool = false) {
    self.addresses = addresses
    self.delay = delay
    others = hasOthers ? .unasked : .none
  }

  /// What to do at an instant; ask again after ``Step/start(_:attempt:)`` and ``Step/ask``.
  package mutating func step(at now: Int64) -> Step {
    guard winner == nil else { return .rest }
    guard mayStart else { return isIdle && others == .none ? .lost : .rest }
    guard now >= notBefore || isIdle else { return .wait(until: notBefore) }
    // Before the second attempt, so that the families take turns if the other one is known by then.
    if others == .unasked, started > 0 {
      others = .awaited
      return .ask
    }
    let attempt = started
    started += 1
    notBefore = now + delay
    return .start(addresses[attempt], attempt: attempt)
  }

  /// Whether no attempt runs.
  private var isIdle: Bool { failed.count == started }

  /// Whether there is something to start: an attempt, or asking.
  private var mayStart: Bool { started < addresses.count || others == .unasked }

  /// When the next attempt starts if nothing happens; nil when none will.
  var nextStart: Int64? { winner == nil && mayStart ? notBefore : nil }

  /// The other family is in: its addresses, if it has any, take turns with those that have not been tried (RFC 8305 §3).
  package mutating func add(_ found: [IPAddress]) {
    others = .none
    let waiting = addresses[started...] + found.filter { !addresses.contains($0) }
    let last = started > 0 ? addresses[started - 1].family : nil
    addresses.replaceSubrange(started..., with: Self.interleaved(Array(waiting), after: last))
  }

  /// An attempt has failed: the next may start at once (RFC 8305 §5).
  package mutating func failed(_ attempt: Int) {
    guard attempt < started, !failed.contains(attempt) else { return }
    failed.append(attempt)
    notBefore = .min
  }

  /// An attempt stands first.
  ///
  /// - Returns: whether it has won; a later one has lost.
  package mutating func connected(_ attempt: Int) -> Bool {
    guard winner == nil || winner == attempt else { return false }
    winner = attempt
    return true
  }

  /// The families in turn, each in its own order (RFC 8305 §4).
  ///
  /// - Parameters:
  ///   - addresses: what is to be tried.
  ///   - last: the family that was tried last: the other one is next. Without it, the first address's is.
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
