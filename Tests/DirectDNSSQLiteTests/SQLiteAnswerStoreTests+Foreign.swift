// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import Foundation
import Testing

@testable import DirectDNSSQLite
@testable import DirectDNSTesting

/// Files that are another program's, or that anybody may write to.
extension SQLiteAnswerStoreTests {
  @Test(arguments: ["this is not a database, and never was one", String(repeating: "\u{0}", count: 8192), "x", "\n"])
  func `a file that is not a database is left as it is, and is an error`(_ text: String) async throws {
    try Data(text.utf8).write(to: URL(filePath: folder.path()))
    for _ in 0..<2 {
      let error = await error { () throws(DirectDNSError) in try await store.write([]) }
      let words =
        text.utf8.count == 1
        ? "is not a file that can be a database. Choose another path."
        : "is not a database. Choose another path, or move the file away if no other program needs it."
      #expect(error?.message == "The store \"\(folder.path())\" \(words)")
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

  @Test func `a file that cannot be opened is an error with the system's reason`() async throws {
    try await store.write([answer(1)])
    await store.checkpoint()
    // For the superuser, too, to whom no file is closed.
    let copy = folder.path("copy")
    try FileManager.default.copyItem(atPath: folder.path(), toPath: copy)
    try FileManager.default.createDirectory(atPath: copy + "-wal", withIntermediateDirectories: false)
    let other = try answer(2)
    let error = await error { () throws(DirectDNSError) in try await Self.store(copy).write([other]) }
    #expect(error?.message.contains("cannot be opened (Is a directory).") == true, "\(error?.message ?? "")")
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
    #expect(
      error?.message.contains("not known to be ours. Choose another path, or move the file away") == true,
      "\(error?.message ?? "")")
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
}
