// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSSQLite
import Foundation
import Testing

@testable import DirectDNSTesting

@Suite(.enabled(if: SmallDisk.isPossible, "only root can mount a small disk"), .timeLimit(.minutes(1)))
struct FullDiskTests {
  private func answers(_ numbers: Range<Int>) -> [StoredAnswer] {
    numbers.map { AnswerStoreContract.answer(AnswerStoreContract.a("host-\($0).example.net"), "192.0.2.1") }
  }

  /// A log beside the file, and its index, are what cannot be made.
  @Test(arguments: [false, true]) func `a file alone is read where nothing can be made beside it`(
    _ isFull: Bool
  ) async throws {
    let folder = try Folder()
    #expect(SmallDisk.mount(at: folder.url, size: "1m"))
    defer { SmallDisk.unmount(folder.url) }
    let known = answers(0..<2)
    let origin = try Folder()
    let writer = SQLiteAnswerStore(SQLiteStoreConfiguration(path: origin.path()))
    try await writer.write(known)
    await writer.checkpoint()
    let path = folder.path()
    try FileManager.default.copyItem(atPath: origin.path(), toPath: path)
    if isFull {
      try fill(folder)
    } else {
      #expect(SmallDisk.makeReadOnly(folder.url))
    }
    let store = SQLiteAnswerStore(SQLiteStoreConfiguration(path: path))
    for _ in 0..<2 { #expect(try await store.read(known.map(\.question)) == known) }
    var failure: DirectDNSError?
    do throws(DirectDNSError) { try await store.write(answers(2..<3)) } catch { failure = error }
    #expect(failure?.code == .storeFailed)
    if isFull { #expect(failure?.message.contains("full") == true, "\(failure?.message ?? "")") }
  }

  @Test func `a file with a change in it that has to be undone is not read as it stands`() async throws {
    let folder = try Folder()
    #expect(SmallDisk.mount(at: folder.url, size: "1m"))
    defer { SmallDisk.unmount(folder.url) }
    let known = answers(0..<2)
    let origin = try Folder()
    let writer = SQLiteAnswerStore(SQLiteStoreConfiguration(path: origin.path()))
    try await writer.write(known)
    await writer.checkpoint()
    try FileManager.default.copyItem(atPath: origin.path(), toPath: folder.path())
    // SQLite looks at the first byte (hasHotJournal in pager.c).
    try Data([0xd9]).write(to: folder.url.appending(path: "answers.sqlite-journal"))
    #expect(SmallDisk.makeReadOnly(folder.url))
    let store = SQLiteAnswerStore(SQLiteStoreConfiguration(path: folder.path()))
    let failure = await #expect(throws: DirectDNSError.self) { _ = try await store.read(known.map(\.question)) }
    #expect(failure?.message.contains("cannot be opened") == true, "\(String(describing: failure))")
  }

  private func fill(_ folder: Folder) throws {
    #expect(FileManager.default.createFile(atPath: folder.url.path + "/ballast", contents: nil))
    let file = try FileHandle(forWritingTo: folder.url.appending(path: "ballast"))
    while (try? file.write(contentsOf: Data(count: 4096))) != nil {}
    while (try? file.write(contentsOf: Data(count: 1))) != nil {}
    try file.close()
  }

  @Test func `a store that cannot be begun because the disk is full says so whatever is done first`() async throws {
    let folder = try Folder()
    #expect(SmallDisk.mount(at: folder.url, size: "1m"))
    defer { SmallDisk.unmount(folder.url) }
    try fill(folder)
    for _ in 0..<2 {
      var failure: DirectDNSError?
      let store = SQLiteAnswerStore(SQLiteStoreConfiguration(path: folder.path()))
      do throws(DirectDNSError) { _ = try await store.read(answers(0..<1).map(\.question)) } catch { failure = error }
      #expect(failure?.message.contains("the disk is full") == true, "\(failure?.message ?? "nothing failed")")
    }
  }

  @Test func `a full disk is an error in words, reading goes on, and so does writing once there is room`() async throws
  {
    let folder = try Folder()
    #expect(SmallDisk.mount(at: folder.url, size: "1m"))
    defer { SmallDisk.unmount(folder.url) }
    let store = SQLiteAnswerStore(SQLiteStoreConfiguration(path: folder.path()))
    let first = answers(0..<1)
    try await store.write(first)
    let ballast = folder.url.appending(path: "ballast")
    try Data().write(to: ballast)
    let file = try FileHandle(forWritingTo: ballast)
    for _ in 0..<1024 { guard (try? file.write(contentsOf: Data(count: 1024))) != nil else { break } }
    try file.close()
    var failure: DirectDNSError?
    for start in stride(from: 1, to: 4000, by: 20) where failure == nil {
      do throws(DirectDNSError) { try await store.write(answers(start..<(start + 20))) } catch { failure = error }
    }
    #expect(failure?.code == .storeFailed)
    #expect(failure?.message.contains("full") == true, "\(failure?.message ?? "nothing failed")")
    #expect(try await store.read(first.map(\.question)) == first)
    try FileManager.default.removeItem(at: ballast)
    let last = answers(4000..<4001)
    try await store.write(last)
    #expect(try await store.read(last.map(\.question)) == last)
  }
}
