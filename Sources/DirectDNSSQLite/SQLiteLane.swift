internal import DirectDNS

/// A thread with a connection of its own.
///
/// It opens the file when it is first needed and again when the path leads to another one, and sets a damaged file aside.
actor SQLiteLane {
  private let configuration: SQLiteStoreConfiguration
  private let executor: ThreadExecutor
  private var open: (database: SQLiteDatabase, file: SQLiteFile)?

  init(_ configuration: SQLiteStoreConfiguration, _ name: String) {
    self.configuration = configuration
    executor = ThreadExecutor(name)
  }

  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  /// Does something with the file; once more with a new one if it turns out to be damaged.
  func perform<Value: Sendable>(
    _ body: @Sendable (SQLiteDatabase) throws(SQLiteError) -> Value
  ) throws(DirectDNSError) -> Value {
    do throws(SQLiteError) {
      do throws(SQLiteError) { return try body(database()) } catch {
        guard error == .damaged else { throw error }
        let damaged = open?.file ?? SQLiteFile(at: configuration.path)
        open = nil
        damaged?.setAside()
        return try body(database())
      }
    } catch {
      throw error.directDNSError(configuration.path)
    }
  }

  private func database() throws(SQLiteError) -> SQLiteDatabase {
    if let open, open.file == SQLiteFile(at: configuration.path) { return open.database }
    open = nil
    // Looked at before it is opened: one that is replaced in between is noticed by the next call.
    let file = try SQLiteFile.made(at: configuration.path)
    let database = try SQLiteDatabase(configuration)
    open = (database, file)
    return database
  }
}
