// SPDX-License-Identifier: Apache-2.0
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
}

/// The caller of a lookup that the cache could not answer at once.
struct LookupCaller: Sendable {
  /// The number that the result will have.
  let number: Int
  let request: LookupRequest
  let deadlines: LookupDeadlines
  let began: ResolverInstant
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

  let caller: LookupCaller
  var phase: Phase
  var wait: FamilyWait
  /// Whether the store or a server had to be asked.
  var wasAsked = false

  var request: LookupRequest { caller.request }
  var deadlines: LookupDeadlines { caller.deadlines }

  /// Whether it still waits for that server's answers: it may have gone on to another phase.
  func waits(for server: InFlightQuery.Server) -> Bool {
    switch phase {
    case .fallingBack: server == .system
    case .askingSystemAlone: server == .systemAlone
    case .refreshing, .asking, .completing, .renewing: true
    }
  }
}

/// A question that is being asked.
struct InFlightQuery: Sendable {
  /// Who is asked.
  enum Server: Sendable, Hashable {
    /// The store, if there is one, and then the providers.
    case providers
    /// The system's DNS, as a fallback.
    case system
    /// The system's DNS instead of the providers; neither cached answers nor remembered failures count.
    case systemAlone
  }

  /// Callers who ask the same question of the same server share one query.
  struct Key: Sendable, Hashable {
    var question: AddressQuestion
    var server: Server
  }

  /// Who waits for it.
  enum Waiter: Sendable, Hashable {
    case lookup(Int)
    case keepAlive(HostName)
  }

  let key: Key
  let deadlines: LookupDeadlines
  let asked: ResolverInstant
  /// The number of the configuration that it was begun under.
  let generation: Int
  /// Whether its name was invalidated meanwhile: those who wait still get the answer, but it is not kept.
  private(set) var isInvalidated = false
  private(set) var waiters: [Waiter] = []
  /// The highest number among the lookups that wait.
  private var newest = Int.min
  /// Its way through the store, if there is one.
  var turn: StoreTurn?
  /// Whether the name's other family was asked for meanwhile and brought nothing to keep.
  var isOtherUnknown = false
  /// The batch that it goes out with, if any.
  var batch: Int?

  var question: AddressQuestion { key.question }

  init(key: Key, deadlines: LookupDeadlines, asked: ResolverInstant, generation: Int) {
    self.key = key
    self.deadlines = deadlines
    self.asked = asked
    self.generation = generation
  }

  /// Its name is invalidated: a refresh ahead of need does not wait for it any more, since it begins anew.
  mutating func invalidate() {
    isInvalidated = true
    waiters.removeAll { if case .keepAlive = $0 { true } else { false } }
  }

  /// Adds somebody who waits, unless he does already.
  ///
  /// Lookups get ascending numbers, so that a new one need not be searched for among the thousands that may wait.
  mutating func add(_ waiter: Waiter) {
    if case .lookup(let number) = waiter, number > newest {
      newest = number
    } else if waiters.contains(waiter) {
      return
    }
    waiters.append(waiter)
  }
}
