// SPDX-License-Identifier: Apache-2.0
internal import DequeModule
internal import HeapModule

/// Decides what a warm-up does next; it has no clock, and is told the names, the results and the time.
struct WarmupQueue: Sendable {
  /// A name, and its tries so far.
  struct Task: Sendable {
    var host: HostName
    /// The tries that failed.
    var failures = 0
    /// The tries that were refused with 429.
    var rejections = 0
    /// The outcome of the last try; empty before the first one.
    ///
    /// Nearly all names have one try only: an optional outcome would be moved with each of them, some 200 bytes.
    var last: [WarmupOutcome] = []
  }

  enum Step: Sendable {
    /// Look this name up.
    case look(WarmupQueue.Task)
    /// Nothing begins before that instant; if it is nil, not before a name is added or done.
    case wait(ResolverInstant?)
    /// All names that were offered are done, and no more will come.
    case done
  }

  /// How many names may wait for their first try before a source has to wait.
  static let room = 1024

  private struct Retry: Sendable, Comparable {
    var task: WarmupQueue.Task
    var at: ResolverInstant
    var number: Int

    static func < (left: Retry, right: Retry) -> Bool { (left.at, left.number) < (right.at, right.number) }
    static func == (left: Retry, right: Retry) -> Bool { left.number == right.number }
  }

  private var seen = SeenNames()
  private var waiting: Deque<HostName> = []
  private var retries = Heap<Retry>()
  private var retryCount = 0
  private var isClosed = false
  private var pausedUntil: ResolverInstant?
  /// The provider that may be asked first when the pause is over.
  private var pausedBy = ""
  /// Limits how many names begin per second.
  private var pace: TokenBucket?
  private var concurrency: WarmupConcurrency
  /// Names under way.
  private(set) var running = 0

  /// Creates a queue without names.
  ///
  /// - Parameters:
  ///   - rate: the most names that begin in a second, on average; nil for any number.
  ///   - concurrency: how many are under way at a time.
  ///   - now: the present.
  init(rate: Double?, concurrency: WarmupConcurrency, at now: ResolverInstant) {
    // The burst makes up for a timer that is late, by up to 50 ms.
    pace = rate.map { TokenBucket(RateLimit(perSecond: $0, burst: $0 / 20), now: now) }
    self.concurrency = concurrency
  }

  // MARK: What comes in

  /// Adds a name, unless it was there before.
  mutating func offer(_ host: HostName) -> Bool {
    guard seen.insert(host.hash) else { return false }
    waiting.append(host)
    return true
  }

  /// Whether a source has to wait.
  var isFull: Bool { waiting.count >= Self.room }
  /// Whether a source that waits can go on.
  var hasRoom: Bool { waiting.count <= Self.room / 2 }

  /// No more names will come.
  mutating func close() { isClosed = true }

  /// Nothing begins any more, and no name is remembered.
  ///
  /// - Returns: the names that have yet to be looked up, and those that were to be looked up again.
  @discardableResult
  mutating func stop() -> (new: [HostName], retries: [WarmupQueue.Task]) {
    isClosed = true
    defer {
      seen = SeenNames()
      waiting = []
      retries = Heap()
    }
    return (Array(waiting), retries.unordered.map(\.task))
  }

  // MARK: What is next

  /// The next step; a name that is to be looked up counts as under way from now on.
  ///
  /// - Parameters:
  ///   - now: the present.
  ///   - count: how many names are to begin together, including this one: none begins before there is room for all.
  /// - Returns: what to do now.
  mutating func next(at now: ResolverInstant, together count: Int = 1) -> Step {
    guard !waiting.isEmpty || !retries.isEmpty else { return isClosed && running == 0 ? .done : .wait(nil) }
    let wanted = min(count, max(1, waiting.count), concurrency.current)
    guard running + wanted <= concurrency.current else { return .wait(nil) }
    if let pausedUntil, pausedUntil > now { return .wait(pausedUntil) }
    if let turn = pace?.ready(at: now), turn > now { return .wait(turn) }
    let isRetry = retries.min.map { $0.at <= now } ?? false
    // While many names wait for another try, no new name begins.
    guard isRetry || (!waiting.isEmpty && retries.count < Self.room) else { return .wait(retries.min?.at) }
    let task = isRetry ? retries.removeMin().task : WarmupQueue.Task(host: waiting.removeFirst())
    _ = pace?.take(at: now)
    running += 1
    return .look(task)
  }

  // MARK: What comes back

  /// A name is done.
  mutating func ended(isAnswer: Bool) {
    running -= 1
    if isAnswer { concurrency.grow() }
  }

  /// A name is to be looked up again.
  mutating func retry(_ task: WarmupQueue.Task, at instant: ResolverInstant) {
    running -= 1
    retryCount += 1
    retries.insert(Retry(task: task, at: instant, number: retryCount))
  }

  /// Every provider said 429: nothing begins before that instant, and then fewer names at a time.
  ///
  /// Each of the names that are under way reports it: only the first report narrows the width.
  ///
  /// - Parameters:
  ///   - instant: when the pause is over.
  ///   - provider: the first one that may be asked then.
  ///   - now: the present.
  /// - Returns: whether the pause begins now.
  mutating func pause(until instant: ResolverInstant, by provider: String, at now: ResolverInstant) -> Bool {
    let before = pausedUntil ?? now
    guard instant > before else { return false }
    pausedUntil = instant
    pausedBy = provider
    guard before <= now else { return false }
    concurrency.halve()
    return true
  }

  /// The current pause; nil while names may begin.
  func pause(at now: ResolverInstant) -> WarmupReport.Pause? {
    pausedUntil.flatMap { $0 > now ? WarmupReport.Pause(provider: pausedBy, left: $0 - now) : nil }
  }
}

/// How many names may be under way at a time: fewer after a 429, more after answers.
struct WarmupConcurrency: Sendable, Hashable {
  /// The most names at a time.
  let most: Int
  private(set) var current: Int
  private var answered = 0

  /// Creates the limit.
  ///
  /// If every provider has a rate limit, no more names are under way than the limits allow in one second, so that none
  /// waits longer than its lookup may take, and other lookups get their turn soon.
  ///
  /// - Parameters:
  ///   - concurrency: the most names that are wanted at a time.
  ///   - limits: the providers' rates; nil for a provider without one.
  ///   - queries: the queries that one name needs.
  init(concurrency: Int, limits: [RateLimit?], queries: Int) {
    let rates = limits.compactMap { $0?.perSecond }
    let isLimited = !limits.isEmpty && rates.count == limits.count
    let turns = isLimited ? rates.reduce(0, +) / Double(max(1, queries)) : .infinity
    // Not `Int(min(…))`, which could trap: `Double(Int.max)` is greater than every `Int`.
    most = max(1, turns < Double(concurrency) ? Int(turns) : concurrency)
    current = most
  }

  /// Every provider said 429: half as many may be under way.
  mutating func halve() {
    current = max(1, current / 2)
    answered = 0
  }

  /// A name was answered: after as many answers as it allows, it grows by one.
  mutating func grow() {
    guard current < most else { return }
    answered += 1
    guard answered >= current else { return }
    answered = 0
    current += 1
  }
}

/// The names that were seen, in nine to eighteen bytes each.
///
/// It keeps only a name's 64-bit hash, with a random seed that is secret. A `Set` of the standard library would take
/// more than twice the room.
struct SeenNames: Sendable {
  private var hashes: [UInt64] = Array(repeating: 0, count: 64)
  private(set) var count = 0

  /// Adds a name's hash.
  ///
  /// - Returns: whether it is new.
  mutating func insert(_ hash: UInt64) -> Bool {
    let hash = max(hash, 1)  // 0 is a free place
    let place = place(hash)
    guard hashes[place] == 0 else { return false }
    hashes[place] = hash
    count += 1
    if count * 8 > hashes.count * 7 { grow() }
    return true
  }

  /// Where a hash is, or the free place where it would go.
  private func place(_ hash: UInt64) -> Int {
    let mask = hashes.count - 1
    var place = Int(truncatingIfNeeded: hash) & mask
    while hashes[place] != hash, hashes[place] != 0 { place = (place + 1) & mask }
    return place
  }

  private mutating func grow() {
    let old = hashes
    hashes = Array(repeating: 0, count: old.count * 2)
    for hash in old where hash != 0 { hashes[place(hash)] = hash }
  }
}
