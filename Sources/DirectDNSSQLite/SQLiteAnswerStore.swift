// SPDX-License-Identifier: Apache-2.0
public import DirectDNS
internal import Logging

/// Answers in one file on this machine: remembered across restarts, and shared by its processes.
///
/// The file is opened when it is first needed. It can be deleted at any time: the next call makes a new one. One of ours that
/// is damaged is an error to whoever reads, and stays where it is; whoever writes renames it to `PATH.damaged`, or
/// `PATH.damaged-2` and so on, and a new one takes its place. A file that is not known to be ours is left as it is, and is an
/// error. So is one that everybody may write to.
///
/// Reading and writing have a thread and a connection each, so that a lookup does not wait for a writer, of this process or
/// of another.
public final class SQLiteAnswerStore: AnswerStore, NonBlocking {
  private let configuration: SQLiteStoreConfiguration
  private let reader: SQLiteWorker
  private let writer: SQLiteWorker
  private let made = SystemClock().wallNow
  private let lost = Locked(0)

  /// Creates a store; nothing happens to the file yet.
  ///
  /// - Parameters:
  ///   - configuration: which file.
  ///   - notice: is told, in a sentence and each thing once, what somebody should know though no call fails for it: that
  ///     a damaged file was set aside, or that another user may write to the file. By default a warning is logged by
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

  /// How many answers it has evicted for want of room in the file, of those that were asked for since it was made.
  public var evicted: Int { lost.withLock(\.self) }

  /// What is known about questions.
  ///
  /// - Throws: also when the file is damaged. It stays as it is until something is written.
  public func read(_ questions: [AddressQuestion]) async throws(DirectDNSError) -> [StoredAnswer] {
    try await reader.perform { database throws(SQLiteError) in try database.read(questions) }
  }

  /// Keeps answers.
  public func write(_ answers: [StoredAnswer]) async throws(DirectDNSError) {
    let most = configuration.maximumBytes
    try await writer.perform { [lost, made] database throws(SQLiteError) in
      try database.write(answers)
      let count = try database.keepSize(most, countingSince: made, at: SystemClock().wallNow)
      lost.withLock { $0 += count }
    }
  }

  /// Keeps the answers that were asked for later than what is known about their questions; nobody writes in between.
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

  /// Brings what was written here out of the log beside the file into the file itself, so that a copy of it has that,
  /// too, and empties the log.
  ///
  /// It waits for the disk, and for no other process: while one reads or writes, some may stay in the log, for the next
  /// one that ends.
  public func checkpoint() async { await writer.checkpoint() }

  /// Forgets what is known about questions.
  public func remove(_ questions: [AddressQuestion]) async throws(DirectDNSError) {
    try await writer.perform { database throws(SQLiteError) in try database.remove(questions) }
  }

  /// Forgets everything.
  public func removeAll() async throws(DirectDNSError) {
    try await writer.perform { database throws(SQLiteError) in try database.removeAll() }
  }

  /// Shows everything, in the order of names.
  ///
  /// - Throws: also when the file is replaced meanwhile, or is damaged: then not everything was shown.
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
