// SPDX-License-Identifier: Apache-2.0
internal import Logging
public import ServiceLifecycle

/// Looks up many names before the first request, so that no request waits for DNS.
///
/// A job runs once, on a resolver that others may use at the same time; the answers are in the resolver's cache and
/// store. Names that are fresh there cost no query, so a second job with the same names asks only for those that are
/// due. No provider is asked faster than its rate allows, nor, after a 429, before its `Retry-After` is over. Besides
/// the resolver's cache and ``WarmupPlan/KeepAlive/all``, memory grows by only about a dozen bytes per name while it
/// runs.
///
/// <doc:WarmingUp> shows how a pipeline waits for it.
public final class WarmupJob: Sendable {
  /// What it looks up, and how.
  public let plan: WarmupPlan
  /// The resolver whose cache is filled.
  public let resolver: DirectResolver

  struct State {
    var queue: WarmupQueue
    var tally: WarmupTally
    var begun: ResolverInstant?
    var queriesBefore: [Number<DNSServer>?: QueryTally] = [:]
    var end: WarmupReport.End?
    var failure: DirectDNSError?
    /// When the timer that is set fires.
    var wakesAt: ResolverInstant?
    var heldBack: CheckedContinuation<Void, Never>?
    var keptAlive: [HostName] = []
    var channels: [WarmupChannel] = []
    var starts: AsyncStream<Start>.Continuation?
    var report: WarmupReport?
    var outcome: Outcome?
    /// The tasks that wait for the outcome, by number.
    var waiting: [Int: Promise<Outcome>] = [:]
    var lastWaiter = 0
  }

  typealias Outcome = Result<WarmupReport, DirectDNSError>

  /// What the task that runs ``warmUp()`` starts.
  enum Start: Sendable {
    case look([WarmupQueue.Task])
    case wake(ResolverInstant)
  }

  let clock: any ResolverClock
  let metrics: WarmupTelemetry
  let state: Locked<State>
  let logger = Logger(label: "directdns.warmup")

  /// Creates a job; nothing happens before ``warmUp()`` or ``run()``.
  ///
  /// - Parameters:
  ///   - plan: what it looks up, and how.
  ///   - resolver: the resolver whose cache is filled.
  /// - Throws: an error of code ``DirectDNSError/Code/invalidConfiguration`` that names the value that is wrong.
  public convenience init(_ plan: WarmupPlan, resolver: DirectResolver) throws(DirectDNSError) {
    try self.init(plan, resolver: resolver, metrics: MetricSource())
  }

  init(_ plan: WarmupPlan, resolver: DirectResolver, metrics: MetricSource) throws(DirectDNSError) {
    try plan.validate()
    self.plan = plan
    self.resolver = resolver
    self.metrics = WarmupTelemetry(outcomes: WarmupOutcome.Kind.allCases.map(\.rawValue), metrics)
    clock = resolver.clock
    let families = plan.families ?? resolver.configuration.families
    let concurrency = WarmupConcurrency(
      concurrency: plan.concurrency, limits: resolver.configuration.providers.map(\.rateLimit),
      queries: families.members.count)
    state = Locked(
      State(
        queue: WarmupQueue(rate: plan.rate, concurrency: concurrency, at: clock.now),
        tally: WarmupTally(minimum: plan.minimum)))
  }

  /// Ends the event sequences of a job that never ran.
  deinit {
    for channel in state.withLock(\.channels) { channel.end() }
  }

  // MARK: Events and the report

  /// The events from now on: each name as it is done, and each entry that is rejected.
  ///
  /// No event is dropped: the warm-up waits for a slow reader until its loop has ended, by `break` as well. Before the loop
  /// begins, events are kept and nobody waits. Each loop needs a sequence of its own.
  public func events() -> WarmupEvents {
    let channel = WarmupChannel()
    state.withLock { state in
      if state.end != nil { channel.release() }
      if state.report == nil { state.channels.append(channel) } else { channel.end() }
    }
    return WarmupEvents(channel)
  }

  /// The report; while the job runs, the report so far.
  public var report: WarmupReport {
    let now = clock.now
    return state.withLock { $0.report ?? report($0, .running, at: now) }
  }

  /// The report, as soon as the warm-up has ended: what a pipeline waits for before it begins.
  ///
  /// Some names may have no answer, or only an expired one: see the report's ``WarmupReport/readiness``.
  ///
  /// - Throws: ``DirectDNSError/Code/warmupMissed`` if the minimum was not reached and the plan's shortfall is
  ///   ``WarmupPlan/Shortfall/fails``, ``DirectDNSError/Code/fileUnusable`` if the names could not be read,
  ///   ``DirectDNSError/Code/cancelled`` if the waiting task was cancelled, ``DirectDNSError/Code/shutDown`` if the
  ///   service group ended before the warm-up.
  public var ready: WarmupReport {
    get async throws(DirectDNSError) {
      let report = try await outcome()
      try check(report)
      return report
    }
  }

  func check(_ report: WarmupReport) throws(DirectDNSError) {
    guard plan.shortfall == .fails, !report.isMinimumReached else { return }
    let reasons = report.reasons.map { "\($0.names) \($0.code)" }.joined(separator: ", ")
    throw DirectDNSError(
      .warmupMissed,
      "The warm-up did not reach its minimum of \(report.minimum): \(report.summary)\(reasons.isEmpty ? "" : " (\(reasons))"). Its report lists the names."
    )
  }

  // MARK: Running

  /// Looks up all names; if its task is cancelled, it ends early and keeps the answers so far.
  ///
  /// - Returns: the report, whether or not the minimum was reached.
  /// - Throws: an error of code ``DirectDNSError/Code/fileUnusable`` if the names could not be read.
  @discardableResult
  public func warmUp() async throws(DirectDNSError) -> WarmupReport {
    let (starts, feed) = AsyncStream.makeStream(of: Start.self)
    let now = clock.now
    let isFirst = state.withLock { state in
      guard state.begun == nil else { return false }
      state.begun = now
      state.starts = feed
      // If it was stopped before it ran, nothing begins, whatever a source does.
      if state.end != nil { feed.finish() }
      state.queriesBefore = Dictionary(resolver.tallies.map { ($0.server, $0.tally) }) { $1 }
      return true
    }
    guard isFirst else { return try await outcome() }
    // Not a child of the group, which would wait for it: a source may take for ever over its next name.
    let reader = Task { await read() }
    await withDiscardingTaskGroup { group in
      if let timeout = plan.timeout {
        group.addTask { [clock] in
          if (try? await clock.sleep(until: now + timeout)) != nil { self.stop(.deadline) }
        }
      }
      for await start in starts {
        switch start {
        case .look(let tasks): group.addTask(executorPreference: resolver.executor) { await self.work(tasks) }
        case .wake(let instant):
          group.addTask { [clock] in
            if (try? await clock.sleep(until: instant)) != nil { self.wake(at: instant) }
          }
        }
      }
      if Task.isCancelled { stop(.stopped) }
      group.cancelAll()
    }
    reader.cancel()
    return try finish().get()
  }

  /// Ends it early: names under way are abandoned, and the answers so far are kept.
  public func stop() { stop(.stopped) }

  func stop(_ end: WarmupReport.End, _ failure: DirectDNSError? = nil) {
    let (held, starts, channels) = state.withLock { state in
      if state.end == nil {
        state.end = end
        state.failure = failure
        let rest = state.queue.stop()
        for outcome in rest.retries.flatMap(\.last) { note(outcome, &state) }
        if plan.keepAlive == .all { state.keptAlive += rest.new }
      }
      return (state.heldBack.take(), state.starts, state.channels)
    }
    held?.resume()
    for channel in channels { channel.release() }
    starts?.finish()
  }
}

extension WarmupJob: Service {
  /// Warms up, waits for the graceful shutdown of its service group, then flushes the resolver's store.
  ///
  /// Put it before the services that use the resolver, and let each of them begin with `try await warmup.ready`: a
  /// group starts its services in order but does not wait for them, and ends them in reverse order. A shutdown during
  /// the warm-up stops it.
  ///
  /// - Throws: an error of code ``DirectDNSError/Code/warmupMissed`` if the minimum was not reached and the plan's
  ///   shortfall is ``WarmupPlan/Shortfall/fails``, of code ``DirectDNSError/Code/fileUnusable`` if the names could
  ///   not be read, or of code ``DirectDNSError/Code/shutDown`` if the shutdown came during the warm-up.
  public func run() async throws {
    let report = try await withGracefulShutdownHandler {
      try await warmUp()
    } onGracefulShutdown: {
      self.stop(.stopped, DirectDNSError(.shutDown, "The process was told to end before the warm-up had ended."))
    }
    try check(report)
    try? await gracefulShutdown()
    await resolver.flushStore()
  }
}
