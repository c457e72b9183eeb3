// SPDX-License-Identifier: Apache-2.0
/// Failures that are remembered for a moment, so that a dead upstream is not asked once per caller (RFC 9520), nor once
/// per use of an expired answer (RFC 8767 §5).
///
/// A server's first success afterwards ends the waits of what it failed.
struct FailureCache: Sendable {
  /// Who failed a question.
  enum Server: Sendable, Hashable {
    /// A provider's server, by its number.
    case provider(Int)
    case system
  }

  private struct Failure: Sendable {
    var error: DirectDNSError
    var count: Int
    /// When it failed last.
    var failedAt: ResolverInstant
    /// Until then the error is the answer.
    var until: ResolverInstant
    /// Before then an expired answer is not refreshed; never earlier than `until`.
    var refreshAt: ResolverInstant
    /// Whose success ends the wait; nobody's once one has.
    var servers: [Server]
    /// Whether a success has ended its wait: should it fail again, that try was in vain.
    var isReleased = false
    /// Tries in a row that followed a success and were in vain.
    var vainTries: Int
  }

  /// Waits end over so long, so that a server which has just come back is not asked for everything at once.
  static let releaseTime = Duration.seconds(2)
  /// Waits end no further apart than this: a few names wait for nothing.
  static let releasePace = Duration.milliseconds(20)

  /// For how long failures are remembered from now on.
  var policy: CachePolicy
  private let capacity: Int
  private var failures: [AddressQuestion: Failure] = [:]
  /// The number of failures at which room is made.
  private var limit: Int
  /// What each server failed, with a number that tells the order.
  private var waiting: [Server: [AddressQuestion: Int]] = [:]
  private var noted = 0

  init(policy: CachePolicy, capacity: Int) {
    self.policy = policy
    self.capacity = capacity
    limit = capacity
  }

  /// Notes a failure: it is remembered for 1 s, then for twice as long each time, to 30 s.
  ///
  /// - Parameters:
  ///   - error: what is said meanwhile.
  ///   - question: what was asked.
  ///   - servers: who failed it, each of whose success ends the wait.
  ///   - recheck: how long an expired answer that is there is not refreshed.
  ///   - now: the present.
  mutating func note(
    _ error: DirectDNSError, for question: AddressQuestion, by servers: [Server] = [], recheck: Duration = .zero,
    at now: ResolverInstant
  ) {
    let known = failures[question]
    let memory = policy.failureMemory(after: known?.count ?? 0)
    guard max(memory, recheck) > .zero else { return }
    if known == nil, failures.count >= limit { makeRoom(at: now) }
    forget(question)
    failures[question] = Failure(
      error: error, count: (known?.count ?? 0) + 1, failedAt: now, until: now + memory,
      refreshAt: now + max(memory, recheck), servers: servers,
      vainTries: known.map { $0.isReleased ? $0.vainTries + 1 : $0.vainTries } ?? 0)
    noted += 1
    for server in servers { waiting[server, default: [:]][question] = noted }
  }

  /// A flood of names that all fail: what is forgotten is asked again, which is no worse than never having known it.
  ///
  /// Waits of expired answers stay: there are no more of those than the cache has.
  private mutating func makeRoom(at now: ResolverInstant) {
    keep { $0.refreshAt > now }
    if failures.count >= capacity { keep { $0.refreshAt > $0.until } }
    limit = max(capacity, failures.count * 2)
  }

  private mutating func keep(_ isKept: (Failure) -> Bool) {
    for (question, failure) in failures where !isKept(failure) { forget(question) }
  }

  /// The failure that is still remembered of a question.
  func error(for question: AddressQuestion, at now: ResolverInstant) -> DirectDNSError? {
    failures.isEmpty ? nil : failures[question].flatMap { $0.until > now ? $0.error : nil }
  }

  /// Whether an answer that is there may be refreshed.
  func mayRefresh(_ question: AddressQuestion, at now: ResolverInstant) -> Bool {
    failures.isEmpty || failures[question].map { $0.refreshAt <= now } ?? true
  }

  /// Forgets a question's failures.
  mutating func forget(_ question: AddressQuestion) {
    guard !failures.isEmpty, let failure = failures.removeValue(forKey: question) else { return }
    for server in failure.servers { stopWaiting(question, for: server) }
  }

  private mutating func stopWaiting(_ question: AddressQuestion, for server: Server) {
    waiting[server]?[question] = nil
    if waiting[server]?.isEmpty == true { waiting[server] = nil }
  }

  /// The expired answer to a question is no longer there, and its wait neither.
  mutating func forgetWait(of question: AddressQuestion) {
    if let failure = failures[question] { failures[question]?.refreshAt = failure.until }
  }

  /// Forgets all.
  mutating func forgetAll() {
    failures = [:]
    waiting = [:]
    limit = capacity
  }

  // MARK: Servers that are back

  /// A server answered: the waits of what it failed end, in the order of their failures.
  ///
  /// They end over two seconds, and sooner where they are few. What fails again all the same waits for 2 s from then, for
  /// twice as long each time: a name that is broken by itself is not asked for with each answer to another one.
  ///
  /// - Parameters:
  ///   - server: who answered.
  ///   - now: when.
  /// - Returns: the number of waits that now end earlier.
  mutating func answered(by server: Server, at now: ResolverInstant) -> Int {
    guard !waiting.isEmpty, let questions = waiting[server] else { return 0 }
    let order = questions.sorted { $0.value < $1.value }.map(\.key)
    let pace = min(Self.releaseTime / order.count, Self.releasePace)
    var released = 0
    for (place, question) in order.enumerated() {
      guard var failure = failures[question] else { continue }
      for server in failure.servers { stopWaiting(question, for: server) }
      let pause =
        failure.vainTries == 0 ? .zero : Duration.seconds(1).doubled(failure.vainTries, atMost: .seconds(1 << 20))
      // RFC 9520 §3.2: a failure is remembered for a second at least, whatever else the server answers.
      let least = max(pause, policy.minimumFailureTTL)
      let instant = max(now + pace * place, failure.failedAt + least)
      if instant < failure.refreshAt {
        failure.until = min(failure.until, instant)
        failure.refreshAt = instant
        failure.isReleased = true
        released += 1
      }
      failure.servers = []
      failures[question] = failure
    }
    return released
  }

  /// When a question whose wait a server's success has ended may be asked again; nil for all others.
  func releasedAt(_ question: AddressQuestion) -> ResolverInstant? {
    failures[question].flatMap { $0.isReleased ? $0.refreshAt : nil }
  }
}
