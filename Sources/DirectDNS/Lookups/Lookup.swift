// SPDX-License-Identifier: Apache-2.0
/// What a caller wants to know of a name.
struct LookupRequest: Sendable {
  var host: HostName
  var wanted: AddressFamilies
  var route: NameRoute
  var expired: ExpiredUse
  /// How long it may take, where that is not the configuration's.
  var timeout: Duration?
  /// What the addresses are for.
  var purpose: FamilyWait.Purpose
  /// Whether IPv6 addresses come first.
  var prefersIPv6: Bool

  var preferred: IPAddress.Family { prefersIPv6 ? .ipv6 : .ipv4 }
}

/// One caller's lookup that waits: a value.
struct Lookup: Sendable {
  /// What it waits for, and so what follows.
  ///
  /// What few lookups have to carry lies beside them, since all of them are moved several times.
  enum Phase: Sendable {
    /// A refresh of a stale answer, which serves when that does not come in time.
    case refreshing
    /// The providers, be it through the store; `isSecondLook` where what the store had was of no use.
    case asking(isSecondLook: Bool)
    /// The other family's addresses, beside those that are there.
    indirect case completing(Resolution)
    /// The system's DNS, after those outcomes of the providers.
    indirect case fallingBack(FamilyOutcomes, failed: AddressFamilies)
    /// The system's DNS, since direct connect is switched off.
    case askingSystemAlone
    /// All of what is not fresh, ahead of need.
    case renewing(isPatient: Bool, round: Int)
  }

  let request: LookupRequest
  let deadlines: LookupDeadlines
  var phase: Phase
  var wait: FamilyWait
  /// Whether anything had to be asked for.
  var wasAsked = false

  /// Whether what came of a question is what it waits for by now.
  func waits(for server: InFlightQuery.Server) -> Bool {
    switch phase {
    case .fallingBack: server == .system
    case .askingSystemAlone: server == .systemAlone
    case .refreshing, .asking, .completing, .renewing: true
    }
  }
}

/// A question under way.
struct InFlightQuery: Sendable {
  /// Who is asked.
  enum Server: Sendable, Hashable {
    /// The providers, after the store where there is one.
    case providers
    /// The system's DNS, as a fallback.
    case system
    /// The system's DNS in place of the providers, past the cache and its failures.
    case systemAlone
  }

  /// What makes two of them one.
  struct Key: Sendable, Hashable {
    var question: AddressQuestion
    var server: Server
  }

  /// Who waits for it.
  enum Waiter: Sendable, Hashable {
    case lookup(Int)
    case keepAlive(HostName)
  }

  enum Stage: Sendable {
    /// The store is looked into, for the first time or while a lease is waited for.
    case reading(LeaseWait?)
    /// The store is looked into once more, under a lease.
    case readingUnderLease
    case takingLease(LeaseWait)
    /// Another member of the fleet asks.
    case waitingForLease(LeaseWait)
    /// It waits for the other questions of its query.
    case batching
    case asking
  }

  let key: Key
  let deadlines: LookupDeadlines
  let asked: ResolverInstant
  /// By which configuration it was begun.
  let generation: Int
  /// Whether its name was forgotten meanwhile: those who wait get what comes, and nothing of it is kept.
  var isInvalidated = false
  var stage = Stage.asking
  private(set) var waiters: [Waiter] = []
  /// The lookup that began last of those who wait: their numbers grow.
  private var newest = Int.min
  var lease: StoreLink.Lease?
  /// The query that it is to share with others.
  var batch: Int?

  var question: AddressQuestion { key.question }

  init(key: Key, deadlines: LookupDeadlines, asked: ResolverInstant, generation: Int) {
    self.key = key
    self.deadlines = deadlines
    self.asked = asked
    self.generation = generation
  }

  /// Lets somebody wait, once; thousands may wait for a name that everybody wants at once.
  mutating func add(_ waiter: Waiter) {
    if case .lookup(let number) = waiter, number > newest {
      newest = number
    } else if waiters.contains(waiter) {
      return
    }
    waiters.append(waiter)
  }
}
