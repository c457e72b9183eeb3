// SPDX-License-Identifier: Apache-2.0
/// Names that are kept alive: refreshed before they expire, without anybody asking for them.
extension LookupMachine {
  /// Sets the names that are kept alive, as many as the cache has room for.
  ///
  /// - Returns: how many names were left out.
  @discardableResult
  mutating func keepAlive(_ wanted: Set<HostName>, at now: ResolverInstant) -> Int {
    let before = keptAlive.names
    let names = Self.names(wanted, before, capacity: settings.configuration.capacity)
    let leftOut = wanted.count - names.count
    guard names != before else { return leftOut }
    cache.keepAlive(names, now: now)
    for host in before.subtracting(names).sorted() {
      keptAlive[host] = nil
      timers.set(.keepAlive(host), at: nil)
    }
    guard !isShutDown else { return leftOut }
    for host in names.subtracting(before).sorted() {
      keptAlive[host] = KeepAliveNames.State()
      schedule(settings.configuration.families.members, of: host, at: now)
    }
    return leftOut
  }

  /// Adds names to those that are kept alive; they stay when a later configuration does not name them.
  ///
  /// - Returns: how many names were left out.
  mutating func keepAlive(adding names: Set<HostName>, at now: ResolverInstant) -> Int {
    let leftOut = keepAlive(keptAlive.names.union(names), at: now)
    for host in names { keptAlive[host]?.isAdded = true }
    return leftOut
  }

  /// Takes over the names of another configuration; those that were added stay.
  mutating func keepAlive(_ names: Set<HostName>, inPlaceOf before: Set<HostName>, at now: ResolverInstant) {
    guard names != before else { return }
    let removed = before.subtracting(names).filter { keptAlive[$0]?.isAdded == false }
    keepAlive(keptAlive.names.subtracting(removed).union(names.subtracting(before)), at: now)
  }

  /// The names that there is room for: first those that are kept alive already, then the others in their order.
  private static func names(_ wanted: Set<HostName>, _ before: Set<HostName>, capacity: Int) -> Set<HostName> {
    guard wanted.count > capacity else { return wanted }
    let kept = wanted.intersection(before)
    return kept.union(wanted.subtracting(kept).sorted().prefix(capacity - kept.count))
  }

  /// Decides when families that have been asked for are asked for again.
  private mutating func schedule(_ families: [IPAddress.Family], of host: HostName, at now: ResolverInstant) {
    guard var state = keptAlive[host] else { return }
    let value = cache.value(host)
    let isKnown = settings.configuration.families.members.contains { family in
      state[family].failures == 0 && value?[family].addresses.isEmpty == false
    }
    // The same for all families: those that were asked for together stay together.
    let jitter = keptAlive.jitter()
    for family in families {
      let (entry, failures) = (value?[family].entry, state[family].failures)
      // The name has an answer, and none of this family: it is not worth a timer of its own.
      if isKnown, entry?.isNegative ?? (failures > 0) {
        state[family].next = nil
        continue
      }
      state[family].next = KeepAliveSchedule.next(
        entry?.life, failures: failures, jitter: jitter, policy: settings.configuration.cache, now: now)
    }
    keptAlive[host] = state
    setTimer(host)
  }

  /// Asks for names soon, whatever was decided before: they were invalidated, or the pause that they are in is due to
  /// servers or a network that have changed.
  mutating func refreshSoon(_ hosts: [HostName], within spread: Duration = .zero, at now: ResolverInstant) {
    for host in hosts {
      guard var state = keptAlive[host] else { continue }
      let next = now + spread * ((1 + keptAlive.jitter()) / 2)
      // What is under way decides about its own families.
      for family in settings.configuration.families.members where !state.open.contains(AddressFamilies(family)) {
        state[family].next = min(state[family].next ?? next, next)
      }
      keptAlive[host] = state
      if state.open.isEmpty { setTimer(host) }
    }
  }

  /// Begins anew with a name whose answers have been forgotten: what is under way decides nothing any more.
  mutating func refreshForgotten(_ host: HostName, at now: ResolverInstant) {
    guard var state = keptAlive[host] else { return }
    state.open = []
    keptAlive[host] = state
    refreshSoon([host], at: now)
  }

  /// Asks again for the names that failed, spread over two seconds.
  mutating func refreshFailingSoon(at now: ResolverInstant) {
    refreshSoon(keptAlive.failing.sorted(), within: .seconds(2), at: now)
  }

  /// Whether a family's answer is so young that it need not be refreshed yet.
  func isRefreshed(_ host: HostName, _ family: IPAddress.Family, at now: ResolverInstant) -> Bool {
    guard let entry = cache.value(host)?[family].entry, cache.phase(of: entry, at: now) == .fresh else { return false }
    return KeepAliveSchedule.next(
      entry.life, failures: 0, jitter: -1, policy: settings.configuration.cache, now: now) > now
  }

  private mutating func setTimer(_ host: HostName) {
    let next = settings.configuration.families.members.compactMap { keptAlive[host]?[$0].next }.min()
    timers.set(.keepAlive(host), at: next)
  }

  /// Asks for the families of a kept-alive name that are due, even if the cache has a fresh answer.
  mutating func refreshAhead(_ host: HostName, at now: ResolverInstant) {
    guard var state = keptAlive[host], !isShutDown else { return }
    let route = settings.configuration.localZones.route(host)
    let due = settings.configuration.families.members.filter { state[$0].next.map { $0 <= now } ?? true }
    let families = due.filter { !isRefreshed(host, $0, at: now) }
    // Lookups may have refreshed the others meanwhile: those have not failed, and get their next time with the rest.
    for family in due where !families.contains(family) { state[family].failures = 0 }
    keptAlive[host] = state
    guard !families.isEmpty else { return schedule(due, of: host, at: now) }
    state.due = due
    guard route == .providers || route == .system && settings.system != nil else {
      for family in families { state[family].failures += 1 }
      keptAlive[host] = state
      return schedule(due, of: host, at: now)
    }
    for family in families { state.open.insert(AddressFamilies(family)) }
    keptAlive[host] = state
    report(.refreshAhead)
    for family in families {
      join(AddressQuestion(host, family), route, deadlines(nil, from: now), .keepAlive(host), at: now)
    }
  }

  /// Notes the outcome of a refresh.
  ///
  /// An answer that the cache does not keep, such as one with TTL 0, counts as a failure: without the pause after a
  /// failure the name would be asked for again and again.
  mutating func keptAliveAnswered(_ question: AddressQuestion, _ outcome: QueryOutcome, at now: ResolverInstant) {
    let (host, family) = (question.host, question.family)
    guard var state = keptAlive[host], state.open.contains(AddressFamilies(family)) else { return }
    state.open.remove(AddressFamilies(family))
    let isKept = outcome.isKept(at: now) || isRefreshed(host, family, at: now)
    state[family].failures = isKept ? 0 : state[family].failures + 1
    keptAlive[host] = state
    if state.open.isEmpty { schedule(state.due, of: host, at: now) }
  }

  /// A server answers again: names that pause after a failure may be asked for sooner.
  mutating func wakeKeptAlive(at now: ResolverInstant) {
    for host in keptAlive.failing.sorted() {
      guard var state = keptAlive[host] else { continue }
      for family in settings.configuration.families.members where state[family].failures > 0 {
        guard let next = state[family].next, let released = cache.releasedAt(AddressQuestion(host, family)) else {
          continue
        }
        state[family].next = min(next, max(released, now))
      }
      keptAlive[host] = state
      if state.open.isEmpty { setTimer(host) }
    }
  }
}

/// When a family of a kept-alive name is refreshed next: a pure function.
enum KeepAliveSchedule {
  /// At 75 % of the answer's lifetime, plus or minus up to a tenth of it, so that names which were asked for together
  /// are not all due together.
  ///
  /// After failures: when the last failure is no longer remembered.
  ///
  /// - Parameters:
  ///   - life: the life of the known answer; nil if there is none, which is due now.
  ///   - failures: how many refreshes failed in a row.
  ///   - jitter: from -1 to 1.
  ///   - policy: says how long failures are remembered.
  ///   - now: the present.
  /// - Returns: the instant, never in the past.
  static func next(
    _ life: CacheLife?, failures: Int, jitter: Double, policy: CachePolicy, now: ResolverInstant
  ) -> ResolverInstant {
    if failures > 0 { return now + max(policy.failureMemory(after: failures - 1), .seconds(1)) }
    guard let life else { return now }
    let share = 0.75 + 0.1 * min(max(jitter, -1), 1)
    let asked = ResolverInstant(nanoseconds: life.askedAt)
    return max(asked + .nanoseconds(saturating: Double(life.duration) * share), now)
  }
}
