// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import Foundation
import Testing

@testable import DirectDNSSQLite
@testable import DirectDNSTesting

/// Files of ours that are damaged.
extension SQLiteAnswerStoreTests {
  /// The file with 2000 answers, all of which stand in it.
  private func wholeFile(_ store: SQLiteAnswerStore) async throws -> FileHandle {
    for start in stride(from: 0, to: 2000, by: 200) {
      try await store.write((start..<(start + 200)).map(answer))
    }
    // The log goes into the file.
    try raw().execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return try FileHandle(forWritingTo: URL(filePath: folder.path()))
  }

  /// Overwrites all pages but the first.
  func damage(_ store: SQLiteAnswerStore) async throws { try spoil(await wholeFile(store)) }

  private func spoil(_ file: FileHandle) throws {
    let size = try file.seekToEnd()
    try file.seek(toOffset: 4096)
    try file.write(contentsOf: Data(repeating: 0xa5, count: Int(size) - 4096))
    try file.close()
  }

  @Test func `reading leaves a damaged file as it is, and says how it is set aside`() async throws {
    let said = Watched<[String]>([])
    let store = Self.store(folder.path()) { text in said.change { $0.append(text) } }
    try await damage(store)
    let before = try Data(contentsOf: URL(filePath: folder.path()))
    let known = try question(1)
    let message =
      "The store \"\(folder.path())\" is damaged, and reading leaves it as it is. The next answer that is stored sets it aside and begins a new one, and so does dnsctl cache clear --yes of that store."
    // One that has the file open, and one that opens it.
    for reader in [store, Self.store(folder.path()) { text in said.change { $0.append(text) } }] {
      for _ in 0..<2 {
        let read = await error { () throws(DirectDNSError) in try await reader.read([known]).forget() }
        #expect(read?.message == message && read?.code == .storeFailed)
        let visited = await error { () throws(DirectDNSError) in try await reader.visit { _ in true } }
        #expect(visited?.message == message)
      }
    }
    #expect(try Data(contentsOf: URL(filePath: folder.path())) == before && folder.names == ["answers.sqlite"])
    #expect(said.value == [])
    try await store.removeAll()
    #expect(try await store.read([known]).isEmpty)
    #expect(try Data(contentsOf: URL(filePath: folder.path() + ".damaged")) == before)
    #expect(said.value.count == 1)
  }

  @Test func `what reading found damaged is set aside by writing, though that touches another part`() async throws {
    let file = try await wholeFile(store)
    // The address stands in the answer's line, which the table alone has.
    let address = IPAddress.ipv4(1500)
    let bytes = try Data(contentsOf: URL(filePath: folder.path()))
    let place = try #require(bytes.range(of: Data(" \(address)".utf8)))
    try file.seek(toOffset: UInt64(place.lowerBound / 4096 * 4096))
    try file.write(contentsOf: Data(repeating: 0xa5, count: 4096))
    try file.close()

    let fresh = Self.store(folder.path()) { _ in }
    try await fresh.write([answer(1)])
    #expect(try await fresh.read([question(1)]).count == 1)
    #expect(try folder.names == ["answers.sqlite"])
    let lost = try question(1500)
    #expect(await error { () throws(DirectDNSError) in try await fresh.read([lost]).forget() } != nil)
    #expect(try folder.names == ["answers.sqlite"])
    try await fresh.write([answer(2)])
    #expect(try await fresh.read([question(1), question(2), lost]).map(\.question) == [question(2)])
    #expect(try folder.names == ["answers.sqlite", "answers.sqlite.damaged"])
  }

  @Test func `a file that reading found damaged, and that was put right since, stays where it is`() async throws {
    let file = try await wholeFile(store)
    let sound = try Data(contentsOf: URL(filePath: folder.path()))
    try file.seek(toOffset: 4096)
    try file.write(contentsOf: Data(repeating: 0xa5, count: sound.count - 4096))
    let fresh = Self.store(folder.path())
    let known = try question(1)
    #expect(await error { () throws(DirectDNSError) in try await fresh.read([known]).forget() } != nil)
    // The same file by its number.
    try file.seek(toOffset: 0)
    try file.write(contentsOf: sound)
    try file.close()
    try await fresh.write([answer(2)])
    #expect(try await fresh.read([known, question(2)]).count == 2)
    #expect(try folder.names == ["answers.sqlite"])
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

  @Test func `a damaged file stays where it is if its log cannot be taken away, which the new one would get`() throws {
    let path = folder.path()
    try Data("damaged".utf8).write(to: URL(filePath: path))
    // No file system unlinks a folder (unlink(2)).
    try FileManager.default.createDirectory(atPath: path + "-wal", withIntermediateDirectories: false)
    let file = try #require(SQLiteFile(at: path))
    let failure = #expect(throws: SQLiteError.self) { _ = try file.setAside() }
    #expect(failure == .stuck && SQLiteFile(at: path) == file)
    #expect(try folder.names == ["answers.sqlite"])
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

  @Test func `a table that is taken away while the file is used is noticed, and the file set aside by writing`()
    async throws
  {
    let store = Self.store(folder.path()) { _ in }
    try await store.write([answer(1)])
    let known = try question(1)
    #expect(try await store.read([known]).count == 1)
    do { try raw().execute("DROP TABLE answers") }
    let failure = await error { () throws(DirectDNSError) in try await store.read([known]).forget() }
    #expect(failure?.message.contains("is damaged") == true, "\(String(describing: failure))")
    try await store.write([answer(2)])
    #expect(try await store.read([question(2)]).count == 1)
    #expect(try folder.names == ["answers.sqlite", "answers.sqlite.damaged"])
  }

  @Test func `a file that a newer version changes while it is used is left alone`() async throws {
    try await store.write([answer(1)])
    let (known, next) = (try question(1), try answer(2))
    #expect(try await store.read([known]).count == 1)
    do {
      try raw().execute(
        "DROP INDEX answers_by_end; ALTER TABLE answers RENAME COLUMN line TO text; PRAGMA user_version = 2")
    }
    let failures = [
      await error { () throws(DirectDNSError) in try await store.read([known]).forget() },
      await error { () throws(DirectDNSError) in try await store.write([next]) },
    ]
    for failure in failures {
      #expect(failure?.message.contains("is of version 2") == true, "\(String(describing: failure))")
    }
    #expect(try folder.names == ["answers.sqlite"])
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

  /// Puts a file right by hand: writes over it, or moves a sound one to where it was.
  private static func putRight(_ path: String, _ sound: Data, isMoved: Bool) {
    do {
      guard isMoved else {
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        try file.write(contentsOf: sound)
        return try file.close()
      }
      let backup = path + ".backup"
      try sound.write(to: URL(filePath: backup))
      #expect(unsafe chmod(backup, 0o600) == 0 && rename(backup, path) == 0)
    } catch { Issue.record(error) }
  }

  @Test(arguments: [false, true], [false, true])
  func `a damaged file that is put right between two looks serves, and stays where it is`(
    _ readsOnly: Bool, _ isMoved: Bool
  ) async throws {
    let (path, file) = (folder.path(), try await wholeFile(store))
    let sound = try Data(contentsOf: URL(filePath: path))
    try spoil(file)
    let said = Watched<[String]>([])
    let configuration = SQLiteStoreConfiguration(path: path)
    let worker = SQLiteWorker(configuration, "put right", readsOnly: readsOnly) { text in
      said.change { $0.append(text) }
    }
    let looks = Watched<[SQLiteError?]>([])
    let question = try question(1)
    let found = try await worker.perform { (database) throws(SQLiteError) in
      do throws(SQLiteError) {
        let found = try database.read([question])
        looks.change { $0.append(nil) }
        return found
      } catch {
        looks.change { $0.append(error) }
        Self.putRight(path, sound, isMoved: isMoved)
        throw error
      }
    }
    #expect(found.map(\.question) == [question])
    #expect(looks.value == [.damaged, nil])
    #expect(said.value == [])
    #expect(try folder.names == ["answers.sqlite"])
  }

  @Test(arguments: [false, true])
  func `a damaged file that is put right between two reads serves the second, and is written to afterwards`(
    _ isMoved: Bool
  ) async throws {
    let said = Watched<[String]>([])
    let store = Self.store(folder.path()) { text in said.change { $0.append(text) } }
    let file = try await wholeFile(store)
    let sound = try Data(contentsOf: URL(filePath: folder.path()))
    try spoil(file)
    let known = try question(1)
    #expect(await error { () throws(DirectDNSError) in try await store.read([known]).forget() } != nil)
    Self.putRight(folder.path(), sound, isMoved: isMoved)
    #expect(try await store.read([known]).map(\.question) == [known])
    try await store.write([answer(3000)])
    #expect(try await store.read([known, question(3000)]).count == 2)
    #expect(said.value == [])
    #expect(try folder.names == ["answers.sqlite"])
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
}
