// SPDX-License-Identifier: Apache-2.0
/// Keeps answers beyond the life of a process, for its next start or for other machines.
///
/// A resolver reads its store when its cache has nothing fresh about a name, and writes new answers without making its
/// callers wait. It does not depend on the store: one that fails, or is slow, is not used for a while.
///
/// A conformance keeps what it is given, and leaves it to the reader to judge whether an answer is fresh. Every
/// function may be called from any thread, while other calls are under way, and may fail; a function that blocks needs
/// a thread of its own. `DirectDNSTesting` has tests that every conformance must pass.
public protocol AnswerStore: Sendable {
  /// Its kind, for logs and metrics: `memory`, `sqlite`, `redis`.
  var name: String { get }

  /// Reads the answers to questions, each as it was written last.
  ///
  /// - Parameter questions: at most 256 different questions.
  /// - Returns: an answer for each question that has one, in any order.
  /// - Throws: an error of code ``DirectDNSError/Code/storeFailed``.
  func read(_ questions: [AddressQuestion]) async throws(DirectDNSError) -> [StoredAnswer]

  /// Writes answers, which replace earlier ones to the same questions.
  ///
  /// They are kept until they are ``StoredAnswer/gone``, or until there is no room.
  ///
  /// - Parameter answers: at most 256, to different questions.
  /// - Throws: an error of code ``DirectDNSError/Code/storeFailed``; some of them may have been kept.
  func write(_ answers: [StoredAnswer]) async throws(DirectDNSError)

  /// Writes those answers that were asked for later than the stored ones, and ignores the others.
  ///
  /// What is from the future by more than a second, because a clock was wrong, counts as older than what is not.
  ///
  /// The default implementation reads, compares and writes; it may overwrite what others write in between.
  ///
  /// - Parameter answers: at most 256, to different questions.
  /// - Returns: how many were written.
  /// - Throws: an error of code ``DirectDNSError/Code/storeFailed``; some of them may have been kept.
  func writeNewer(_ answers: [StoredAnswer]) async throws(DirectDNSError) -> Int

  /// Removes the answers to questions.
  ///
  /// - Throws: an error of code ``DirectDNSError/Code/storeFailed``.
  func remove(_ questions: [AddressQuestion]) async throws(DirectDNSError)

  /// Removes the answers to questions that were asked for no later than those instants, or are from the future by more
  /// than a second.
  ///
  /// The default implementation reads, compares and removes; it may remove what others write in between.
  ///
  /// - Parameter questions: at most 256, each with its instant.
  /// - Throws: an error of code ``DirectDNSError/Code/storeFailed``; some of them may have been removed.
  func removeOlder(_ questions: [AddressQuestion: WallInstant]) async throws(DirectDNSError)

  /// Removes all answers.
  ///
  /// - Throws: an error of code ``DirectDNSError/Code/storeFailed``.
  func removeAll() async throws(DirectDNSError)

  /// Visits all answers, page by page; answers that change meanwhile may be missing, or come twice.
  ///
  /// - Parameter visit: gets a page, and returns whether to go on.
  /// - Throws: an error of code ``DirectDNSError/Code/storeFailed``.
  func visit(_ visit: @Sendable ([StoredAnswer]) async -> Bool) async throws(DirectDNSError)

  /// How many answers that this process has written the store has evicted for want of room, since the store was
  /// created.
  ///
  /// By default 0, for a store that does not know what was evicted.
  var evicted: Int { get }

  /// Brings everything written into its final form, such as the content of a write-ahead log into the main file.
  ///
  /// A resolver calls it when it ends. What cannot be done now may wait until the next time. By default it does
  /// nothing.
  func checkpoint() async
}

extension AnswerStore {
  /// 0, since it does not know.
  public var evicted: Int { 0 }

  /// Reads, compares and writes.
  public func writeNewer(_ answers: [StoredAnswer]) async throws(DirectDNSError) -> Int {
    let known = Dictionary(try await read(answers.map(\.question)).map { ($0.question, $0) }) { $1 }
    let now = SystemClock().wallNow
    let newer = answers.filter { answer in known[answer.question].map { answer.isNewer(than: $0, at: now) } ?? true }
    if !newer.isEmpty { try await write(newer) }
    return newer.count
  }

  /// Reads, compares and removes.
  public func removeOlder(_ questions: [AddressQuestion: WallInstant]) async throws(DirectDNSError) {
    let known = try await read(Array(questions.keys))
    let latest = StoredAnswer.latestAsked(at: SystemClock().wallNow)
    let older = known.compactMap { answer in
      questions[answer.question].flatMap { answer.asked <= $0 || answer.asked > latest ? answer.question : nil }
    }
    if !older.isEmpty { try await remove(older) }
  }

  /// Does nothing.
  public func checkpoint() async {}
}

/// A store that many processes share, and in which they can take turns to ask, so that one of them asks for all.
///
/// A lease is only a hint. A process that does not get it asks after a moment anyway, so that a lost lease costs a
/// query and never an answer.
public protocol FleetAnswerStore: AnswerStore {
  /// Takes the lease on a question, unless another holder has it.
  ///
  /// - Parameters:
  ///   - question: the question that the holder is about to ask.
  ///   - holder: a word that identifies the holder, and that nobody else uses.
  ///   - duration: how long the lease lasts unless it is ended before.
  /// - Returns: whether it was taken.
  /// - Throws: an error of code ``DirectDNSError/Code/storeFailed``.
  func takeLease(on question: AddressQuestion, holder: String, for duration: Duration) async throws(DirectDNSError)
    -> Bool

  /// Ends a lease, if that holder still has it.
  ///
  /// - Throws: an error of code ``DirectDNSError/Code/storeFailed``.
  func endLease(on question: AddressQuestion, holder: String) async throws(DirectDNSError)
}

/// An event of a resolver's store.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum StoreEvent: Sendable {
  /// It failed or was too slow, and is not used for a while.
  case failed(DirectDNSError)
  /// It works again.
  case recovered
  /// So many answers will not be written, because it has been failing for too long.
  case dropped(answers: Int)
}

/// The right to ask a question for all processes that share a store.
struct StoreLease: Sendable, Hashable {
  var question: AddressQuestion
  var holder: String

  /// The result of trying to take a lease.
  enum State: Sendable, Hashable {
    case taken(StoreLease)
    /// Another process has it.
    case held
    /// The store has no leases, or cannot say at the moment.
    case unavailable
  }
}

/// The result of writing to the store what it had yet to get.
public struct StoreFlush: Sendable {
  /// How many changes since the last flush the store did not get: answers, and names that it should forget.
  public var unwritten: Int
  /// How many answers the store has evicted since the last flush, for want of room; those first that are of use for the
  /// shortest time.
  public var evicted: Int
  /// Why it did not get them; nil if time ran out.
  public var reason: DirectDNSError?

  /// Creates one from its parts, for a test.
  public init(unwritten: Int, evicted: Int = 0, reason: DirectDNSError? = nil) {
    self.unwritten = unwritten
    self.evicted = evicted
    self.reason = reason
  }
}
