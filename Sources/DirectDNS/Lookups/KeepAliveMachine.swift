// SPDX-License-Identifier: Apache-2.0
/// Decides about names that are kept alive, which are refreshed before they expire without anybody asking for them: which
/// names these are, when each is due, and what follows an answer or a failure.
///
/// A value that has no cache: it is given what the cache has of a name.
struct KeepAliveMachine: Sendable {
  /// What the cache has of a name.
  struct Known: Sendable {
    var name: CachedName?
    /// The families whose answers are fresh.
    var fresh: AddressFamilies = []

    func entry(_ family: IPAddress.Family) -> CacheEntry? { name?[family].entry }

    /// Whether a family's answer is so young that it need not be refreshed yet.
    func isYoung(_ family: IPAddress.Family, at now: ResolverInstant) -> Bool {
      guard fresh.contains(family), let entry = entry(family) else { return false }
      return KeepAliveSchedule.earliest(entry.life) > now
    }
  }

  /// What is kept in mind about one name, of which there may be a hundred thousand.
  private struct State: Sendable {
    /// The state of one family: the two have different lifetimes, and one may fail while the other is answered.
    struct Family: Sendable {
      /// When it is asked for next; nil if it has no time of its own, and is asked for along with the other family.
      var next: ResolverInstant?
      /// How many refreshes in a row brought no answer that the cache keeps.
      var failures: UInt32 = 0
    }

    private var ipv4 = Family()
    private var ipv6 = Family()
    /// The families that were due when the refresh began that is under way, or the last one, less those that are to be
    /// asked for sooner since.
    var due: AddressFamilies = []
    /// Those of them that were asked for and have not been answered yet.
    var open: AddressFamilies = []
    /// Whether it was added to those of the configuration, and stays whatever that names later.
    var isAdded = false

    subscript(family: IPAddress.Family) -> Family {
      get { family == .ipv4 ? ipv4 : ipv6 }
      set { if family == .ipv4 { ipv4 = newValue } else { ipv6 = newValue } }
    }

    var isFailing: Bool { ipv4.failures > 0 || ipv6.failures > 0 }
  }

  /// Says which families are asked for, how long failures are remembered, and how many names there is room for.
  var configuration: ResolverConfiguration
  private var families: AddressFamilies { configuration.families }
  /// The cache is given the same set, so that it is in memory once.
  private(set) var names: Set<HostName> = []
  private var states: [HostName: State] = [:]
  /// The names of which a family failed the last time.
  private(set) var failing: Set<HostName> = []
  private var timers = TimerQueue<HostName, ResolverInstant>()
  private var random: SeededGenerator

  init(_ configuration: ResolverConfiguration, seed: UInt64) {
    self.configuration = configuration
    random = SeededGenerator(seed: seed)
  }

  /// When the next name is due.
  mutating func next() -> ResolverInstant? { timers.next() }

  /// A name whose time has come; nil if there is none.
  mutating func takeDue(at now: ResolverInstant) -> HostName? { timers.takeDue(at: now) }

  // MARK: The names

  /// The names that there is room for: first those that are kept alive already, then the others in their order.
  func fitting(_ wanted: Set<HostName>) -> Set<HostName> {
    guard wanted.count > configuration.capacity else { return wanted }
    let kept = wanted.filter { states[$0] != nil }
    return kept.union(wanted.subtracting(kept).sorted().prefix(configuration.capacity - kept.count))
  }

  /// The names where a configuration names others than before; those that were added stay.
  func names(_ names: Set<HostName>, inPlaceOf before: Set<HostName>) -> Set<HostName> {
    let removed = before.subtracting(names).filter { states[$0]?.isAdded == false }
    return self.names.subtracting(removed).union(names.subtracting(before))
  }

  /// Keeps these names alive, and no others.
  ///
  /// - Returns: those that are new, which ``begin(_:_:at:)`` has to be told of.
  mutating func set(_ names: Set<HostName>) -> [HostName] {
    let before = self.names
    self.names = names
    for host in before.subtracting(names).sorted() {
      self[host] = nil
      timers.set(host, at: nil)
    }
    let added = names.subtracting(before).sorted()
    states.reserveCapacity(names.count)
    for host in added { self[host] = State() }
    return added
  }

  /// Has names stay when a later configuration does not name them.
  mutating func keepAdded(_ names: Set<HostName>) { for host in names { states[host]?.isAdded = true } }

  /// Begins to keep a name alive.
  mutating func begin(_ host: HostName, _ known: Known, at now: ResolverInstant) {
    schedule(families, of: host, known, at: now)
  }

  // MARK: Refreshing

  /// A name's time has come.
  ///
  /// - Parameters:
  ///   - host: the name.
  ///   - known: what the cache has of it.
  ///   - mayAsk: whether there is somebody to ask; if not, that counts as a failure.
  ///   - now: the present.
  /// - Returns: the families to ask for now, of which ``answered(_:isKept:_:at:)`` is to be told.
  mutating func due(
    _ host: HostName, _ known: Known, mayAsk: Bool, at now: ResolverInstant
  ) -> AddressFamilies {
    guard var state = self[host] else { return [] }
    let due = families.filter { state[$0].next.map { $0 <= now } ?? true }
    let asked = due.filter { !known.isYoung($0, at: now) }
    // Lookups may have refreshed the others meanwhile: those have not failed, and get their next time with the rest.
    for family in due.members where !asked.contains(family) { state[family].failures = 0 }
    if asked.isEmpty || !mayAsk {
      for family in asked.members { state[family].failures += 1 }
      self[host] = state
      schedule(due, of: host, known, at: now)
      return []
    }
    state.due = due
    state.open.formUnion(asked)
    self[host] = state
    return asked
  }

  /// A question that was asked to keep its name alive has ended.
  ///
  /// An answer that the cache does not keep, such as one with TTL 0, counts as a failure: without the pause after a
  /// failure the name would be asked for again and again.
  ///
  /// - Parameters:
  ///   - question: the question.
  ///   - isKept: whether it brought an answer that the cache keeps.
  ///   - known: what the cache has of the name.
  ///   - now: the present.
  mutating func answered(_ question: AddressQuestion, isKept: Bool, _ known: Known, at now: ResolverInstant) {
    let (host, family) = (question.host, question.family)
    guard var state = self[host], state.open.contains(family) else { return }
    state.open.remove(AddressFamilies(family))
    let isDone = isKept || known.isYoung(family, at: now)
    state[family].failures = isDone ? 0 : state[family].failures + 1
    self[host] = state
    if state.open.isEmpty { schedule(state.due, of: host, known, at: now) }
  }

  /// Decides when families that have been asked for are asked for again.
  private mutating func schedule(_ due: AddressFamilies, of host: HostName, _ known: Known, at now: ResolverInstant) {
    guard var state = self[host] else { return }
    let isKnown = families.members.contains { family in
      state[family].failures == 0 && known.name?[family].addresses.isEmpty == false
    }
    // The same for all families: those that were asked for together stay together.
    let jitter = jitter()
    for family in due.members {
      let (entry, failures) = (known.entry(family), Int(state[family].failures))
      // The name has an answer, and none of this family: it is not worth a timer of its own.
      if isKnown, entry?.isNegative ?? (failures > 0) {
        state[family].next = nil
        continue
      }
      state[family].next = KeepAliveSchedule.next(
        entry?.life, failures: failures, jitter: jitter, policy: configuration.cache, now: now)
    }
    // Their queries are never sent at the very same instant.
    let instants = due.members.compactMap { state[$0].next }
    if let first = instants.min(), let last = instants.max(), last - first <= Self.together {
      for family in due.members where state[family].next != nil { state[family].next = last }
    }
    self[host] = state
    setTimer(host, state)
  }

  /// Families that are due within this time of one another are asked for together.
  private static let together = Duration.milliseconds(50)

  // MARK: Sooner than was decided

  /// Asks for names soon, whatever was decided before; what is under way decides about its own families.
  mutating func refreshSoon(
    _ hosts: Set<HostName>, within spread: Duration = FailureCache.releaseTime, at now: ResolverInstant
  ) {
    for host in hosts.sorted() {
      guard var state = self[host] else { continue }
      let next = now + spread * ((1 + jitter()) / 2)
      for family in families.members where !state.open.contains(family) {
        state[family].next = min(state[family].next ?? next, next)
        // Its answer may be from before: the end of what is under way is not to decide by that.
        state.due.remove(AddressFamilies(family))
      }
      self[host] = state
      if state.open.isEmpty { setTimer(host, state) }
    }
  }

  /// Begins anew with a name whose answers have been forgotten: what is under way decides nothing any more.
  mutating func beginAnew(_ host: HostName, at now: ResolverInstant) {
    self[host]?.open = []
    refreshSoon([host], within: .zero, at: now)
  }

  /// The questions that failed the last time, and are to be asked again by themselves.
  var failed: [AddressQuestion] {
    failing.sorted().flatMap { host in
      families.members.compactMap { family in
        guard let state = self[host]?[family], state.failures > 0, state.next != nil else { return nil }
        return AddressQuestion(host, family)
      }
    }
  }

  /// A server answers again: a question that it failed may be asked from that instant on.
  mutating func released(_ question: AddressQuestion, from instant: ResolverInstant, at now: ResolverInstant) {
    let family = AddressFamilies(question.family)
    guard var state = self[question.host], let next = state[question.family].next, !state.open.contains(family)
    else { return }
    let earliest = max(instant, now)
    if !state.open.isEmpty, state.due.remove(family) != nil {
      // It has no next time yet, and the end of what is under way is not to give it one.
      state[question.family].next = earliest
    } else {
      state[question.family].next = min(next, earliest)
    }
    self[question.host] = state
    if state.open.isEmpty { setTimer(question.host, state) }
  }

  private mutating func setTimer(_ host: HostName, _ state: State) {
    timers.set(host, at: families.members.compactMap { state[$0].next }.min())
  }

  private subscript(host: HostName) -> State? {
    get { states[host] }
    set {
      states[host] = newValue
      if newValue?.isFailing == true { failing.insert(host) } else { failing.remove(host) }
    }
  }

  /// A random number from -1 to 1, which moves a refresh earlier or later.
  private mutating func jitter() -> Double { .random(in: -1...1, using: &random) }
}
