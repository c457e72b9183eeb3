// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSSQLite
internal import DirectDNS

/// SQLite's handle: opened, set up and closed here.
@safe struct SQLiteConnection: ~Copyable {
  private let handle: OpaquePointer
  private let busyTimeout: Int32

  /// Opens the file, and makes it if there is none; nothing of it is changed.
  ///
  /// - Parameters:
  ///   - configuration: which file.
  ///   - isImmutable: whether it is only read, as it stands, without locks and without the files beside it that SQLite
  ///     makes for them (https://www.sqlite.org/uri.html, `immutable`): for where none can be made.
  /// - Returns: the connection.
  /// - Throws: why the file cannot be opened.
  static func open(
    _ configuration: SQLiteStoreConfiguration, isImmutable: Bool = false
  ) throws(SQLiteError) -> SQLiteConnection {
    var opened: OpaquePointer?
    let path =
      isImmutable
      ? "file:\(PercentEncoding.encoded(configuration.path, .reserved))?immutable=1" : configuration.path
    let flags = isImmutable ? SQLITE_OPEN_READONLY | SQLITE_OPEN_URI : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
    let code = unsafe sqlite3_open_v2(path, &opened, flags | SQLITE_OPEN_NOMUTEX, nil)
    // A handle is there in nearly every case of failure, for its message.
    guard let opened = unsafe opened else { throw SQLiteError(code, "no memory") }
    guard code == SQLITE_OK else {
      let error = unsafe SQLiteError(code, opened)
      unsafe sqlite3_close_v2(opened)
      throw error
    }
    unsafe sqlite3_extended_result_codes(opened, 1)
    // Whose file it is is not known yet, and a log that another program left is its own.
    unsafe directdns_sqlite_checkpoint_on_close(opened, 0)
    let busyTimeout = Int32(clamping: max(1, configuration.busyTimeout.wholeMilliseconds))
    let connection = unsafe SQLiteConnection(opened, busyTimeout)
    try connection.execute("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY")
    return connection
  }

  private init(_ handle: OpaquePointer, _ busyTimeout: Int32) {
    unsafe self.handle = handle
    self.busyTimeout = busyTimeout
    unsafe sqlite3_busy_timeout(handle, busyTimeout)
  }

  deinit { unsafe sqlite3_close_v2(handle) }

  /// Readers and one writer side by side, across processes: SQLite's write-ahead log.
  ///
  /// Changing to it need not wait for others as writing does, so processes that open a new file together meet here.
  private borrowing func useLog() throws(SQLiteError) {
    let end = ContinuousClock.now + .milliseconds(busyTimeout)
    while true {
      do throws(SQLiteError) {
        if try pragma("journal_mode = WAL") == "wal" { return }
        throw .unusable("it cannot have a write-ahead log")
      } catch {
        guard error == .busy, ContinuousClock.now < end else { throw error }
        sqlite3_sleep(10)
      }
    }
  }

  borrowing func prepare(_ sql: String) throws(SQLiteError) -> SQLiteStatement {
    try unsafe SQLiteStatement(handle, sql)
  }

  /// A statement about our own table: where that is not as the file's version says, the file is damaged.
  borrowing func prepareOwn(_ sql: String) throws(SQLiteError) -> SQLiteStatement {
    do throws(SQLiteError) { return try prepare(sql) } catch {
      if case .statement = error { throw .damaged }
      throw error
    }
  }

  borrowing func execute(_ sql: String) throws(SQLiteError) {
    let code = unsafe sqlite3_exec(handle, sql, nil, nil, nil)
    guard code == SQLITE_OK else { throw unsafe SQLiteError(code, handle) }
  }

  /// Runs a pragma and returns its value.
  borrowing func pragma(_ text: String) throws(SQLiteError) -> String {
    var value = ""
    try prepare("PRAGMA \(text)").run { value = $0.text(0) }
    return value
  }

  private borrowing func number(_ sql: String) throws(SQLiteError) -> Int64 {
    var value: Int64 = 0
    try prepare(sql).run { value = $0.integer(0) }
    return value
  }

  /// All of it or nothing; no other process writes meanwhile.
  borrowing func transaction(_ body: () throws(SQLiteError) -> Void) throws(SQLiteError) {
    try execute("BEGIN IMMEDIATE")
    do throws(SQLiteError) {
      try body()
      try execute("COMMIT")
    } catch {
      // Some failures have rolled it back already.
      if hasOpenTransaction { try? execute("ROLLBACK") }
      throw error
    }
  }

  /// Whether a transaction has begun and not ended; for want of memory it may not be rolled back either.
  var hasOpenTransaction: Bool { unsafe sqlite3_get_autocommit(handle) == 0 }

  /// Bytes of pages that hold something.
  borrowing func usedBytes() throws(SQLiteError) -> Int {
    let pages = try number("PRAGMA page_count") - number("PRAGMA freelist_count")
    return try Int(pages * number("PRAGMA page_size"))
  }

  /// Makes the file ours if it is empty, and brings it up to date; of several processes one does.
  ///
  /// One of another program is left as it is, its journal too.
  borrowing func migrate(_ steps: [String]) throws(SQLiteError) {
    let isUpToDate = try missing(steps).isEmpty
    unsafe directdns_sqlite_checkpoint_on_close(handle, 1)
    try useLog()
    // Darwin's fsync(2) leaves what was written in the drive's own memory (fcntl(2)): where the power fails, the log
    // could be begun anew before its pages stand in the file. Elsewhere the pragma changes nothing.
    try execute(
      "PRAGMA synchronous = NORMAL; PRAGMA checkpoint_fullfsync = ON; PRAGMA journal_size_limit = 4194304")
    if isUpToDate { return }
    try transaction { () throws(SQLiteError) in
      for step in try missing(steps) { try execute(step) }
      try execute("PRAGMA application_id = \(SQLiteSchema.applicationID); PRAGMA user_version = \(steps.count)")
    }
  }

  /// Checks that the file is ours and up to date; nothing of it is changed.
  borrowing func check(_ steps: [String]) throws(SQLiteError) {
    guard try missing(steps).isEmpty else { throw .unusable("it has to be brought up to date, and cannot be written") }
  }

  private borrowing func missing(_ steps: [String]) throws(SQLiteError) -> ArraySlice<String> {
    // One look: another process may make the file ours in between.
    let isAlone = !hasOpenTransaction
    if isAlone { try execute("BEGIN") }
    defer { if isAlone, hasOpenTransaction { try? execute("COMMIT") } }
    let isEmpty: Bool
    do throws(SQLiteError) { isEmpty = try number("SELECT count(*) FROM sqlite_schema") == 0 } catch {
      // This stands in the header, and can be read where all else is damaged; of a file that was cut off SQLite reads
      // nothing any more.
      guard error == .damaged else { throw error }
      let header = unsafe directdns_sqlite_application_id(handle)
      let owner = (try? number("PRAGMA application_id")) ?? header
      guard owner != SQLiteSchema.applicationID else { throw error }
      throw .unknown("is a damaged database, and not known to be ours")
    }
    let missing = try SQLiteSchema.missing(
      version: number("PRAGMA user_version"), applicationID: number("PRAGMA application_id"), isEmpty: isEmpty,
      steps: steps)
    // If it did not end, the connection would see for ever what there is now.
    if isAlone { try execute("COMMIT") }
    return missing
  }

  /// Writes the log's pages into the file, as far as no reader needs the old ones, and empties the log if nobody uses
  /// it: pages that stay in it would be taken for those of a file that is put in this one's place.
  borrowing func checkpoint() throws(SQLiteError) {
    // Without waiting, since others do it when they end. If another process writes, SQLite does what PASSIVE does.
    unsafe sqlite3_busy_timeout(handle, 0)
    defer { unsafe sqlite3_busy_timeout(handle, busyTimeout) }
    try execute("PRAGMA wal_checkpoint(TRUNCATE)")
  }
}

extension SQLiteAnswerStore {
  /// SQLite's version.
  package static var libraryVersion: String { unsafe String(cString: sqlite3_libversion()) }
}
