// SPDX-License-Identifier: Apache-2.0
/// Decides which addresses of servers are used, and when they are looked up: a value that events and time change.
///
/// A name's addresses are kept by their TTL, and then looked up again while the old ones are used: that is waited for
/// only when connecting has failed, or on another network. If a lookup brings nothing, the old addresses stay in use,
/// since the system's DNS may be what has failed. Where there are none, that failure is remembered for a while, so that
/// the system's DNS is not asked at each query (RFC 9520); nor is it where connecting fails again and again.
struct BootstrapTable: Sendable {
  /// What becomes of a caller who needs a name's addresses.
  enum Step: Sendable, Hashable {
    case use([IPAddress])
    case fail(ProviderFailure)
    /// The lookup that is under way is waited for; at that instant, if there is one, this is the outcome instead.
    case wait(until: ResolverInstant?, orTake: Outcome)
  }

  typealias Outcome = Result<[IPAddress], ProviderFailure>

  private struct Known: Sendable {
    var addresses: [IPAddress]
    /// When they are looked up again.
    var until: ResolverInstant
    /// Whether callers wait for that lookup, since these addresses may not work any more.
    var isDoubtful = false
    /// Until when a further failure to connect changes nothing, since they were looked up because of one.
    var settledUntil: ResolverInstant?

    mutating func doubt(at now: ResolverInstant) {
      until = now
      isDoubtful = true
      settledUntil = nil
    }
  }

  private struct Failed: Sendable {
    var failure: ProviderFailure
    /// When the name is looked up again.
    var until: ResolverInstant
    /// How many lookups in a row have brought nothing.
    var count: Int
  }

  /// The least time for the lookup of a family; it goes on for other callers when one with less time has left.
  static let usualTimeout = Duration.milliseconds(1500)
  /// The time for the lookup of a family while there are other addresses that can be used.
  fileprivate static let shortTimeout = Duration.milliseconds(300)
  /// How long old addresses are used after a lookup has brought none, before the next one, even if connecting fails.
  static let recheck = Duration.seconds(30)
  /// How long a failure is remembered where there are no addresses: doubled with each further one, as for answers.
  private static let failureTTL = (least: Duration.seconds(1), most: Duration.seconds(30))
  /// For how many seconds addresses are used at most, whatever their TTL.
  fileprivate static let longestLife: UInt32 = 600
  /// For how many seconds they are used at least.
  ///
  /// Also if connecting fails to addresses that were looked up because it had failed: a name may have other ones each
  /// time that are dead as well.
  private static let shortestLife: UInt32 = 10

  private var known: [HostName: Known] = [:]
  /// The names without addresses.
  private var failed: [HostName: Failed] = [:]
  /// The names that are being looked up, and which ``network`` the last lookup of each was begun on.
  private var running: [HostName: Int] = [:]
  /// Counts changes of the network and of the system's DNS: addresses from before a change are not fresh after it, and
  /// nobody who comes after it waits for a lookup from before.
  private(set) var network = 0

  // MARK: Events

  /// A caller needs a name's addresses.
  ///
  /// - Parameters:
  ///   - host: the name.
  ///   - timeout: how long the caller can wait.
  ///   - hasSystem: whether the system's DNS may be asked.
  ///   - now: the present.
  /// - Returns: what becomes of the caller, and the lookup that is to begin, if one is.
  mutating func find(
    _ host: HostName, within timeout: Duration, hasSystem: Bool, at now: ResolverInstant
  ) -> (step: Step, lookup: BootstrapLookup?) {
    let known = known[host]
    if let known, known.until > now || !hasSystem { return (.use(known.addresses), nil) }
    guard hasSystem else {
      let reason =
        "no address is known for \(host), and the system's DNS is off: set its bootstrap (dnsctl: --bootstrap)"
      return (.fail(ProviderFailure(.transport, reason)), nil)
    }
    if let failed = failed[host], failed.until > now { return (.fail(failed.failure), nil) }
    // It takes its time, whoever waits for it: the next caller can use what it brings.
    let lookupTime = known == nil ? max(timeout / 2, Self.usualTimeout) : Self.shortTimeout
    let isBegun = running[host] == network
    running[host] = network
    let lookup = isBegun ? nil : BootstrapLookup(of: host, timeout: lookupTime, network: network)
    if let known, !known.isDoubtful { return (.use(known.addresses), lookup) }
    // A caller with less time than the lookup may take, one family after the other, does not wait for its end.
    let ownTime = known == nil ? timeout : timeout / 2
    return (
      .wait(
        until: ownTime < lookupTime * 2 ? now + ownTime : nil,
        orTake: known.map { .success($0.addresses) } ?? .failure(.noTimeLeft)), lookup
    )
  }

  /// A lookup has ended.
  ///
  /// - Returns: the outcome for those who have waited for it.
  mutating func ended(_ lookup: BootstrapLookup, at now: ResolverInstant) -> Outcome {
    let host = lookup.host
    if running[host] == lookup.network { running[host] = nil }
    let before = known[host]?.addresses ?? []
    let wasDoubtful = known[host]?.isDoubtful == true
    let failure = ProviderFailure(.transport, lookup.reason)
    guard lookup.network == network else {
      // What failed before a change of the network or of the system's DNS says nothing of what is there now.
      guard !lookup.addresses.isEmpty else { return before.isEmpty ? .failure(failure) : .success(before) }
      // And what was found is of use only as long as nothing else has been.
      if known[host].map({ $0.isDoubtful || $0.until <= now }) ?? true {
        failed[host] = nil
        known[host] = Known(addresses: lookup.addresses, until: now, isDoubtful: true)
      }
      return .success(lookup.addresses)
    }
    if !lookup.addresses.isEmpty {
      failed[host] = nil
      // In the order of before, if only that has changed: another one would mean another connection.
      let isSame = Set(lookup.addresses) == Set(before)
      known[host] = Known(
        addresses: isSame ? before : lookup.addresses,
        until: now + .seconds(Int64(max(lookup.ttl, Self.shortestLife))),
        settledUntil: wasDoubtful ? now + .seconds(Int64(Self.shortestLife)) : nil)
    } else if !before.isEmpty {
      let next = now + Self.recheck
      known[host] = Known(addresses: before, until: next, settledUntil: wasDoubtful ? next : nil)
    }
    if let known = known[host] { return .success(known.addresses) }
    let count = failed[host]?.count ?? 0
    let ttl = Self.failureTTL.least.doubled(count, atMost: Self.failureTTL.most)
    failed[host] = Failed(failure: failure, until: now + ttl, count: count + 1)
    return .failure(failure)
  }

  /// None of a name's addresses could be connected to.
  mutating func connectingFailed(to host: HostName, at now: ResolverInstant) {
    if let settled = known[host]?.settledUntil, now < settled { return }
    known[host]?.doubt(at: now)
  }

  /// Another network may have other addresses.
  mutating func networkDidChange(at now: ResolverInstant) {
    network += 1
    failed = [:]
    for host in known.keys { known[host]?.doubt(at: now) }
  }

  /// The system's DNS is another one, or none; addresses that are known stay.
  mutating func systemDidChange() {
    network += 1
    failed = [:]
    for host in known.keys { known[host]?.settledUntil = nil }
  }
}

/// The lookup of a server's addresses, one family after the other.
struct BootstrapLookup: Sendable {
  let host: HostName
  /// The ``BootstrapTable/network`` that it was begun on.
  let network: Int
  fileprivate private(set) var addresses: [IPAddress] = []
  /// The shortest TTL of them, in seconds.
  fileprivate private(set) var ttl = BootstrapTable.longestLife
  /// Why there are none, in words.
  fileprivate private(set) var reason: String
  private let timeout: Duration
  private var families = IPAddress.Family.allCases[...]

  fileprivate init(of host: HostName, timeout: Duration, network: Int) {
    (self.host, self.timeout, self.network) = (host, timeout, network)
    reason = "the system's DNS has no address for \(host); \(Self.advice(host))"
  }

  /// The family to ask for next, and how long its answer is waited for; nil if both were asked for.
  var next: (family: IPAddress.Family, timeout: Duration)? {
    // It is common that a system's DNS never answers for one family: with the other one known, that wait is short.
    families.first.map { ($0, addresses.isEmpty ? timeout : min(timeout, BootstrapTable.shortTimeout)) }
  }

  /// Takes the answer for that family.
  mutating func answered(_ result: Result<Answer, ProviderFailure>) {
    families.removeFirst()
    switch result {
    case .success(let answer):
      guard !answer.addresses.isEmpty else { return }
      addresses += answer.addresses
      ttl = min(ttl, answer.ttl ?? ttl)
    case .failure(let failure):
      reason = "the system's DNS was asked for \(host): \(failure.reason); \(Self.advice(host))"
    }
  }

  private static func advice(_ host: HostName) -> String { "give one (bootstrap; dnsctl: --bootstrap \(host)=ADDRESS)" }
}

extension ProviderFailure {
  /// The caller's time is over; that is no failure of a server.
  static let noTimeLeft = ProviderFailure(.cancelled, "no time was left for it")
}
