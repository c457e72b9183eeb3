// SPDX-License-Identifier: Apache-2.0
/// Answers that are remembered beyond the process: across restarts, and by many machines.
///
/// A resolver reads from its store when its cache does not know a name, and writes what it learns behind its callers'
/// backs. It relies on nothing: a store that fails, or takes its time, is left alone for a while.
///
/// A conformance keeps what it was given and judges nothing: whether an answer is fresh is the reader's to say. Every call
/// may come while others are under way, from any thread, and may fail; one that blocks needs a thread of its own.
/// `DirectDNSTesting` has the contract that every conformance passes.
public protocol AnswerStore: Sendable {
  /// What it is, for logs and metrics: `memory`, `sqlite`, `redis`.
  var name: String { get }

  /// What is known about questions, each as it was written last.
  ///
  /// - Parameter questions: at most 256, none twice.
  /// - Returns: an answer for each question that has one, in any order.
  /// - Throws: an error of code ``DirectDNSError/Code/storeFailed``.
  func read(_ questions: [AddressQuestion]) async throws(DirectDNSError) -> [StoredAnswer]

  /// Keeps answers, each in place of what was known about its question, until they are ``StoredAnswer/gone`` or there
  /// is no room.
  ///
  /// - Parameter answers: at most 256, to different questions.
  /// - Throws: an error of code ``DirectDNSError/Code/storeFailed``; some of them may have been kept.
  func write(_ answers: [StoredAnswer]) async throws(DirectDNSError)

  /// Keeps the answers that were asked for later than what is known about their questions, and leaves the others be.
  ///
  /// By default it reads, compares and writes, which takes no notice of what others write in between.
  ///
  /// - Parameter answers: at most 256, to different questions.
  /// - Returns: how many were kept.
  /// - Throws: an error of code ``DirectDNSError/Code/storeFailed``; some of them may have been kept.
  func writeNewer(_ answers: [StoredAnswer]) async throws(DirectDNSError) -> Int

  /// Forgets what is known about questions.
  ///
  /// - Throws: an error of code ``DirectDNSError/Code/storeFailed``.
  func remove(_ questions: [AddressQuestion]) async throws(DirectDNSError)

  /// Forgets all answers.
  ///
  /// - Throws: an error of code ``DirectDNSError/Code/storeFailed``.
  func removeAll() async throws(DirectDNSError)

  /// Shows everything, a page at a time; what changes meanwhile may be seen or not, or twice.
  ///
  /// - Parameter visit: gets each page, and says whether to go on.
  /// - Throws: an error of code ``DirectDNSError/Code/storeFailed``.
  func visit(_ visit: @Sendable ([StoredAnswer]) async -> Bool) async throws(DirectDNSError)

  /// How many answers this process has learned and written, and the store has let go again for want of room, since it was
  /// made.
  ///
  /// By default 0: a store that others make room in need not know.
  var letGo: Int { get }

  /// Brings what was written to where it outlives the process in the simplest form, such as a log into its file.
  ///
  /// A resolver calls it when it ends. What cannot be done now may wait for the next time. By default it does nothing.
  func checkpoint() async
}

extension AnswerStore {
  /// None that it knows of.
  public var letGo: Int { 0 }

  /// Reads, compares and writes.
  public func writeNewer(_ answers: [StoredAnswer]) async throws(DirectDNSError) -> Int {
    let known = Dictionary(try await read(answers.map(\.question)).map { ($0.question, $0.asked) }) { max($0, $1) }
    let newer = answers.filter { answer in known[answer.question].map { answer.asked > $0 } ?? true }
    if !newer.isEmpty { try await write(newer) }
    return newer.count
  }

  /// Does nothing.
  public func checkpoint() async {}
}

/// A store that many members share and that can say whose turn it is to ask, so that one of them asks for all.
///
/// A lease is a hint. A member who does not get it asks all the same after a moment, so losing one costs a query and
/// never an answer.
public protocol FleetAnswerStore: AnswerStore {
  /// Takes the lease on a question unless another has it.
  ///
  /// - Parameters:
  ///   - question: what the holder is about to ask.
  ///   - holder: who takes it: a word that nobody else uses.
  ///   - duration: after so long it ends by itself.
  /// - Returns: whether it was taken.
  /// - Throws: an error of code ``DirectDNSError/Code/storeFailed``.
  func takeLease(on question: AddressQuestion, holder: String, for duration: Duration) async throws(DirectDNSError)
    -> Bool

  /// Ends a lease, if that holder still has it.
  ///
  /// - Throws: an error of code ``DirectDNSError/Code/storeFailed``.
  func endLease(on question: AddressQuestion, holder: String) async throws(DirectDNSError)
}

/// What became of a resolver's store.
public enum StoreEvent: Sendable {
  /// It failed or took too long, and is left alone for a while.
  case failed(DirectDNSError)
  /// It helps again.
  case recovered
  /// It has been failing for so long that so many answers will never be written.
  case dropped(Int)
}
