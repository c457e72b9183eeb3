// SPDX-License-Identifier: Apache-2.0
/// The result of reading a store.
enum StoreReading<Value: Sendable>: Sendable {
  case found(Value)
  case nothing
  /// The store has not said in time; what it has may still come.
  case late
  /// The store has failed, or is not used for a while because of that.
  case unavailable
}

/// Reads a store for lookups, and says when a call takes longer than the limit.
///
/// There is one call at a time that is not late: reads that come while one is under way are combined into the next,
/// unless the store is not used any more by then. How long a lookup waits in all, also for other calls, is decided by
/// ``LookupMachine``.
final class StoreReader: Sendable {
  /// Called with the reading: with ``StoreReading/late`` first if it does not come in time, and not again if it never
  /// comes.
  typealias Reply = @Sendable (StoreReading<StoredAnswer>) -> Void

  private struct State {
    var health = StoreHealth()
    /// Separate for leases: a server that refuses them, such as a replica, can still be read.
    var leaseHealth = StoreHealth()
    var waiting: [AddressQuestion: [Reply]] = [:]
    var isReading = false
  }

  private let store: any AnswerStore
  private let clock: any ResolverClock
  private let limit: Duration
  private let report: @Sendable (StoreEvent) -> Void
  private let state = Locked(State())

  /// The most questions in one call.
  static let batch = 256

  /// How long a call goes on that is late: no lookup waits longer for its result by default.
  static let longestCall = Duration.seconds(5)

  init(
    _ store: any AnswerStore, clock: any ResolverClock, limit: Duration,
    report: @escaping @Sendable (StoreEvent) -> Void
  ) {
    self.store = store
    self.clock = clock
    self.limit = limit
    self.report = report
  }

  /// Whether a read is under way, even if nobody waits for it any more.
  var isReading: Bool { state.withLock(\.isReading) }

  /// Reads the answer to a question.
  func read(_ question: AddressQuestion, reply: @escaping Reply) {
    guard isUsable(for: question) else { return reply(.unavailable) }
    let isFirst = state.withLock { state in
      state.waiting[question, default: []].append(reply)
      defer { state.isReading = true }
      return !state.isReading
    }
    if isFirst { Task.immediateDetached { await self.readPending() } }
  }

  private func readPending() async {
    while let batch = take() {
      if let result = await readInTime(Array(batch.keys), late: { Self.answer(batch, $0) }) {
        Self.answer(batch, result)
      } else {
        for reply in batch.values.joined() { reply(.late) }
      }
      guard state.withLock({ $0.health.breaker(at: clock.now) != .usable }) else { continue }
      let rest = state.withLock { exchange(&$0.waiting, with: [:]) }
      for reply in rest.values.joined() { reply(.unavailable) }
    }
  }

  private static func answer(
    _ batch: [AddressQuestion: [Reply]], _ result: Result<[StoredAnswer], DirectDNSError>
  ) {
    let answers = (try? result.get()).map { Dictionary($0.map { ($0.question, $0) }) { $1 } }
    for (question, replies) in batch {
      let found = answers?[question].map { StoreReading.found($0) }
      for reply in replies { reply(found ?? (answers == nil ? .unavailable : .nothing)) }
    }
  }

  private func take() -> [AddressQuestion: [Reply]]? {
    state.withLock { state in
      guard !state.waiting.isEmpty else {
        state.isReading = false
        return nil
      }
      guard state.waiting.count > Self.batch else { return exchange(&state.waiting, with: [:]) }
      var batch: [AddressQuestion: [Reply]] = [:]
      for question in Array(state.waiting.keys.prefix(Self.batch)) {
        batch[question] = state.waiting.removeValue(forKey: question)
      }
      return batch
    }
  }

  // MARK: Calls that a lookup waits for

  /// Takes a lease.
  ///
  /// - Parameters:
  ///   - late: called with a result that came too late.
  ///   - body: takes the lease.
  /// - Returns: whether the lease was taken; nil if the store cannot say in time.
  func lease(
    late: @escaping @Sendable (Bool) -> Void, _ body: @escaping @Sendable () async throws(DirectDNSError) -> Bool
  ) async -> Bool? {
    let now = clock.now
    let mayTry = state.withLock { state in
      guard state.health.breaker(at: now) == .usable else { return false }
      let breaker = state.leaseHealth.breaker(at: now)
      if breaker == .probe { state.leaseHealth.tried(at: now) }
      return breaker != .open
    }
    guard mayTry else { return nil }
    let outcome = await inTime(late: { if case .success(let isTaken) = $0 { late(isTaken) } }, body)
    return state.withLock { state in
      switch outcome {
      case .success(let isTaken)?:
        _ = state.leaseHealth.succeeded()
        return isTaken
      case .failure?: _ = state.leaseHealth.failed(at: clock.now)
      case nil: _ = state.leaseHealth.late(at: clock.now)
      }
      return nil
    }
  }

  /// Asks the store what it has of questions.
  ///
  /// - Parameters:
  ///   - questions: the questions.
  ///   - late: called with what it has, if that comes after all.
  /// - Returns: what it has; nil if it is late.
  @discardableResult
  private func readInTime(
    _ questions: [AddressQuestion],
    late: @escaping @Sendable (Result<[StoredAnswer], DirectDNSError>) -> Void = { _ in }
  ) async -> Result<[StoredAnswer], DirectDNSError>? {
    let result = await inTime(atMost: Self.longestCall, late: late) { [store] () throws(DirectDNSError) in
      try await store.read(questions)
    }
    let now = clock.now
    switch result {
    case .success?: if state.withLock({ $0.health.succeeded() }) { report(.recovered) }
    case .failure(let error)?: if state.withLock({ $0.health.failed(at: now) }) { report(.failed(error)) }
    case nil:
      let error = DirectDNSError(
        .storeFailed, "The \(store.name) store did not answer within \(limit): lookups go on without it.")
      if state.withLock({ $0.health.late(at: now) }) { report(.failed(error)) }
    }
    return result
  }

  /// Makes a call.
  ///
  /// - Parameters:
  ///   - time: how long a call goes on that is late; by default it is cancelled.
  ///   - late: called with a result that came too late.
  ///   - body: the call.
  /// - Returns: its result; nil if it is late.
  private func inTime<Value: Sendable>(
    atMost time: Duration = .zero, late: @escaping @Sendable (Result<Value, DirectDNSError>) -> Void,
    _ body: @escaping @Sendable () async throws(DirectDNSError) -> Value
  ) async -> Result<Value, DirectDNSError>? {
    let now = clock.now
    return await Deadline.wait(
      until: now + limit, clock, calling: store, lastUntil: now + time, late: late
    ) { () -> Result<Value, DirectDNSError> in
      do throws(DirectDNSError) { return .success(try await body()) } catch { return .failure(error) }
    }
  }

  /// Whether a lookup may wait for the store; once its pause is over, reads it for the same question, and nobody waits
  /// for that.
  ///
  /// A store may answer a read of nothing, such as Redis's `PING`, while it cannot read any answer.
  private func isUsable(for question: AddressQuestion) -> Bool {
    let now = clock.now
    let breaker = state.withLock { state in
      let breaker = state.health.breaker(at: now)
      if breaker == .probe { state.health.tried(at: now) }
      return breaker
    }
    if breaker == .probe { Task { await readInTime([question]) } }
    return breaker == .usable
  }
}
