// SPDX-License-Identifier: Apache-2.0
/// Writes to a store behind everyone's back, in the order of learning.
///
/// What cannot be written waits, up to a limit, and is tried again. So is what a store has not written in a minute: one
/// that never returns must not keep all that follows.
final class StoreWriter: Sendable {
  private struct State {
    var pending: PendingWrites
    var health = StoreHealth()
    /// What to do once a question's change was written, or could not be.
    var afterwards: [AddressQuestion: [@Sendable () async -> Void]] = [:]
    var isWriting = false
    var lastError: DirectDNSError?
    var dropped = 0
    /// Those that the store has let go, as far as they have been told of.
    var letGo = 0
    var waiting: [CheckedContinuation<Void, Never>] = []
    /// Begins again once the store has rested.
    var nextTry: Task<Void, Never>?

    /// Ends writing for now, and says who waited for that.
    mutating func end() -> [CheckedContinuation<Void, Never>] {
      defer { waiting = [] }
      isWriting = false
      return waiting
    }
  }

  private let store: any AnswerStore
  private let clock: any ResolverClock
  private let report: @Sendable (StoreEvent) -> Void
  private let state: Locked<State>

  /// The most changes of one call, and the most that wait.
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

  /// The last word about a question that the store may not have heard yet.
  func pending(_ question: AddressQuestion) -> PendingWrites.Change? { state.withLock { $0.pending[question] } }

  /// Adds a change and returns at once.
  ///
  /// - Parameters:
  ///   - change: what to write.
  ///   - question: what it is about.
  ///   - afterwards: called once it was written, or could not be.
  func add(
    _ change: PendingWrites.Change, to question: AddressQuestion, afterwards: (@Sendable () async -> Void)? = nil
  ) {
    let now = clock.now
    let (isTaken, mayWrite) = state.withLock { state in
      let isTaken = state.pending.add(change, to: question)
      if !isTaken { state.dropped += 1 }
      if isTaken, let afterwards { state.afterwards[question, default: []].append(afterwards) }
      return (isTaken, state.health.standing(at: now) != .rests)
    }
    if !isTaken {
      report(.dropped(1))
      if let afterwards { Task { await afterwards() } }
    }
    if mayWrite { start() } else if afterwards != nil { Task { await runAfterwards([question]) } }
  }

  /// Writes what waits, resting or not, and returns when it was written, could not be, or at that instant.
  ///
  /// - Returns: how many changes the store did not get since the last flush, how many answers it has let go again, and
  ///   why it did not get the former.
  func flush(until instant: ResolverInstant) async -> (unwritten: Int, letGo: Int, reason: DirectDNSError?) {
    let lost = await settle(until: instant)
    return state.withLock { state in
      let letGo = lost - state.letGo
      state.letGo = lost
      // What was dropped is told of once: nothing brings it back.
      let count = state.pending.count + state.dropped
      state.dropped = 0
      return (count, letGo, count == 0 ? nil : state.lastError)
    }
  }

  /// Writes what waits, resting or not, and returns when it was written, could not be, or at that instant.
  ///
  /// - Returns: how many answers the store has let go again in all.
  func settle(until instant: ResolverInstant) async -> Int {
    start()
    _ = await Deadline.wait(until: instant, clock) { await self.finished() }
    return store.letGo
  }

  /// Has the store bring what was written to where it stays; by then at the latest nobody waits for it any more.
  func checkpoint(until instant: ResolverInstant) async {
    _ = await Deadline.wait(until: instant, clock) { [store] in await store.checkpoint() }
  }

  private func finished() async {
    await state.wait { state, continuation in
      guard state.isWriting else { return () }
      state.waiting.append(continuation)
      return nil
    }
  }

  // MARK: Writing

  private func start() {
    let isFirst = state.withLock { state in
      guard !state.isWriting, !state.pending.isEmpty else { return false }
      state.isWriting = true
      return true
    }
    if isFirst { Task { await write() } }
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
    let (batch, waiting) = state.withLock { state in
      let batch = state.pending.next(Self.batch)
      return (batch, batch.isEmpty ? state.end() : [])
    }
    for continuation in waiting { continuation.resume() }
    return batch.isEmpty ? nil : batch
  }

  private func attempt(_ batch: [AddressQuestion: PendingWrites.Change]) async -> Result<Void, DirectDNSError> {
    let answers = batch.values.compactMap(\.answer)
    let forgotten = batch.filter { $0.value == .forget }.map(\.key)
    let isOld = state.withLock(\.pending.isOld)
    let result = await Deadline.wait(until: clock.now + Self.limit, clock) { [store] in
      do throws(DirectDNSError) {
        if !forgotten.isEmpty { try await store.remove(forgotten) }
        if isOld, !answers.isEmpty {
          _ = try await store.writeNewer(answers)
        } else if !answers.isEmpty {
          try await store.write(answers)
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
        if state.health.restsUntil != nil { state.health.tried(at: now) }
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
    let (waiting, instant) = state.withLock { state in (state.end(), state.health.restsUntil) }
    for continuation in waiting { continuation.resume() }
    guard let instant else { return }
    let nextTry = Task { [weak self, clock] in
      guard (try? await clock.sleep(until: instant)) != nil else { return }
      self?.start()
    }
    let before = state.withLock { state in
      defer { state.nextTry = nextTry }
      return state.nextTry
    }
    before?.cancel()
  }
}
