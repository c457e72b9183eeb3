/// Failures that are remembered for a moment, so that a dead upstream is not asked once per caller (RFC 9520).
struct FailureMemory: Sendable {
  private struct Failure: Sendable {
    var error: DirectDNSError
    var count: Int
    var until: ResolverInstant
  }

  /// For how long failures are remembered from now on.
  var policy: CachePolicy
  private let capacity: Int
  private var failures: [AddressQuestion: Failure] = [:]

  init(policy: CachePolicy, capacity: Int) {
    self.policy = policy
    self.capacity = capacity
  }

  /// Notes a failure: it is remembered for 1 s, then for twice as long each time, to 30 s.
  mutating func note(_ error: DirectDNSError, for question: AddressQuestion, at now: ResolverInstant) {
    let count = failures[question]?.count ?? 0
    let memory = policy.failureMemory(after: count)
    guard memory > .zero else { return }
    if failures.count >= capacity { makeRoom(at: now) }
    failures[question] = Failure(error: error, count: count + 1, until: now + memory)
  }

  /// A flood of names that all fail: what is forgotten is asked again, which is no worse than never having known it.
  private mutating func makeRoom(at now: ResolverInstant) {
    failures = failures.filter { $0.value.until > now }
    if failures.count >= capacity { failures.removeAll(keepingCapacity: true) }
  }

  /// The failure that is still remembered of a question.
  func error(for question: AddressQuestion, at now: ResolverInstant) -> DirectDNSError? {
    failures[question].flatMap { $0.until > now ? $0.error : nil }
  }

  /// Forgets a question's failures.
  mutating func forget(_ question: AddressQuestion) { failures[question] = nil }

  /// Forgets all.
  mutating func forgetAll() { failures = [:] }
}
