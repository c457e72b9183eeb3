// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// A thread with a connection of its own.
///
/// It opens the file when it is first needed and again when the path leads to another one. A damaged file of ours is set
/// aside by the one that writes, and by nobody who only reads: an export would show the new and empty one for all there is.
actor SQLiteWorker {
  private let configuration: SQLiteStoreConfiguration
  /// Whether it never writes: then a file serves where nothing can be made beside it, and a damaged one stays in place.
  private let readsOnly: Bool
  /// The file that was found damaged by reading, which writing might never notice.
  private let suspect: Locked<SQLiteFile?>
  private let executor: ThreadExecutor
  private let notice: @Sendable (String) -> Void
  private var open: SQLiteDatabase?
  /// The file that is open, or could not be opened.
  private var file: SQLiteFile?

  init(
    _ configuration: SQLiteStoreConfiguration, _ name: String, readsOnly: Bool = false,
    suspect: Locked<SQLiteFile?> = Locked(nil), notice: @escaping @Sendable (String) -> Void
  ) {
    self.configuration = configuration
    self.readsOnly = readsOnly
    self.suspect = suspect
    executor = ThreadExecutor(name)
    self.notice = notice
  }

  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  /// Does something with the file; where this is the one that writes, once more with a new one if it is damaged.
  func perform<Value: Sendable>(
    _ body: @Sendable (SQLiteDatabase) throws(SQLiteError) -> Value
  ) throws(DirectDNSError) -> Value {
    do throws(SQLiteError) { return readsOnly ? try read(body) : try write(body) } catch {
      throw error.directDNSError(configuration.path)
    }
  }

  /// Reads one of several parts that must all be of the same file: what is in a new one says nothing about the former.
  ///
  /// - Parameters:
  ///   - former: the file of the parts before; nil for the first.
  ///   - body: what is read.
  /// - Returns: what it came to, and the file.
  /// - Throws: also when the path leads to another file by now.
  func step<Value: Sendable>(
    in former: SQLiteFile?, _ body: @Sendable (SQLiteDatabase) throws(SQLiteError) -> Value
  ) throws(DirectDNSError) -> (value: Value, file: SQLiteFile?) {
    do throws(SQLiteError) { return (try read(in: former, body), file) } catch {
      throw error.directDNSError(configuration.path)
    }
  }

  private func read<Value: Sendable>(
    in former: SQLiteFile? = nil, _ body: @Sendable (SQLiteDatabase) throws(SQLiteError) -> Value
  ) throws(SQLiteError) -> Value {
    do throws(SQLiteError) { return try lookTwice(in: former, body) } catch {
      if error == .damaged { suspect.withLock { $0 = file } }
      throw error
    }
  }

  private func write<Value: Sendable>(
    _ body: @Sendable (SQLiteDatabase) throws(SQLiteError) -> Value
  ) throws(SQLiteError) -> Value {
    do throws(SQLiteError) { return try lookTwice(body) } catch {
      guard error == .damaged, let damaged = file else { throw error }
      try setAside(damaged)
    }
    return try body(database())
  }

  /// Reads all of the file if reading has found it damaged, since what is written may lie elsewhere in it.
  private func readSuspect(_ database: SQLiteDatabase) throws(SQLiteError) {
    guard let file, suspect.withLock(\.self) == file else { return }
    try database.readAll()
    // It was put right meanwhile, or is another one under the number of the former.
    suspect.withLock { $0 = nil }
  }

  /// Set aside nothing of the file would serve again: a second look decides.
  private func lookTwice<Value: Sendable>(
    in former: SQLiteFile? = nil, _ body: @Sendable (SQLiteDatabase) throws(SQLiteError) -> Value
  ) throws(SQLiteError) -> Value {
    do throws(SQLiteError) { return try attempt(in: former, body) } catch {
      guard error.deservesSecondLook, file != nil else { throw error }
    }
    return try attempt(in: former, body)
  }

  /// A file that looks damaged, or other than it was, is closed: what SQLite remembers of it must not speak for it.
  ///
  /// So is one with a transaction that could not be rolled back.
  private func attempt<Value: Sendable>(
    in former: SQLiteFile?, _ body: @Sendable (SQLiteDatabase) throws(SQLiteError) -> Value
  ) throws(SQLiteError) -> Value {
    do throws(SQLiteError) {
      let database = try database()
      guard former == nil || file == former else { throw .replaced }
      if !readsOnly { try readSuspect(database) }
      return try body(database)
    } catch {
      if error.deservesSecondLook || open?.hasOpenTransaction == true { open = nil }
      throw error
    }
  }

  private func setAside(_ damaged: SQLiteFile) throws(SQLiteError) {
    suspect.withLock { $0 = nil }
    guard let kept = try damaged.setAside() else { return }
    let (store, place) = (DirectDNSError.quoted(configuration.path), DirectDNSError.quoted(kept))
    notice("The store \(store) was damaged. It is \(place) now, and a new one takes its place.")
  }

  /// Has the log's answers stand in the file, if that can be done now; nothing happens to a file that is not open.
  func checkpoint() {
    guard let open, file == SQLiteFile(at: configuration.path) else { return }
    // It can wait: the next one that ends does it.
    do throws(SQLiteError) { try open.checkpoint() } catch {}
  }

  private func database() throws(SQLiteError) -> SQLiteDatabase {
    if let open, file == SQLiteFile(at: configuration.path) { return open }
    open = nil
    // Looked at before it is opened: one that is replaced in between is noticed by the next call.
    file = nil
    file = try SQLiteFile.made(at: configuration.path)
    switch FileTrust(path: configuration.path) {
    case .trusted: break
    case .doubtful(let reason): notice("The store \(DirectDNSError.quoted(configuration.path)) \(reason)")
    case .refused(let reason): throw .untrusted(reason)
    }
    do throws(SQLiteError) {
      let database = try SQLiteDatabase(configuration)
      open = database
      return database
    } catch {
      guard readsOnly, error.isAboutWriting, SQLiteFile.isWhole(configuration.path) else { throw error }
      let first = error
      do throws(SQLiteError) {
        // Not kept: what others write by then would not be seen.
        return try SQLiteDatabase(configuration, isImmutable: true)
      } catch {
        // That the disk is full says more than that the file cannot be brought up to date.
        throw first == .full ? first : error
      }
    }
  }
}
