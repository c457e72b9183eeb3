// SPDX-License-Identifier: Apache-2.0
/// Names that are refreshed before they expire, without being asked for.
extension LookupMachine {
  /// Keeps those names alive, in place of the ones before.
  mutating func keepAlive(_ names: Set<HostName>, at now: ResolverInstant) {
    let before = keptAlive.names
    guard names != before else { return }
    cache.keepAlive(names, now: now)
    for host in before.subtracting(names).sorted() {
      keptAlive[host] = nil
      timers.set(.keepAlive(host), at: nil)
    }
    guard !isShutDown else { return }
    for host in names.subtracting(before).sorted() {
      keptAlive[host] = KeptNames.State()
      scheduleRefresh(of: host, at: now)
    }
  }

  private mutating func scheduleRefresh(of host: HostName, at now: ResolverInstant) {
    guard var state = keptAlive[host] else { return }
    let value = cache.value(host)
    let lives = [value?.ipv4.entry, value?.ipv6.entry].compactMap { $0?.life }
    var next = KeepAliveSchedule.next(
      lives, failures: state.failures, jitter: keptAlive.jitter(), policy: settings.configuration.cache, now: now)
    if state.failures > 0, state.isReleased, let released = cache.releasedAt(host) { next = min(next, released) }
    state.next = next
    keptAlive[host] = state
    timers.set(.keepAlive(host), at: next)
  }

  /// Asks for a kept-alive name's families, fresh or not.
  mutating func refreshAhead(_ host: HostName, at now: ResolverInstant) {
    guard var state = keptAlive[host], !isShutDown else { return }
    let route = settings.configuration.localZones.route(host)
    let families = settings.configuration.families.members
    state.isReleased = false
    state.isAnswered = false
    state.next = nil
    guard route == .providers || route == .system && settings.system != nil else {
      state.failures += 1
      keptAlive[host] = state
      return scheduleRefresh(of: host, at: now)
    }
    state.open = families.count
    keptAlive[host] = state
    tell(.refreshAhead)
    for family in families {
      join(AddressQuestion(host, family), route, deadlines(nil, from: now), .keepAlive(host), at: now)
    }
  }

  /// One that is not kept, such as one of TTL 0, leaves nothing to refresh before its end: without the pause that a
  /// failure gets, the name would be asked for without end.
  mutating func keptAliveAnswered(_ host: HostName, _ outcome: QueryOutcome, at now: ResolverInstant) {
    guard var state = keptAlive[host], state.open > 0 else { return }
    state.open -= 1
    state.isAnswered = state.isAnswered || outcome.isKept(at: now)
    if state.open == 0 { state.failures = state.isAnswered ? 0 : state.failures + 1 }
    keptAlive[host] = state
    if state.open == 0 { scheduleRefresh(of: host, at: now) }
  }

  /// A server answers again: names that wait after a failure may be released from that.
  mutating func wakeKeptAlive(at now: ResolverInstant) {
    for host in keptAlive.failing.sorted() {
      guard let state = keptAlive[host] else { continue }
      guard let next = state.next else {
        keptAlive[host]?.isReleased = true
        continue
      }
      guard let released = cache.releasedAt(host), released < next else { continue }
      keptAlive[host]?.next = max(released, now)
      timers.set(.keepAlive(host), at: max(released, now))
    }
  }
}

/// When a name that is kept alive is refreshed: a pure function.
enum KeepAliveSchedule {
  /// At 75 % of the shortest lifetime, earlier or later by up to a tenth of it, so that names that were asked
  /// for together do not all come due together.
  ///
  /// After failures: as long as failures are remembered.
  ///
  /// - Parameters:
  ///   - lives: the name's entries; none means now.
  ///   - failures: how many refreshes failed in a row.
  ///   - jitter: from -1 to 1.
  ///   - policy: how long failures are remembered.
  ///   - now: the present.
  /// - Returns: the instant, never in the past.
  static func next(
    _ lives: [CacheLife], failures: Int, jitter: Double, policy: CachePolicy, now: ResolverInstant
  ) -> ResolverInstant {
    if failures > 0 { return now + max(policy.failureMemory(after: failures - 1), .seconds(1)) }
    guard let life = lives.min(by: { $0.expireAt < $1.expireAt }) else { return now }
    let share = 0.75 + 0.1 * min(max(jitter, -1), 1)
    let asked = ResolverInstant(nanoseconds: life.askedAt)
    return max(asked + .nanoseconds(saturating: Double(life.duration) * share), now)
  }
}
