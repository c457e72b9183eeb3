// SPDX-License-Identifier: Apache-2.0
/// Writes to a store in the background, in order.
///
/// Changes that cannot be written wait, up to a limit, and are tried again. So are those that the store has not written
/// within a minute: a call that never returns must not hold up everything after it.
final class StoreWriter: Sendable {
  private struct State {
    var pending: PendingWrites
    var health = StoreHealth()
    /// What to do once a question's change has been written, or has failed to be.
    var afterwards: [AddressQuestion: [@Sendable () async -> Void]] = [:]
    /// What writes at the moment.
    var writing: Task<Void, Never>?
    var lastError: DirectDNSError?
    var dropped = 0
    /// How many evicted answers have been reported.
    var evicted = 0
    /// Tries again when the store's pause is over.
    var nextTry: Task<Void, Never>?
  }

  private let store: any AnswerStore
  private let clock: any ResolverClock
  private let report: @Sendable (StoreEvent) -> Void
  private let state: Locked<State>

  /// The most changes in one call, and the most that may wait.
  static let batch = 256
  static let capacity = 20_000
  /// The longest that a call may take.
  static let limit = Duration.seconds(60)

  init(_ store: any AnswerStore, clock: any ResolverClock, report: @escaping @Sendable (StoreEvent) -> Void) {
    self.store = store
    self.clock = clock
    self.report = report
    state = Locked(State(pending: PendingWrites(capacity: Self.capacity)))
  }

  deinit { state.withLock { $0.nextTry?.cancel() } }

  /// The newest change for a question that may not have been written yet.
  func pending(_ question: AddressQuestion) -> PendingWrites.Change? { state.withLock { $0.pending[question] } }

  /// Adds a change, and returns at once.
  ///
  /// - Parameters:
  ///   - change: the change.
  ///   - question: its question.
  ///   - afterwards: called once it has been written, or has failed to be.
  func add(
    _ change: PendingWrites.Change, to question: AddressQuestion, afterwards: (@Sendable () async -> Void)? = nil
  ) {
    let now = clock.now
    let (isTaken, mayWrite) = state.withLock { state in
      let isTaken = state.pending.add(change, to: question)
      if !isTaken { state.dropped += 1 }
      if isTaken, let afterwards { state.afterwards[question, default: []].append(afterwards) }
      return (isTaken, state.health.breaker(at: now) != .open)
    }
    if !isTaken {
      report(.dropped(answers: 1))
      if let afterwards { Task { await afterwards() } }
    }
    if mayWrite { start() } else if afterwards != nil { Task { await runAfterwards([question]) } }
  }

  /// Writes all changes, even during a pause, and waits until they are written, have failed, or until that instant.
  ///
  /// - Returns: what was not written, and evicted, since the last flush.
  func flush(until instant: ResolverInstant) async -> StoreFlush {
    let lost = await drain(until: instant)
    return state.withLock { state in
      let evicted = lost - state.evicted
      state.evicted = lost
      // Dropped changes are reported once, since they cannot be written later.
      let count = state.pending.count + state.dropped
      state.dropped = 0
      return StoreFlush(unwritten: count, evicted: evicted, reason: count == 0 ? nil : state.lastError)
    }
  }

  /// Writes all changes, even during a pause, and waits until they are written, have failed, or until that instant.
  ///
  /// - Returns: how many answers the store has evicted in all.
  func drain(until instant: ResolverInstant) async -> Int {
    start()
    _ = await Deadline.wait(until: instant, clock) { [state] in await state.withLock(\.writing)?.value }
    return store.evicted
  }

  /// Has the store bring everything into its final form, and waits for that until an instant.
  func checkpoint(until instant: ResolverInstant) async {
    _ = await Deadline.wait(until: instant, clock, calling: store) { [store] in await store.checkpoint() }
  }

  // MARK: Writing

  private func start() {
    state.withLock { state in
      guard state.writing == nil, !state.pending.isEmpty else { return }
      state.writing = Task { await self.write() }
    }
  }

  private func write() async {
    while let batch = next() {
      let result = await attempt(batch)
      note(result)
      await runAfterwards(batch.keys)
      guard case .failure = result else { continue }
      return tryAgainLater()
    }
  }

  /// The next changes, or the end of writing.
  private func next() -> [AddressQuestion: PendingWrites.Change]? {
    state.withLock { state in
      let batch = state.pending.next(Self.batch)
      guard batch.isEmpty else { return batch }
      state.writing = nil
      return nil
    }
  }

  private func attempt(_ batch: [AddressQuestion: PendingWrites.Change]) async -> Result<Void, DirectDNSError> {
    let answers = batch.values.compactMap(\.answer)
    let forgotten = batch.compactMapValues(\.forgotten)
    let isOld = state.withLock(\.pending.isOld)
    let result = await Deadline.wait(until: clock.now + Self.limit, clock, calling: store) { [store] in
      do throws(DirectDNSError) {
        // Before anything is read: a store that is damaged may be one that writing alone puts right.
        if isOld, !answers.isEmpty {
          _ = try await store.writeNewer(answers)
        } else if !answers.isEmpty {
          try await store.write(answers)
        }
        if isOld, !forgotten.isEmpty {
          try await store.removeOlder(forgotten)
        } else if !forgotten.isEmpty {
          try await store.remove(Array(forgotten.keys))
        }
        return Result<Void, DirectDNSError>.success(())
      } catch {
        return .failure(error)
      }
    }
    return result
      ?? .failure(
        DirectDNSError(
          .storeFailed, "The \(store.name) store did not write within \(Self.limit): lookups go on without it."))
  }

  /// Notes how a write ended.
  ///
  /// One that failed ends writing before anyone is told, so that a flush that comes then tries once more.
  private func note(_ result: Result<Void, DirectDNSError>) {
    let now = clock.now
    let event = state.withLock { state -> StoreEvent? in
      switch result {
      case .success:
        state.pending.written()
        if state.dropped == 0 { state.lastError = nil }
        return state.health.succeeded() ? .recovered : nil
      case .failure(let error):
        state.pending.failed()
        state.lastError = error
        state.writing = nil
        if state.health.openUntil != nil { state.health.tried(at: now) }
        return state.health.failed(at: now) ? .failed(error) : nil
      }
    }
    if let event { report(event) }
  }

  private func runAfterwards(_ questions: some Sequence<AddressQuestion>) async {
    let bodies = state.withLock { state in questions.flatMap { state.afterwards.removeValue(forKey: $0) ?? [] } }
    for body in bodies { await body() }
  }

  private func tryAgainLater() {
    guard let instant = state.withLock(\.health.openUntil) else { return }
    let nextTry = Task { [weak self, clock] in
      guard (try? await clock.sleep(until: instant)) != nil else { return }
      self?.start()
    }
    state.withLock { exchange(&$0.nextTry, with: nextTry) }?.cancel()
  }
}
