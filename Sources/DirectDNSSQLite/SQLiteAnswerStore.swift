public import DirectDNS

/// Answers in one file on this machine: remembered across restarts, and shared by its processes.
///
/// The file is opened when it is first needed. It can be deleted at any time: the next call makes a new one. One that is
/// damaged is renamed to `PATH.damaged`, and a new one takes its place.
///
/// Reading and writing have a thread and a connection each, so that a lookup does not wait for a writer, of this process or
/// of another.
public final class SQLiteAnswerStore: AnswerStore {
  private let configuration: SQLiteStoreConfiguration
  private let reader: SQLiteLane
  private let writer: SQLiteLane

  /// Creates a store; nothing happens to the file yet.
  public init(_ configuration: SQLiteStoreConfiguration) {
    self.configuration = configuration
    reader = SQLiteLane(configuration, "sqlite.read")
    writer = SQLiteLane(configuration, "sqlite.write")
  }

  /// Always `sqlite`.
  public var name: String { "sqlite" }

  /// What is known about questions.
  public func read(_ questions: [AddressQuestion]) async throws(DirectDNSError) -> [StoredAnswer] {
    try await reader.perform { database throws(SQLiteError) in try database.read(questions) }
  }

  /// Keeps answers.
  public func write(_ answers: [StoredAnswer]) async throws(DirectDNSError) {
    let most = configuration.maximumBytes
    try await writer.perform { database throws(SQLiteError) in try database.write(answers, maximumBytes: most) }
  }

  /// Forgets what is known about questions.
  public func remove(_ questions: [AddressQuestion]) async throws(DirectDNSError) {
    try await writer.perform { database throws(SQLiteError) in try database.remove(questions) }
  }

  /// Forgets everything.
  public func removeAll() async throws(DirectDNSError) {
    try await writer.perform { database throws(SQLiteError) in try database.removeAll() }
  }

  /// Shows everything, in the order of names.
  public func visit(_ visit: @Sendable ([StoredAnswer]) async -> Bool) async throws(DirectDNSError) {
    var last: AddressQuestion?
    repeat {
      let page = try await reader.perform { [last] database throws(SQLiteError) in
        try database.page(after: last, 256)
      }
      if !page.answers.isEmpty, await !visit(page.answers) { return }
      last = page.last
    } while last != nil
  }
}
