// SPDX-License-Identifier: Apache-2.0
/// A store in this process's memory: for several resolvers of one process, and for tests.
///
/// A single resolver needs none: its own cache remembers.
public final class MemoryAnswerStore: FleetAnswerStore, NonBlocking {
  private struct Lease {
    var holder: String
    var until: ResolverInstant
  }

  private struct State {
    var answers: [AddressQuestion: StoredAnswer] = [:]
    var leases: [AddressQuestion: Lease] = [:]
    var evicted = 0
  }

  private let capacity: Int
  private let clock: any ResolverClock
  private let made: WallInstant
  private let state = Locked(State())

  /// Creates an empty store.
  ///
  /// - Parameters:
  ///   - capacity: the most answers in it, two for a name of both families; the one that is gone first goes first,
  ///     after those that are from the future because a clock was wrong. Default 20 000; less than 1 counts as 1.
  ///   - clock: what leases and room go by; by default the machine's.
  public init(capacity: Int = 20_000, clock: any ResolverClock = SystemClock()) {
    self.capacity = max(1, capacity)
    self.clock = clock
    made = clock.wallNow
  }

  /// How many answers it has evicted for want of room, of those that were asked for since it was made.
  public var evicted: Int { state.withLock(\.evicted) }

  /// Always `memory`.
  public var name: String { "memory" }

  /// What is known about questions.
  public func read(_ questions: [AddressQuestion]) -> [StoredAnswer] {
    state.withLock { state in questions.compactMap { state.answers[$0] } }
  }

  /// Keeps answers.
  public func write(_ answers: [StoredAnswer]) {
    let now = clock.wallNow
    state.withLock { state in
      for answer in answers { state.answers[answer.question] = answer }
      makeRoom(&state, now)
    }
  }

  /// Keeps the answers that were asked for later than what is known about their questions; nobody writes in between.
  public func writeNewer(_ answers: [StoredAnswer]) async -> Int {
    let now = clock.wallNow
    return state.withLock { state in
      let newer = answers.filter { answer in
        state.answers[answer.question].map { answer.isNewer(than: $0, at: now) } ?? true
      }
      for answer in newer { state.answers[answer.question] = answer }
      makeRoom(&state, now)
      return newer.count
    }
  }

  private func makeRoom(_ state: inout State, _ now: WallInstant) {
    guard state.answers.count > capacity else { return }
    state.answers = state.answers.filter { $0.value.gone > now }
    guard state.answers.count > capacity else { return }
    // A tenth at once, so that a full store does not sort with every answer. Answers from the future go first, or they
    // would fill it for ever: a wrong clock has stamped their ends as well.
    let latest = StoredAnswer.latestAsked(at: now)
    let ending = state.answers.values.sorted { one, other in
      let isFromFuture = one.asked > latest
      return isFromFuture == (other.asked > latest) ? one.gone < other.gone : isFromFuture
    }
    for answer in ending.prefix(state.answers.count - capacity + capacity / 10) {
      state.answers[answer.question] = nil
      if answer.asked >= made { state.evicted += 1 }
    }
  }

  /// Forgets what is known about questions.
  public func remove(_ questions: [AddressQuestion]) {
    state.withLock { state in
      for question in questions { state.answers[question] = nil }
    }
  }

  /// Forgets all answers; leases stay until they end.
  public func removeAll() { state.withLock { $0.answers = [:] } }

  /// Shows everything, in one page.
  public func visit(_ visit: @Sendable ([StoredAnswer]) async -> Bool) async {
    let all = state.withLock { Array($0.answers.values) }
    if !all.isEmpty { _ = await visit(all) }
  }

  /// Takes the lease on a question unless another has it.
  public func takeLease(on question: AddressQuestion, holder: String, for duration: Duration) -> Bool {
    let now = clock.now
    return state.withLock { state in
      if let lease = state.leases[question], lease.until > now { return false }
      state.leases[question] = Lease(holder: holder, until: now + duration)
      return true
    }
  }

  /// Ends a lease, if that holder still has it.
  public func endLease(on question: AddressQuestion, holder: String) {
    state.withLock { state in
      if state.leases[question]?.holder == holder { state.leases[question] = nil }
    }
  }
}
