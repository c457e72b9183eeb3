// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import Foundation
import Testing

@testable import DirectDNSSQLite
@testable import DirectDNSTesting

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

@Suite(.timeLimit(.minutes(1)))
struct SQLiteAnswerStoreTests {
  let folder: Folder
  let store: SQLiteAnswerStore

  init() throws {
    folder = try Folder()
    store = Self.store(folder.path())
  }

  static func store(
    _ path: String, maximumBytes: Int = 1 << 20, notice: (@Sendable (String) -> Void)? = nil
  ) -> SQLiteAnswerStore {
    SQLiteAnswerStore(
      SQLiteStoreConfiguration(path: path, maximumBytes: maximumBytes, busyTimeout: .milliseconds(100)), notice: notice)
  }

  func raw(_ name: String = "answers.sqlite") throws -> SQLiteConnection {
    try SQLiteConnection.open(SQLiteStoreConfiguration(path: folder.path(name), busyTimeout: .seconds(1)))
  }

  func question(_ number: Int) throws -> AddressQuestion {
    AddressQuestion(try HostName("host-\(number).example.net"), .ipv4)
  }

  /// The higher the number, the longer it is of use.
  func answer(_ number: Int) throws -> StoredAnswer {
    let now = SystemClock().wallNow
    return StoredAnswer(
      try question(number), .addresses([.ipv4(UInt32(number))]), provider: "one", asked: now,
      expires: now + .seconds(300), gone: now + .seconds(3000 + number))
  }

  func error(_ body: () async throws(DirectDNSError) -> Void) async -> DirectDNSError? {
    do throws(DirectDNSError) {
      try await body()
      return nil
    } catch { return error }
  }

  @Test(arguments: AnswerStoreContract.all)
  func `the contract of all stores holds`(_ promise: AnswerStoreContract) async throws {
    try await promise.check(store)
  }

  // MARK: The file

  @Test func `nothing happens to the file before it is needed`() {
    #expect(!FileManager.default.fileExists(atPath: folder.path()))
  }

  @Test func `answers outlive the store`() async throws {
    try await store.write([answer(1)])
    #expect(try await Self.store(folder.path()).read([question(1)]).map(\.question) == [question(1)])
  }

  @Test func `two stores on one file see what the other writes`() async throws {
    let other = Self.store(folder.path())
    for number in 0..<20 {
      try await (number % 2 == 0 ? store : other).write([answer(number)])
      #expect(try await (number % 2 == 0 ? other : store).read([question(number)]).count == 1)
    }
  }

  @Test func `the file and the folders made for it are their owner's alone`() async throws {
    let path = folder.path("deep/er/answers.sqlite")
    // The log is there as long as a connection is.
    let store = Self.store(path)
    try await store.write([answer(1)])
    defer { withExtendedLifetime(store) {} }
    for (path, mode) in [(path, 0o600), (path + "-wal", 0o600), (folder.path("deep"), 0o700)] {
      let attributes = try FileManager.default.attributesOfItem(atPath: path)
      #expect(attributes[.posixPermissions] as? Int == mode, "\(path)")
    }
  }

  @Test func `a file that was deleted is made again`() async throws {
    try await store.write([answer(1)])
    for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: folder.path() + suffix) }
    #expect(try await store.read([question(1)]).isEmpty)
    try await store.write([answer(2)])
    #expect(try await Self.store(folder.path()).read([question(1), question(2)]).map(\.question) == [question(2)])
  }

  /// Another process that has the deleted one open goes on using its log and index.
  @Test func `a file in a deleted one's place has a log and an index of its own`() async throws {
    try await store.write([answer(1)])
    let left = try ["-wal", "-shm"].map { try #require(SQLiteFile(at: folder.path() + $0)) }
    try FileManager.default.removeItem(atPath: folder.path())
    let other = Self.store(folder.path())
    try await other.write([answer(2)])
    let own = try ["-wal", "-shm"].map { try #require(SQLiteFile(at: folder.path() + $0)) }
    #expect(own[0] != left[0] && own[1] != left[1])
    for reader in [store, other] {
      #expect(try await reader.read([question(1), question(2)]).map(\.question) == [question(2)])
    }
  }

  @Test func `a path that cannot be is an error that names it`() async throws {
    let error = await error { () throws(DirectDNSError) in try await Self.store("/dev/null/answers").read([]).forget() }
    #expect(error?.code == .storeFailed)
    #expect(error?.message.contains("/dev/null/answers") == true)
  }

  @Test func `a path with a NUL is an error, and no file of the name before it is made`() async throws {
    let error = await error { () throws(DirectDNSError) in
      try await Self.store(folder.path("cut") + "\u{0}off").read([]).forget()
    }
    #expect(error?.code == .storeFailed && error?.message.contains("NUL") == true)
    #expect(!FileManager.default.fileExists(atPath: folder.path("cut")))
  }

  @Test func `what SQLite takes for a database in memory is an error, and no file of that name is made`() async throws {
    let error = await error { () throws(DirectDNSError) in try await Self.store(":memory:").write([]) }
    #expect(error?.code == .storeFailed && error?.message.contains("MemoryAnswerStore") == true)
    #expect(!FileManager.default.fileExists(atPath: ":memory:"))
  }

  @Test func `what SQLite takes for a URI is an error, and makes no file of that name nor the URI's`() async throws {
    let path = folder.path("answers")
    let error = await error { () throws(DirectDNSError) in try await Self.store("file:" + path).write([]) }
    #expect(error?.code == .storeFailed && error?.message.contains("is a URI") == true)
    #expect(!FileManager.default.fileExists(atPath: path) && !FileManager.default.fileExists(atPath: "file:"))
  }

  // MARK: Copies

  @Test func `a copy of the file has what was written before the checkpoint, while others use it, too`() async throws {
    let other = Self.store(folder.path())
    try await other.write([answer(0)])
    try await store.write((300..<500).map(answer))
    await store.checkpoint()
    try FileManager.default.copyItem(atPath: folder.path(), toPath: folder.path("copy.sqlite"))
    let copy = Self.store(folder.path("copy.sqlite"))
    #expect(try await copy.read([question(499), question(0)]).count == 2)
    withExtendedLifetime(other) {}
  }

  @Test func `after a checkpoint a file may be put in the place of another`() async throws {
    try await store.write((0..<2000).map(answer))
    #expect(try await store.read([question(1999)]).count == 1)
    await store.checkpoint()
    let log = try FileManager.default.attributesOfItem(atPath: folder.path() + "-wal")
    #expect(log[.size] as? NSNumber == 0)
    let other = Self.store(folder.path("other.sqlite"))
    try await other.write([answer(5000)])
    await other.checkpoint()
    // As a process that ends at once leaves it: the log is still there.
    for name in ["answers.sqlite", "answers.sqlite-wal", "answers.sqlite-shm"] {
      try FileManager.default.copyItem(
        atPath: folder.path() + name.dropFirst("answers.sqlite".count),
        toPath: folder.path("left.sqlite") + name.dropFirst("answers.sqlite".count))
    }
    let left = try FileHandle(forWritingTo: URL(filePath: folder.path("left.sqlite")))
    try left.truncate(atOffset: 0)
    try left.write(contentsOf: Data(contentsOf: URL(filePath: folder.path("other.sqlite"))))
    try left.close()
    let read = try await Self.store(folder.path("left.sqlite")).read([question(5000), question(1999)])
    #expect(try read.map(\.question) == [question(5000)])
  }

  @Test func `a checkpoint of a file that was not used makes none`() async throws {
    await store.checkpoint()
    #expect(try folder.names == [])
  }

  @Test func `a file of a newer version is left alone`() async throws {
    try await store.write([answer(1)])
    try raw().execute("PRAGMA user_version = 99")
    let error = await error { () throws(DirectDNSError) in try await Self.store(folder.path()).read([]).forget() }
    #expect(error?.message.contains("version 99") == true)
    #expect(try raw().pragma("user_version") == "99")
  }

  // MARK: Room

  @Test func `a store keeps to its size, and to what is of use for longest`() async throws {
    let store = Self.store(folder.path(), maximumBytes: 300_000)
    for start in stride(from: 0, to: 10_000, by: 250) { try await store.write((start..<(start + 250)).map(answer)) }
    #expect(try raw().usedBytes() <= 300_000)
    #expect(try await store.read([question(9999), question(0)]).map(\.question) == [question(9999)])
  }

  @Test func `what a clock that is years ahead has stamped goes before all others`() async throws {
    let store = Self.store(folder.path(), maximumBytes: 300_000)
    let ahead = try (20_000..<20_250).map { number in
      var one = try answer(number)
      let years = Duration.seconds(315_360_000)
      (one.asked, one.expires, one.gone) = (one.asked + years, one.expires + years, one.gone + years)
      return one
    }
    try await store.write(ahead)
    for start in stride(from: 0, to: 10_000, by: 250) { try await store.write((start..<(start + 250)).map(answer)) }
    #expect(try raw().usedBytes() <= 300_000)
    #expect(try await store.read(ahead.map(\.question)).isEmpty)
    #expect(try await store.read([question(9999)]).count == 1)
  }

  @Test func `a file that another bound let become far larger shrinks by a part of it with each write`() async throws {
    let large = Self.store(folder.path(), maximumBytes: 1 << 30)
    for start in stride(from: 0, to: 20_000, by: 250) { try await large.write((start..<(start + 250)).map(answer)) }
    let store = Self.store(folder.path(), maximumBytes: 300_000)
    try await store.write([answer(20_000)])
    let count = try await store.allAnswers().count
    #expect(count < 20_000 && count > 20_000 - 8 * 1024)
    for number in 20_001...20_006 { try await store.write([answer(number)]) }
    #expect(try raw().usedBytes() <= 300_000)
    #expect(try await store.read([question(20_006), question(0)]).map(\.question) == [question(20_006)])
  }

  @Test(arguments: [false, true])
  func `a store says how many that were asked for since it was made it has let go`(_ areOld: Bool) async throws {
    let store = Self.store(folder.path(), maximumBytes: 300_000)
    let asked = SystemClock().wallNow + .seconds(areOld ? -60 : 60)
    for start in stride(from: 0, to: 10_000, by: 250) {
      try await store.write(
        (start..<(start + 250)).map { number in
          var one = try answer(number)
          one.asked = asked
          return one
        })
    }
    let count = try await store.allAnswers().count
    #expect(count > 0 && count < 10_000)
    #expect(store.evicted == (areOld ? 0 : 10_000 - count))
  }

  @Test func `a writer that another process keeps waiting gives up, and readers do not wait`() async throws {
    try await store.write([answer(1)])
    let other = try raw()
    try other.execute("BEGIN IMMEDIATE")
    let error = await error { () throws(DirectDNSError) in try await store.removeAll() }
    #expect(error?.message.contains("another process") == true)
    #expect(try await store.read([question(1)]).count == 1)
    try other.execute("ROLLBACK")
    try await store.removeAll()
    #expect(try await store.read([question(1)]).isEmpty)
  }

  @Test func `what could not be rolled back, as for want of memory, keeps nobody from writing`() async throws {
    let worker = SQLiteWorker(SQLiteStoreConfiguration(path: folder.path()), "left open") { _ in }
    let failure = await error { () throws(DirectDNSError) in
      try await worker.perform { (database) throws(SQLiteError) -> Void in
        try database.connection.execute("BEGIN IMMEDIATE")
        throw .noMemory
      }
    }
    #expect(failure?.message.contains("want of memory") == true)
    try await store.write([answer(1)])
    #expect(try await store.read([question(1)]).count == 1)
  }

  /// A try waits for the second itself: a hundred of them would last longer than this suite may.
  @Test func `a file that a reader keeps from having a log is given up in time`() async throws {
    let configuration = SQLiteStoreConfiguration(path: folder.path(), busyTimeout: .seconds(1))
    _ = try SQLiteDatabase(configuration)
    let other = try raw()
    try other.execute("PRAGMA journal_mode = DELETE; BEGIN; SELECT count(*) FROM answers")
    let (store, asked) = (SQLiteAnswerStore(configuration), try question(1))
    let error = await error { () throws(DirectDNSError) in try await store.read([asked]).forget() }
    #expect(error?.message.contains("another process") == true)
    try other.execute("COMMIT")
    #expect(try await store.read([asked]).isEmpty)
  }

  // MARK: Versions

  @Test func `a file of an older version is brought up to date, with what is in it`() async throws {
    try await store.write([answer(1)])
    let steps = SQLiteSchema.steps + ["ALTER TABLE answers ADD COLUMN hits INTEGER NOT NULL DEFAULT 0"]
    let configuration = SQLiteStoreConfiguration(path: folder.path())
    let database = try SQLiteDatabase(configuration, steps: steps)
    #expect(try database.read([question(1)]).count == 1)
    #expect(try raw().pragma("user_version") == "\(steps.count)")
    try raw().execute("UPDATE answers SET hits = hits + 1")
  }

  @Test(arguments: [(0, true, 2), (1, false, 1), (2, false, 0)])
  func `the steps that lack are taken`(_ version: Int64, _ isEmpty: Bool, _ count: Int) throws {
    let steps = try SQLiteSchema.missing(
      version: version, applicationID: isEmpty ? 0 : SQLiteSchema.applicationID, isEmpty: isEmpty, steps: ["a", "b"])
    #expect(steps.count == count)
    #expect(steps.last == (count == 0 ? nil : "b"))
  }
}

extension [StoredAnswer] {
  /// Reads that are made for their errors.
  func forget() {}
}
