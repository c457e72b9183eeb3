// SPDX-License-Identifier: Apache-2.0
internal import Logging

/// The end of a job: its report, the tasks that wait for it, logs and metrics.
extension WarmupJob {
  func report(_ state: State, _ end: WarmupReport.End, at now: ResolverInstant) -> WarmupReport {
    let queries =
      state.begun == nil
      ? [] : resolver.tallies.map { ($0.source, $0.tally - (state.queriesBefore[$0.server] ?? QueryTally())) }
    return state.tally.report(
      end, duration: now - (state.begun ?? now), queries: queries, pause: state.queue.pause(at: now))
  }

  func finish() -> Outcome {
    let now = clock.now
    let (report, failure, channels, keptAlive) = state.withLock {
      state -> (WarmupReport, DirectDNSError?, [WarmupChannel], [HostName]) in
      // If names are left although nothing has stopped the job, the resolver was shut down.
      let end = state.end ?? (state.tally.isDone ? .finished : .stopped)
      let report = self.report(state, end, at: now)
      state.report = report
      // The job may live as long as the process does.
      state.queue.stop()
      return (report, state.failure, exchange(&state.channels, with: []), exchange(&state.keptAlive, with: []))
    }
    switch plan.keepAlive {
    case .none: break
    case .all: resolver.keepAlive(adding: Set(keptAlive))
    case .names(let names): resolver.keepAlive(adding: names)
    }
    for channel in channels { channel.end() }
    let isReady = failure == nil && (report.isMinimumReached || plan.shortfall == .accepted)
    metrics.count(WarmupOutcome.Kind.unfinished.rawValue, by: report.unfinished)
    metrics.ended(
      milliseconds: report.durationMs, isReady: isReady, isComplete: report.readiness == .complete)
    log(report, failure)
    let outcome = failure.map { Outcome.failure($0) } ?? .success(report)
    let waiting = state.withLock { state in
      state.outcome = outcome
      return exchange(&state.waiting, with: [:])
    }
    for waiter in waiting.values { waiter.fulfil(outcome) }
    return outcome
  }

  /// Waits for the outcome; a task that is cancelled waits no longer.
  func outcome() async throws(DirectDNSError) -> WarmupReport {
    let waiter = Promise<Outcome>()
    let number = state.withLock { state in
      state.lastWaiter += 1
      state.waiting[state.lastWaiter] = waiter
      if let outcome = state.outcome { waiter.fulfil(outcome) }
      return state.lastWaiter
    }
    defer { state.withLock { $0.waiting[number] = nil } }
    let cancelled = DirectDNSError(
      .cancelled, "The wait for the warm-up was cancelled.", underlying: CancellationError())
    return try await waiter.value(ifCancelled: .failure(cancelled)).get()
  }

  private func log(_ report: WarmupReport, _ failure: DirectDNSError?) {
    var metadata: Logger.Metadata = [
      "end": "\(report.end.rawValue)", "milliseconds": "\(report.durationMs)", "minimum": "\(report.minimum)",
    ]
    for reason in report.reasons { metadata[reason.code.rawValue] = "\(reason.names)" }
    if let failure { return logger.error("warm-up failed: \(failure.message)", metadata: metadata) }
    switch report.readiness {
    case .complete: logger.notice("warm-up complete: \(report.summary)", metadata: metadata)
    case .degraded: logger.warning("warm-up degraded: \(report.summary)", metadata: metadata)
    case .missed: logger.warning("warm-up missed its minimum: \(report.summary)", metadata: metadata)
    }
    guard report.answered > resolver.configuration.capacity else { return }
    logger.warning(
      "the cache has no room for all names: raise its capacity",
      metadata: ["names": "\(report.answered)", "capacity": "\(resolver.configuration.capacity)"])
  }
}
