// SPDX-License-Identifier: Apache-2.0
internal import HeapModule

/// What a caller wants to know about a name.
struct LookupRequest: Sendable {
  var host: HostName
  var wanted: AddressFamilies
  var route: NameRoute
  var expired: ExpiredUse
  /// How long it may take; nil for as long as the configuration says.
  var timeout: Duration?
  /// What the addresses are for.
  var purpose: FamilyWait.Purpose
  /// Whether IPv6 addresses come first.
  var prefersIPv6: Bool

  var preferred: IPAddress.Family { prefersIPv6 ? .ipv6 : .ipv4 }

  /// The answer to it where nobody needs to be asked, because the name is pinned or this machine's; nil for any other
  /// name.
  ///
  /// - Parameters:
  ///   - ranking: what is known about addresses, which decides about the order of pinned ones.
  ///   - hasSystem: whether the system's DNS may be asked.
  ///   - now: the present.
  /// - Returns: the answer, if the name has one of its own.
  /// - Throws: why there is none, although nobody is to be asked.
  func ownAnswer(
    _ ranking: AddressRanking, hasSystem: Bool, at now: ResolverInstant
  ) throws(DirectDNSError) -> Resolution? {
    let addresses: [IPAddress]
    let source: Resolution.Source
    switch route {
    case .pinned(let pinned): (addresses, source) = (pinned, .pin)
    case .loopback: (addresses, source) = ([.loopback(.ipv4), .loopback(.ipv6)], .local)
    case .neverExists: throw .neverExists("\(host)")
    case .refused: throw .isOnion("\(host)")
    case .system where !hasSystem: throw .needsSystem("\(host)")
    case .system, .providers: return nil
    }
    var usable = AddressList()
    for address in addresses where address.family == preferred && wanted.contains(preferred) { usable.append(address) }
    for address in addresses where address.family != preferred && wanted.contains(address.family) {
      usable.append(address)
    }
    // In the order in which they are configured, but for what is known about them.
    if source == .pin {
      ranking.order(&usable, firstCount: usable.count(where: { $0.family == preferred }), takesTurns: false, at: now)
    }
    guard !usable.isEmpty else {
      throw DirectDNSError(
        .noAddress, "\(host) is \(source.kind == "pin" ? "pinned" : "this machine") and has no \(wanted) address.")
    }
    return Resolution(addresses: usable, source: source)
  }
}

extension AnswerCache {
  /// What it has for a lookup, or for some of its families, if anything.
  ///
  /// Without `addsStale` its purpose says whether the stale addresses of one family go along with those of the other.
  func find(
    _ request: LookupRequest, _ wanted: AddressFamilies? = nil, addsStale: Bool? = nil, at now: ResolverInstant
  ) -> Found? {
    find(
      request.host, wanted ?? request.wanted, request.expired, prefersIPv6: request.prefersIPv6,
      addsStale: addsStale ?? (request.purpose == .handingOut), at: now)
  }
}

/// The caller of a lookup that the cache could not answer at once.
struct LookupCaller: Sendable {
  /// The number that the result will have.
  let number: Number<Lookup>
  let request: LookupRequest
  let deadlines: LookupDeadlines
  let began: ResolverInstant
  /// What the store had for it, and was not fresh.
  var restored: [IPAddress.Family: CacheEntry] = [:]
}

/// One caller's lookup that is waiting for something: a value.
struct Lookup: Sendable {
  /// What the lookup waits for, which also decides what comes next.
  ///
  /// The large values that only some phases have are `indirect`, since every lookup is moved several times.
  enum Phase: Sendable {
    /// The refresh of a stale answer, which is served if the refresh takes too long.
    case refreshing
    /// The store, if there is one, and the providers; `isSecondLook` if the store's answer was of no use, and the
    /// providers are asked after all.
    case asking(isSecondLook: Bool)
    /// The other family's addresses, to go with those that are known.
    indirect case completing(Resolution)
    /// The system's DNS for the families that failed, after those outcomes of the providers.
    indirect case fallingBack(FamilyOutcomes, failed: AddressFamilies)
    /// The system's DNS alone, because direct connect is switched off.
    case askingSystemAlone
    /// Everything about the name that is not fresh, before anybody needs it.
    case renewing(isPatient: Bool, round: Int)
  }

  var caller: LookupCaller
  var phase: Phase
  var wait: FamilyWait

  var request: LookupRequest { caller.request }
  var deadlines: LookupDeadlines { caller.deadlines }

  /// Takes note of what the store had, now that a wait is over; an answer that came is newer.
  mutating func noteRestored() {
    for family in IPAddress.Family.allCases {
      switch wait.outcomes[family] {
      case .restored(let entry): caller.restored[family] = entry
      case .answered: if !caller.restored.isEmpty { caller.restored[family] = nil }
      case .failed, nil: break
      }
    }
  }

  /// Whether it still waits for that server's answers: it may have gone on to another phase.
  func waits(for server: InFlightQuestion.Server) -> Bool {
    switch phase {
    case .fallingBack: server == .system
    case .askingSystemAlone: server == .systemAlone
    case .refreshing, .asking, .completing, .renewing: true
    }
  }
}

/// The lookups that wait, by their numbers and in the order of their ends: a value.
///
/// Each lookup also has its end itself. An entry whose lookup is over, or ends at another time by now, is skipped when
/// it comes up: nearly all lookups are over long before their end.
struct WaitingLookups: Sendable {
  private struct End: Comparable, Sendable {
    var instant: ResolverInstant
    var number: Number<Lookup>

    static func < (left: Self, right: Self) -> Bool { (left.instant, left.number) < (right.instant, right.number) }
  }

  private var lookups = NumberTable<Lookup, Lookup>()
  private var ends = Heap<End>()
  /// How many entries there may be before outdated ones are dropped: twice as many as were left the last time, so that
  /// the cost is spread over the entries that came since.
  private var limit = 64

  var count: Int { lookups.count }

  /// All of them, by ascending numbers.
  var all: [(number: Number<Lookup>, value: Lookup)] { lookups.all }

  /// The lookup of that number; nil if it does not wait.
  subscript(number: Number<Lookup>) -> Lookup? { lookups[number] }

  /// Whether a lookup waits for that server's answers.
  func waits(_ number: Number<Lookup>, for server: InFlightQuestion.Server) -> Bool {
    lookups.read(number) { $0.waits(for: server) } ?? false
  }

  /// Has a lookup wait, until its end at the latest.
  mutating func add(_ lookup: consuming Lookup) {
    let (number, instant) = (lookup.caller.number, lookup.wait.end)
    lookups[number] = consume lookup
    ends.insert(End(instant: instant, number: number))
    guard ends.count > limit else { return }
    ends = Heap(ends.unordered.filter(holds))
    limit = 2 * ends.count + 64
  }

  /// Removes a lookup, which goes on or is over.
  mutating func remove(_ number: Number<Lookup>) -> Lookup? { lookups.removeValue(forKey: number) }

  /// When the next lookup ends; nil if there is none.
  mutating func nextEnd() -> ResolverInstant? {
    while let first = ends.min, !holds(first) { ends.removeMin() }
    return ends.min?.instant
  }

  /// The number of a lookup whose end has come, which is told once; nil if there is none.
  mutating func takeDue(at now: ResolverInstant) -> Number<Lookup>? {
    guard let instant = nextEnd(), instant <= now else { return nil }
    return ends.popMin()?.number
  }

  private func holds(_ end: End) -> Bool { lookups.read(end.number) { $0.wait.end } == end.instant }
}
