// SPDX-License-Identifier: Apache-2.0
internal import Logging

/// Reads names and looks them up, in the order that the queue decides.
extension WarmupJob {
  // MARK: Reading names

  func read() async {
    for source in plan.sources where state.withLock({ $0.end == nil }) {
      do throws(DirectDNSError) {
        try await source.read { await self.take($0) }
      } catch {
        return stop(.stopped, error)
      }
    }
    state.withLock { state in
      state.queue.close()
      if state.end == nil { state.tally.readAll() }
    }
    advance()
  }

  /// Takes entries, and waits while the queue is full, so that the source waits too.
  ///
  /// - Returns: whether more are wanted.
  private func take(_ entries: [WarmupSource.Entry]) async -> Bool {
    let names = entries.map(WarmupRejection.name)
    let (isWanted, channels) = state.withLock { state in
      guard state.end == nil else { return (false, [WarmupChannel]()) }
      for name in names {
        switch name {
        case .success(let host): state.tally.took(isNew: state.queue.offer(host))
        case .failure(let rejection): state.tally.rejected(rejection)
        }
      }
      return (true, state.channels)
    }
    guard isWanted else { return false }
    for channel in channels {
      for case .failure(let rejection) in names { await channel.send(.rejected(rejection)) }
    }
    advance()
    await state.wait { state, reader in
      guard state.end == nil, state.queue.isFull else { return () }
      state.heldBack = reader
      return nil
    }
    return state.withLock { $0.end == nil }
  }

  // MARK: Looking up

  /// Begins all lookups that may begin now.
  ///
  /// - Parameter wantsSome: whether the caller looks up the first names itself.
  /// - Returns: the names for the caller; empty if there are none.
  @discardableResult
  private func advance(wantsSome: Bool = false) -> [WarmupQueue.Task] {
    let now = clock.now
    let limit = togetherLimit
    let (own, held) = state.withLock { state in
      let own = begin(&state, wantsSome: wantsSome, together: limit, at: now)
      return (own, state.queue.hasRoom ? state.heldBack.take() : nil)
    }
    held?.resume()
    return own
  }

  /// How many names are asked for in one query.
  ///
  /// As many as the provider takes, and no more than may begin in a second. No provider takes a thousand; a rate beyond
  /// that may be infinite.
  private var togetherLimit: Int {
    min(resolver.batchLimit, plan.rate.map { Int(max(1, min($0, 1000))) } ?? .max)
  }

  private func begin(
    _ state: inout State, wantsSome: Bool, together limit: Int, at now: ResolverInstant
  ) -> [WarmupQueue.Task] {
    var own: [WarmupQueue.Task] = []
    var group: [WarmupQueue.Task] = []
    func beginGroup() {
      guard !group.isEmpty else { return }
      if wantsSome, own.isEmpty { own = group } else { state.starts?.yield(.look(group)) }
      group = []
    }
    while true {
      switch state.queue.next(at: now, together: group.isEmpty ? limit : 1) {
      case .look(let task):
        group.append(task)
        if group.count >= limit { beginGroup() }
      case .wait(let instant):
        beginGroup()
        if let instant, instant < state.wakesAt ?? ResolverInstant(nanoseconds: .max) {
          state.wakesAt = instant
          state.starts?.yield(.wake(instant))
        }
        return own
      case .done:
        beginGroup()
        state.starts?.finish()
        return own
      }
    }
  }

  func wake(at instant: ResolverInstant) {
    state.withLock { if $0.wakesAt == instant { $0.wakesAt = nil } }
    advance()
  }

  /// How many names a worker takes up before others have their turn on its thread.
  private static let namesInARow = 32

  func work(_ first: [WarmupQueue.Task]) async {
    var next = first
    var count = 0
    while let task = next.first {
      // For names that nobody is asked about it never waits, and its thread is the one that reads the servers' replies.
      count += next.count
      if count >= Self.namesInARow {
        count = 0
        await Task.yield()
      }
      if resolver.batchLimit > 1 { resolver.askTogether(next.map(\.host), plan.families) }
      if next.count == 1 {
        await look(task)
      } else {
        await withDiscardingTaskGroup { group in
          for task in next { group.addTask { await self.look(task) } }
        }
      }
      next = advance(wantsSome: true)
    }
  }

  private func look(_ task: WarmupQueue.Task) async {
    let began = clock.now
    let result: Result<DirectResolver.Renewal, DirectDNSError>
    do throws(DirectDNSError) {
      // If the breakers of all servers are open, a name that has an expired answer does not wait for another failure.
      let isPatient = !resolver.lookups.look(\.servers.areAllBreakersOpen)
      result = .success(try await resolver.renew(task.host, plan.families, isPatient: isPatient))
    } catch {
      // Nothing is to be had any more of a resolver that was shut down.
      if error.code == .shutDown { stop() }
      result = .failure(error)
    }
    let now = clock.now
    let outcome = WarmupOutcome(
      host: task.host, result: result, tries: task.failures + task.rejections + 1, duration: now - began)
    let pause = outcome.isOfProvider ? nil : resolver.lookups.look { $0.servers.pause(at: now) }
    let again = retry(task, outcome, wasRateLimited: pause != nil, at: now)
    if let pause, state.withLock({ $0.queue.pause(until: pause.end, by: pause.server, at: now) }) {
      log(WarmupReport.Pause(provider: pause.server, left: pause.end - now))
    }
    let channels = state.withLock { state -> [WarmupChannel] in
      if let (task, instant) = again, state.end == nil {
        state.queue.retry(task, at: instant)
        return []
      }
      state.queue.ended(isAnswer: outcome.kind != .failed && outcome.kind != .unfinished)
      // A name that had failed, and was being tried again when the warm-up ended, counts as failed.
      note(outcome.kind == .unfinished ? task.last.first ?? outcome : outcome, &state)
      return outcome.kind == .unfinished ? [] : state.channels
    }
    for channel in channels { await channel.send(.name(outcome)) }
  }

  /// The name's next try and its instant; nil if it is not tried again.
  private func retry(
    _ task: WarmupQueue.Task, _ outcome: WarmupOutcome, wasRateLimited: Bool, at now: ResolverInstant
  ) -> (WarmupQueue.Task, ResolverInstant)? {
    guard case .failure(let error) = outcome.result else { return nil }
    var task = task
    task.last = [outcome]
    if wasRateLimited { task.rejections += 1 } else { task.failures += 1 }
    let failureTTL = resolver.configuration.cache.failureTTL(after: outcome.tries - 1)
    let instant = plan.retry.next(
      after: error.code, failures: task.failures, rejections: task.rejections, failureTTL: failureTTL,
      jitter: .random(in: 0...1), at: now)
    return instant.map { (task, $0) }
  }

  /// Logs that every provider said 429; for short pauses at level debug, since finding out the allowed rate causes
  /// them.
  private func log(_ pause: WarmupReport.Pause) {
    logger.log(
      level: pause.left < .seconds(10) ? .debug : .warning, "warm-up paused: every provider said 429",
      metadata: ["provider": "\(pause.provider)", "milliseconds": "\(pause.leftMs)"])
  }

  func note(_ outcome: WarmupOutcome, _ state: inout State) {
    state.tally.note(outcome)
    if outcome.kind != .unfinished {
      metrics.count(outcome.kind.rawValue)
      if outcome.isExpired { metrics.countExpired() }
    }
    if plan.keepAlive == .all, outcome.kind != .negative { state.keptAlive.append(outcome.host) }
  }
}
