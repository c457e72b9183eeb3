// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import Foundation
import Testing

@testable import DirectDNSSQLite
@testable import DirectDNSTesting

/// Files and rows that are damaged.
extension SQLiteAnswerStoreTests {
  // MARK: Damage

  @Test(arguments: ["this is not a database, and never was one", String(repeating: "\u{0}", count: 8192), "x", "\n"])
  func `a file that is not a database is left as it is, and is an error`(_ text: String) async throws {
    try Data(text.utf8).write(to: URL(filePath: folder.path()))
    for _ in 0..<2 {
      let error = await error { () throws(DirectDNSError) in try await store.write([]) }
      let reason = text.utf8.count == 1 ? "is not a file that can be a database" : "is not a database"
      #expect(error?.message == "The store \"\(folder.path())\" \(reason). Choose another path.")
    }
    #expect(try Data(contentsOf: URL(filePath: folder.path())) == Data(text.utf8))
    #expect(try folder.names == ["answers.sqlite"])
  }

  @Test func `what is no file at all is an error, and stays what it is`() async throws {
    #expect(unsafe mkfifo(folder.path(), 0o600) == 0)
    try FileManager.default.createSymbolicLink(atPath: folder.path("nowhere"), withDestinationPath: "none")
    for (name, reason) in [
      ("answers.sqlite", "is not a file that can be a database"), ("nowhere", "it is a link that leads nowhere"),
      ("", "is not a file that can be a database"),
    ] {
      let error = await error { () throws(DirectDNSError) in
        try await Self.store(folder.path(name)).read([]).forget()
      }
      #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
    }
    #expect(try folder.names == ["answers.sqlite", "nowhere"])
  }

  /// Overwrites all pages but the first.
  private func damage(_ store: SQLiteAnswerStore) async throws {
    for start in stride(from: 0, to: 2000, by: 200) {
      try await store.write((start..<(start + 200)).map(answer))
    }
    // The log goes into the file.
    try raw().execute("PRAGMA wal_checkpoint(TRUNCATE)")
    let file = try FileHandle(forWritingTo: URL(filePath: folder.path()))
    let size = try file.seekToEnd()
    try file.seek(toOffset: 4096)
    try file.write(contentsOf: Data(repeating: 0xa5, count: Int(size) - 4096))
    try file.close()
  }

  @Test func `a file of ours that is damaged while it is used is set aside, and both threads go on with the new one`()
    async throws
  {
    let said = Watched<[String]>([])
    let store = Self.store(folder.path()) { text in said.change { $0.append(text) } }
    try await damage(store)
    let fresh = Self.store(folder.path()) { text in said.change { $0.append(text) } }
    try await fresh.write([answer(1)])
    #expect(try await fresh.read([question(1)]).count == 1)
    try await store.write([answer(2)])
    #expect(try await store.read([question(1), question(2)]).count == 2)
    #expect(FileManager.default.fileExists(atPath: folder.path() + ".damaged"))
    let path = folder.path()
    #expect(
      said.value == [
        "The store \"\(path)\" was damaged. It is \"\(path).damaged\" now, and a new one takes its place."
      ])
  }

  @Test func `a visit of a damaged file fails, and the next one shows the new file`() async throws {
    let store = Self.store(folder.path()) { _ in }
    try await damage(store)
    let replaced =
      "The store \"\(folder.path())\" was replaced while it was read, so not all of it was seen. Do it again if the file there now is the right one."
    // One that has the file open, and one that opens it.
    for reader in [store, Self.store(folder.path()) { _ in }] {
      let failed = await error { () throws(DirectDNSError) in try await reader.visit { _ in true } }
      #expect(failed?.message == replaced && failed?.code == .storeFailed)
      try await reader.visit { _ in true }
      try await damage(reader)
    }
  }

  @Test(arguments: ["removed", "replaced", "damaged"])
  func `a visit fails when the file is no longer what its first page was of`(_ fate: String) async throws {
    let store = Self.store(folder.path()) { _ in }
    try await store.write((0..<600).map(answer))
    try await Self.store(folder.path("other")).write([answer(1)])
    let pages = Watched(0)
    let failed = await error { () throws(DirectDNSError) in
      try await store.visit { _ in
        let isFirst = pages.change { count in
          count += 1
          return count == 1
        }
        guard isFirst else { return true }
        do {
          switch fate {
          case "damaged": try await damage(store)
          case "removed": try FileManager.default.removeItem(atPath: folder.path())
          default: #expect(unsafe rename(folder.path("other"), folder.path()) == 0)
          }
        } catch { Issue.record(error) }
        return true
      }
    }
    #expect(failed?.message.contains("was replaced while it was read") == true, "\(failed?.message ?? "none")")
  }

  @Test(arguments: [
    "DROP TABLE answers", "DROP INDEX answers_by_end; ALTER TABLE answers RENAME COLUMN line TO text",
  ])
  func `a file of ours whose table is another one is damaged`(_ change: String) async throws {
    try await store.write([answer(1)])
    do { try raw().execute(change) }
    let fresh = Self.store(folder.path()) { _ in }
    try await fresh.write([answer(2)])
    #expect(try await fresh.read([question(2)]).count == 1)
    #expect(FileManager.default.fileExists(atPath: folder.path() + ".damaged"))
  }

  @Test func `a file that looks damaged once, as when a page cannot be read, stays where it is`() async throws {
    try await store.write([answer(1)])
    let said = Watched<[String]>([])
    let configuration = SQLiteStoreConfiguration(path: folder.path())
    let worker = SQLiteWorker(configuration, "second look") { text in said.change { $0.append(text) } }
    let looks = Watched(0)
    let question = try question(1)
    let found = try await worker.perform { (database) throws(SQLiteError) in
      let isFirst = looks.change { count in
        count += 1
        return count == 1
      }
      if isFirst { throw .damaged }
      return try database.read([question])
    }
    #expect(found.count == 1)
    #expect(looks.value == 2)
    #expect(said.value == [])
    #expect(!FileManager.default.fileExists(atPath: folder.path() + ".damaged"))
  }

  @Test func `a damaged file never takes the place of an older one, and at most nine are kept`() async throws {
    try Data("older".utf8).write(to: URL(filePath: folder.path() + ".damaged"))
    for number in 2...10 {
      try await damage(Self.store(folder.path()))
      let store = Self.store(folder.path())
      guard number < 10 else {
        let answer = try answer(1)
        let error = await error { () throws(DirectDNSError) in try await store.write([answer]) }
        #expect(error?.message.contains("Remove it, or the damaged ones beside it.") == true)
        continue
      }
      try await store.write([answer(1)])
      #expect(FileManager.default.fileExists(atPath: folder.path() + ".damaged-\(number)"))
    }
    #expect(try Data(contentsOf: URL(filePath: folder.path() + ".damaged")) == Data("older".utf8))
  }

  @Test func `a damaged file under a link is set aside where it lies`() async throws {
    try await store.write([answer(1)])
    let link = folder.path("link")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "answers.sqlite")
    try await damage(Self.store(link))
    try await Self.store(link).write([answer(1)])
    #expect(try await Self.store(folder.path()).read([question(1)]).count == 1)
    #expect(try folder.names.contains("answers.sqlite.damaged"))
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "answers.sqlite")
  }

  @Test func `a line that is damaged is no answer`() async throws {
    try await store.write([answer(1), answer(2)])
    try raw().execute("UPDATE answers SET line = 'x' WHERE host = 'host-1.example.net'")
    #expect(try await store.read([question(1), question(2)]).map(\.question) == [question(2)])
    try await store.visit { page in page.count == 1 }
  }

  @Test(
    arguments: [
      "CREATE TABLE bookmarks (url TEXT); INSERT INTO bookmarks VALUES ('https://example.net')",
      "PRAGMA application_id = 7; VACUUM", "PRAGMA user_version = 3; VACUUM",
    ], ["DELETE", "TRUNCATE", "WAL"])
  func `another program's database is left as it is, its journal too`(_ sql: String, _ mode: String) async throws {
    do {
      let theirs = try raw()
      try theirs.execute("PRAGMA journal_mode = \(mode); \(sql)")
    }
    let before = try Data(contentsOf: URL(filePath: folder.path()))
    for _ in 0..<2 {
      let error = await error { () throws(DirectDNSError) in try await Self.store(folder.path()).write([]) }
      #expect(error?.message.contains("another program") == true)
    }
    #expect(try Data(contentsOf: URL(filePath: folder.path())) == before)
    #expect(try raw().pragma("journal_mode") == (mode == "WAL" ? "wal" : "delete"))
    #expect(try folder.names == ["answers.sqlite"])
  }

  @Test func `another program's database is not set aside where it is damaged`() async throws {
    do {
      let theirs = try raw()
      try theirs.execute("CREATE TABLE a (b); INSERT INTO a VALUES (zeroblob(9000))")
    }
    let file = try FileHandle(forWritingTo: URL(filePath: folder.path()))
    try file.seek(toOffset: 100)
    try file.write(contentsOf: Data(repeating: 0xa5, count: 2000))
    try file.close()
    let before = try Data(contentsOf: URL(filePath: folder.path()))
    let error = await error { () throws(DirectDNSError) in try await store.write([]) }
    #expect(error?.message.contains("not known to be ours") == true, "\(error?.message ?? "")")
    #expect(try Data(contentsOf: URL(filePath: folder.path())) == before && folder.names == ["answers.sqlite"])
  }

  @Test(arguments: [false, true])
  func `a database that was cut off is set aside where it is ours, and left where it is not`(_ isOurs: Bool)
    async throws
  {
    do {
      let database = try raw()
      if isOurs { try database.execute("PRAGMA application_id = \(SQLiteSchema.applicationID)") }
      try database.execute("CREATE TABLE a (b); INSERT INTO a VALUES (zeroblob(90000))")
    }
    let file = try FileHandle(forWritingTo: URL(filePath: folder.path()))
    try file.truncate(atOffset: 6000)
    try file.close()
    let before = try Data(contentsOf: URL(filePath: folder.path()))
    let error = await error { () throws(DirectDNSError) in try await store.write([]) }
    if isOurs {
      #expect(error == nil && FileManager.default.fileExists(atPath: folder.path() + ".damaged"))
    } else {
      #expect(error?.message.contains("not known to be ours") == true, "\(error?.message ?? "")")
      #expect(try Data(contentsOf: URL(filePath: folder.path())) == before && folder.names == ["answers.sqlite"])
    }
  }

  @Test func `a file that everybody may write to is refused, and one that a group may write to is warned of once`()
    async throws
  {
    try await store.write([answer(1)])
    #expect(unsafe chmod(folder.path(), 0o666) == 0)
    let refused = await error { () throws(DirectDNSError) in try await Self.store(folder.path()).read([]).forget() }
    #expect(
      refused?.message
        == "The store \"\(folder.path())\" may be written to by everybody (mode 666), so anybody can say where names lead. Run chmod go-w on it."
    )
    guard geteuid() == 0 else { return }
    #expect(unsafe chmod(folder.path(), 0o660) == 0 && chown(folder.path(), 0, 12345) == 0)
    let said = Watched<[String]>([])
    let shared = Self.store(folder.path()) { text in said.change { $0.append(text) } }
    #expect(try await shared.read([question(1)]).count == 1)
    try await shared.write([answer(2)])
    #expect(said.value.count == 1 && said.value.first?.contains("may be written to by group 12345") == true)
  }

  // MARK: Rows of others

  @Test(arguments: [
    "'HOST-' || n || '.Example.NET'", "'host-' || n || '.example.net.'", "'host ' || n",
    "CAST(x'ff' || CAST(n AS BLOB) AS TEXT)", "CAST('host-' || n || '.example.net' AS BLOB)", "'a' || char(0) || n",
  ])
  func `rows that no question finds are passed over, and a visit ends`(_ host: String) async throws {
    try await store.write([answer(1), answer(2)])
    let line = try answer(3).text
    try raw().execute(
      """
      WITH RECURSIVE numbers(n) AS (SELECT 1000 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1599)
      INSERT INTO answers (host, family, gone, line) SELECT \(host), 4, 9999999999999, '\(line)' FROM numbers
      """)
    let (seen, pages) = (Watched<[AddressQuestion]>([]), Watched(0))
    try await store.visit { page in
      seen.change { $0 += page.map(\.question) }
      pages.change { $0 += 1 }
      return pages.value < 20
    }
    #expect(try seen.value.sorted { $0.host < $1.host } == [question(1), question(2)])
  }

  @Test(arguments: ["5", "'x'", "6.5", "x'06'"])
  func `families that there are not are passed over, and a visit ends`(_ family: String) async throws {
    try await store.write([answer(1)])
    let line = try answer(3).text
    try raw().execute(
      """
      WITH RECURSIVE numbers(n) AS (SELECT 1000 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1255)
      INSERT INTO answers (host, family, gone, line)
        SELECT 'a' || n || '.example.net', \(family), 9999999999999, '\(line)' FROM numbers
      """)
    let seen = Watched<[AddressQuestion]>([])
    try await store.visit { page in
      seen.change { $0 += page.map(\.question) }
      return true
    }
    #expect(seen.value == [try question(1)])
  }
}
