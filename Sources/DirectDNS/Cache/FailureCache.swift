// SPDX-License-Identifier: Apache-2.0
/// Remembers failures for a while, so that a dead server is not asked by every caller (RFC 9520), nor at every use of
/// an expired answer (RFC 8767 §5).
///
/// When a server answers again, the questions that it failed need not wait any longer.
struct FailureCache: Sendable {
  /// A server that can fail a question.
  enum Server: Sendable, Hashable {
    /// A provider's server, by its number.
    case provider(Int)
    case system
  }

  private struct Failure: Sendable {
    var error: DirectDNSError
    var count: Int
    /// When the question failed last.
    var failedAt: ResolverInstant
    /// Until when lookups get the error.
    var until: ResolverInstant
    /// From when on an expired answer may be refreshed; not earlier than `until`.
    var refreshAt: ResolverInstant
    /// The servers whose success ends the wait; empty once one has.
    var servers: [Server]
    /// Whether a server's success has ended the wait.
    var isReleased = false
    /// How many times in a row the question failed again although a server's success had ended its wait.
    var vainTries: Int
  }

  /// The time over which the waits of all questions end, so that a server which has just come back is not flooded.
  static let releaseTime = Duration.seconds(2)
  /// The longest time between the ends of two waits, so that a few questions end sooner.
  private static let releasePace = Duration.milliseconds(20)

  /// Says how long failures are remembered.
  var policy: CachePolicy
  private let capacity: Int
  private var failures: [AddressQuestion: Failure] = [:]
  /// The number of failures at which some are forgotten.
  private var limit: Int
  /// The questions that each server failed, with numbers that tell their order.
  private var waiting: [Server: [AddressQuestion: Int]] = [:]
  private var noted = 0

  init(policy: CachePolicy, capacity: Int) {
    self.policy = policy
    self.capacity = capacity
    limit = capacity
  }

  /// Notes a failure, which is remembered for twice as long with each further one: see ``CachePolicy/failureTTL(after:)``.
  ///
  /// - Parameters:
  ///   - error: the error that lookups get meanwhile.
  ///   - question: the question that failed.
  ///   - servers: the servers that failed it; the success of any of them ends the wait.
  ///   - recheck: how long an expired answer is not refreshed.
  ///   - now: the present.
  mutating func note(
    _ error: DirectDNSError, for question: AddressQuestion, by servers: [Server] = [], recheck: Duration = .zero,
    at now: ResolverInstant
  ) {
    let known = failures[question]
    let ttl = policy.failureTTL(after: known?.count ?? 0)
    guard max(ttl, recheck) > .zero else { return }
    if known == nil, failures.count >= limit { makeRoom(at: now) }
    forget(question)
    failures[question] = Failure(
      error: error, count: (known?.count ?? 0) + 1, failedAt: now, until: now + ttl,
      refreshAt: now + max(ttl, recheck), servers: servers,
      vainTries: known.map { $0.isReleased ? $0.vainTries + 1 : $0.vainTries } ?? 0)
    noted += 1
    for server in servers { waiting[server, default: [:]][question] = noted }
  }

  /// Forgets failures when there are too many, because of a flood of names that fail.
  ///
  /// A forgotten question is just asked again. Failures that keep an expired answer from being refreshed stay: there
  /// cannot be more of them than names in the cache.
  private mutating func makeRoom(at now: ResolverInstant) {
    keep { $0.refreshAt > now }
    if failures.count >= capacity { keep { $0.refreshAt > $0.until } }
    limit = max(capacity, failures.count * 2)
  }

  private mutating func keep(_ isKept: (Failure) -> Bool) {
    for (question, failure) in failures where !isKept(failure) { forget(question) }
  }

  /// The error that lookups of a question get; nil if no failure is remembered.
  func error(for question: AddressQuestion, at now: ResolverInstant) -> DirectDNSError? {
    failures.isEmpty ? nil : failures[question].flatMap { $0.until > now ? $0.error : nil }
  }

  /// Whether the answer to a question may be refreshed.
  func mayRefresh(_ question: AddressQuestion, at now: ResolverInstant) -> Bool {
    failures.isEmpty || failures[question].map { $0.refreshAt <= now } ?? true
  }

  /// From when on a question may be asked again; nil if no failure of it is remembered.
  func refreshAt(_ question: AddressQuestion) -> ResolverInstant? { failures[question]?.refreshAt }

  /// Forgets a question's failures.
  mutating func forget(_ question: AddressQuestion) {
    guard !failures.isEmpty, let failure = failures.removeValue(forKey: question) else { return }
    for server in failure.servers { stopWaiting(question, for: server) }
  }

  private mutating func stopWaiting(_ question: AddressQuestion, for server: Server) {
    waiting[server]?[question] = nil
    if waiting[server]?.isEmpty == true { waiting[server] = nil }
  }

  /// Ends the wait for a refresh, since the expired answer was evicted.
  mutating func forgetWait(of question: AddressQuestion) {
    if let failure = failures[question] { failures[question]?.refreshAt = failure.until }
  }

  /// Forgets all.
  ///
  /// - Returns: the questions that had failed.
  @discardableResult
  mutating func forgetAll() -> [AddressQuestion] {
    let questions = Array(failures.keys)
    failures = [:]
    waiting = [:]
    limit = capacity
    return questions
  }

  // MARK: Servers that answer again

  /// A server has answered: the waits of the questions that it failed end, in the order in which they failed.
  ///
  /// That takes two seconds, or less if they are few; both families of a name may be asked for at the same instant, since
  /// a lookup in between would refresh one alone. A question that fails again nevertheless then waits for 2 s, and twice
  /// as long each time: a name that is broken itself must not be asked for at each answer about another one.
  ///
  /// - Parameters:
  ///   - server: the server that has answered.
  ///   - now: the present.
  /// - Returns: the questions whose waits end earlier now.
  mutating func answered(by server: Server, at now: ResolverInstant) -> [AddressQuestion] {
    guard !waiting.isEmpty, let questions = waiting[server] else { return [] }
    let order = questions.sorted { $0.value < $1.value }.map(\.key)
    var places: [HostName: Int] = [:]
    for question in order where places[question.host] == nil { places[question.host] = places.count }
    let pace = min(Self.releaseTime / places.count, Self.releasePace)
    var released: [AddressQuestion] = []
    for question in order {
      guard var failure = failures[question], let place = places[question.host] else { continue }
      let failedAt = max(failure.failedAt, failures[question.ofOtherFamily]?.failedAt ?? failure.failedAt)
      for server in failure.servers { stopWaiting(question, for: server) }
      let pause =
        failure.vainTries == 0 ? .zero : Duration.seconds(1).doubled(failure.vainTries, atMost: .seconds(1 << 20))
      // A failure must be remembered for at least a second (RFC 9520 §3.2).
      let least = max(pause, policy.minimumFailureTTL)
      let instant = max(now + pace * place, failedAt + least)
      if instant < failure.refreshAt {
        failure.until = min(failure.until, instant)
        failure.refreshAt = instant
        failure.isReleased = true
        released.append(question)
      }
      failure.servers = []
      failures[question] = failure
    }
    return released
  }

  /// When a question may be asked again because a server has answered since; nil for any other question.
  func releasedAt(_ question: AddressQuestion) -> ResolverInstant? {
    failures[question].flatMap { $0.isReleased ? $0.refreshAt : nil }
  }
}
