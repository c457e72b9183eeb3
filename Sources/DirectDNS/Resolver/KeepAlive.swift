/// Refreshes a set of names before they expire, without being asked for.
final class KeepAlive: Sendable {
  let names: Set<HostName>
  private let task: Task<Void, Never>
  private let pauses = KeepAlivePauses()

  init(_ resolver: Resolver, _ names: Set<HostName>) {
    self.names = names
    let clock = resolver.clock
    // One small task a name: a name whose refresh takes long keeps no other waiting.
    task = Task { [weak resolver, pauses] in
      await withDiscardingTaskGroup { group in
        for name in names {
          group.addTask { [weak resolver] in
            var failures = 0
            var wakes = 0
            while let next = resolver?.keepAliveInstant(name, failures: failures) {
              let isDue =
                if failures == 0 {
                  (try? await clock.sleep(until: next)) != nil
                } else {
                  await pauses.pass(until: next, since: wakes, clock) { [weak resolver] in
                    resolver?.cache.releasedAt(name)
                  }
                }
              wakes = pauses.wakes
              guard isDue, let isRefreshed = await resolver?.refreshKeptAlive(name) else { return }
              failures = isRefreshed ? 0 : failures + 1
            }
          }
        }
      }
    }
  }

  /// A server answers again: names that wait after a failure may be released from that.
  func wake() { pauses.wake() }

  func stop() { task.cancel() }
}

/// The pauses of names whose refresh has failed: each can be cut short.
final class KeepAlivePauses: Sendable {
  private struct State {
    var sleepers: [Int: Task<Void, Never>] = [:]
    var next = 0
    var wakes = 0
  }

  private let state = Locked(State())

  /// How often names were woken so far.
  var wakes: Int { state.withLock(\.wakes) }

  /// Waits until an instant, or until the earlier one that there may be after ``wake()``.
  ///
  /// - Parameters:
  ///   - instant: the end of the pause.
  ///   - wakes: how often names had been woken when the refresh that failed began.
  ///   - clock: whose instant that is.
  ///   - earlier: an earlier end, if there is one by now.
  /// - Returns: whether the end has come, rather than a cancellation.
  func pass(
    until instant: ResolverInstant, since wakes: Int, _ clock: any ResolverClock,
    earlier: @Sendable () -> ResolverInstant?
  ) async -> Bool {
    while !Task.isCancelled {
      let seen = self.wakes
      let end = seen == wakes ? instant : min(instant, earlier() ?? instant)
      guard end > clock.now else { return true }
      let sleeper = Task { _ = try? await clock.sleep(until: end) }
      // A wake-up since the end was looked up may have changed it.
      let number = state.withLock { state -> Int? in
        guard state.wakes == seen else { return nil }
        state.next += 1
        state.sleepers[state.next] = sleeper
        return state.next
      }
      guard let number else {
        sleeper.cancel()
        continue
      }
      await withTaskCancellationHandler {
        await sleeper.value
      } onCancel: {
        sleeper.cancel()
      }
      state.withLock { $0.sleepers[number] = nil }
    }
    return false
  }

  /// Has all who wait look at their end anew.
  func wake() {
    let sleepers = state.withLock { state in
      state.wakes += 1
      return Array(state.sleepers.values)
    }
    for sleeper in sleepers { sleeper.cancel() }
  }
}

extension Resolver {
  /// When a kept-alive name is to be refreshed next.
  fileprivate func keepAliveInstant(_ name: HostName, failures: Int) -> ResolverInstant {
    let entries = [cache.value(name)?.ipv4.entry, cache.value(name)?.ipv6.entry].compactMap(\.self)
    return KeepAliveSchedule.next(
      entries.map(\.life), failures: failures, jitter: .random(in: -1...1), policy: settings.configuration.cache,
      now: clock.now)
  }

  /// Asks for a name's addresses although the cache may have them; says whether there is an answer that is kept.
  ///
  /// One that is not kept, such as one of TTL 0, leaves nothing to refresh before its end: without the pause that a
  /// failure gets, the name would be asked for without end.
  fileprivate func refreshKeptAlive(_ name: HostName) async -> Bool {
    await withCheckedContinuation { continuation in
      let waiting = refreshAhead(name)
      let left = Locked((count: waiting.count, isAnswered: false))
      if waiting.isEmpty { continuation.resume(returning: false) }
      for flight in waiting {
        flight.observe { [clock] outcome in
          let isAnswer =
            if case .answered(_, _, let life) = outcome { life.expireAt > clock.now.nanoseconds } else { false }
          let result = left.withLock { left -> Bool? in
            left.count -= 1
            left.isAnswered = left.isAnswered || isAnswer
            return left.count == 0 ? left.isAnswered : nil
          }
          if let result { continuation.resume(returning: result) }
        }
      }
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
