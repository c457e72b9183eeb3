/// Refreshes a set of names before they expire, without being asked for.
final class KeepAlive: Sendable {
  let names: Set<HostName>
  private let task: Task<Void, Never>

  init(_ resolver: Resolver, _ names: Set<HostName>) {
    self.names = names
    let clock = resolver.clock
    // One small task a name: a name whose refresh takes long keeps no other waiting.
    task = Task { [weak resolver] in
      await withDiscardingTaskGroup { group in
        for name in names {
          group.addTask { [weak resolver] in
            var failures = 0
            while let next = resolver?.keepAliveInstant(name, failures: failures),
              (try? await clock.sleep(until: next)) != nil,
              let isRefreshed = await resolver?.refreshKeptAlive(name)
            {
              failures = isRefreshed ? 0 : failures + 1
            }
          }
        }
      }
    }
  }

  func stop() { task.cancel() }
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
