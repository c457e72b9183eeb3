// SPDX-License-Identifier: Apache-2.0
public import DirectDNS
internal import Logging

/// Answers in one file on this machine: remembered across restarts, and shared by its processes.
///
/// The file is opened when it is first needed. It can be deleted at any time: the next call creates a new one. Reading
/// a damaged file of this store's own is an error, and leaves it where it is; writing renames it to `PATH.damaged`, or
/// `PATH.damaged-2` and so on, and creates a new one. A file that is not known to be this store's is an error and stays
/// as it is, and so is one that everybody may write to.
///
/// Reading and writing have a thread and a connection each, so that a lookup never waits for a writer, of this process
/// or of another.
public final class SQLiteAnswerStore: AnswerStore, NonBlocking {
  private let configuration: SQLiteStoreConfiguration
  private let reader: SQLiteWorker
  private let writer: SQLiteWorker
  private let made = SystemClock().wallNow
  private let lost = Locked(0)

  /// Creates a store; the file is not opened yet.
  ///
  /// - Parameters:
  ///   - configuration: the file, and how large it may grow.
  ///   - notice: called with a sentence, once for each matter, about what no call fails for: that a damaged file was
  ///     renamed, or that another user may write to the file. By default it is logged as a warning, with the label
  ///     `directdns.sqlite`.
  public init(_ configuration: SQLiteStoreConfiguration, notice: (@Sendable (String) -> Void)? = nil) {
    self.configuration = configuration
    let logger = Logger(label: "directdns.sqlite")
    let notify = notice ?? { logger.warning("\($0)") }
    let reported = Locked<Set<String>>([])
    let once: @Sendable (String) -> Void = { text in
      if reported.withLock({ $0.insert(text).inserted }) { notify(text) }
    }
    let suspect = Locked<SQLiteFile?>(nil)
    reader = SQLiteWorker(configuration, "sqlite.read", readsOnly: true, suspect: suspect, notice: once)
    writer = SQLiteWorker(configuration, "sqlite.write", suspect: suspect, notice: once)
  }

  /// Always `sqlite`.
  public var name: String { "sqlite" }

  /// How many answers it has evicted for want of room in the file, of those that were asked for since it was created.
  public var evicted: Int { lost.withLock(\.self) }

  /// Reads the answers to questions.
  ///
  /// - Throws: `storeFailed`, also for a damaged file, which stays as it is until something is written.
  public func read(_ questions: [AddressQuestion]) async throws(DirectDNSError) -> [StoredAnswer] {
    try await reader.perform { database throws(SQLiteError) in try database.read(questions) }
  }

  /// Writes answers, which replace earlier ones to the same questions.
  public func write(_ answers: [StoredAnswer]) async throws(DirectDNSError) {
    let most = configuration.maximumBytes
    try await writer.perform { [lost, made] database throws(SQLiteError) in
      try database.write(answers)
      let count = try database.keepSize(most, countingSince: made, at: SystemClock().wallNow)
      lost.withLock { $0 += count }
    }
  }

  /// Writes those answers that were asked for later than the stored ones; nobody writes in between.
  public func writeNewer(_ answers: [StoredAnswer]) async throws(DirectDNSError) -> Int {
    let most = configuration.maximumBytes
    return try await writer.perform { [lost, made] database throws(SQLiteError) in
      let now = SystemClock().wallNow
      let kept = try database.writeNewer(answers, at: now)
      let count = try database.keepSize(most, countingSince: made, at: now)
      lost.withLock { $0 += count }
      return kept
    }
  }

  /// Moves what was written from the log beside the file into the file itself, so that a copy of the file has it, and
  /// empties the log.
  ///
  /// It waits for the disk, but for no other process: while another one reads or writes, a part may stay in the log
  /// until the next call, or until the last process has closed the file.
  public func checkpoint() async { await writer.checkpoint() }

  /// Removes the answers to questions.
  public func remove(_ questions: [AddressQuestion]) async throws(DirectDNSError) {
    try await writer.perform { database throws(SQLiteError) in try database.remove(questions) }
  }

  /// Removes all answers.
  public func removeAll() async throws(DirectDNSError) {
    try await writer.perform { database throws(SQLiteError) in try database.removeAll() }
  }

  /// Visits all answers, in the order of names.
  ///
  /// - Throws: `storeFailed`, also if the file is replaced meanwhile, or is damaged: then not all were visited.
  public func visit(_ visit: @Sendable ([StoredAnswer]) async -> Bool) async throws(DirectDNSError) {
    var place: SQLiteDatabase.Place? = .beginning
    var file: SQLiteFile?
    while let last = place {
      let (page, seen) = try await reader.step(in: file) { database throws(SQLiteError) in
        try database.page(after: last, 256)
      }
      file = seen
      if !page.answers.isEmpty, await !visit(page.answers) { return }
      place = page.next
    }
  }
}
