// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import DirectDNS

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

struct WarmupSourceTests {
  private func entries(_ source: WarmupSource, most: Int = .max) async throws -> [WarmupSource.Entry] {
    let all = Locked<[WarmupSource.Entry]>([])
    try await source.read { entries in
      all.withLock {
        $0 += entries
        return $0.count < most
      }
    }
    return all.withLock { $0 }
  }

  private func text(_ entry: WarmupSource.Entry) -> String {
    switch entry.content {
    case .host(let text): "\(entry.place.map { "\($0) " } ?? "")\(text)"
    case .unreadable(let reason): "\(entry.place.map { "\($0) " } ?? "")(\(reason))"
    }
  }

  @Test func `a list has no places`() async throws {
    let all = try await entries(.names(["a.example", "B.example."]))
    #expect(all.map(text) == ["a.example", "B.example."])
  }

  @Test func `a file's entries are known by file and line`() async throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "warmup-\(UUID()).txt").path()
    defer { try? FileManager.default.removeItem(atPath: path) }
    try Data("# hosts\r\na.example\r\n\r\nb.example".utf8).write(to: URL(filePath: path))
    #expect(try await entries(.file(path)).map(text) == ["\(path):2 a.example", "\(path):4 b.example"])
  }

  @Test func `a long file is read piece by piece, and no line is torn`() async throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "warmup-\(UUID()).txt").path()
    defer { try? FileManager.default.removeItem(atPath: path) }
    let names = (0..<5000).map { "host-\($0).example" }
    try Data(names.joined(separator: "\n").utf8).write(to: URL(filePath: path))
    let all = try await entries(.file(path))
    #expect(all.map(text) == names.enumerated().map { "\(path):\($0 + 1) \($1)" })
    #expect(try await entries(.file(path), most: 10).count < 2000)
  }

  @Test func `a file that is not there is an error that names it`() async throws {
    let error = await #expect(throws: DirectDNSError.self) { try await entries(.file("/nowhere/hosts.txt")) }
    #expect(error?.code == .fileUnusable)
    #expect(error?.message.contains("/nowhere/hosts.txt") == true)
  }

  #if os(Linux)
    @Test(.timeLimit(.minutes(1)))
    func `a list that nobody writes keeps no other one waiting, and its reader ends with its task`() async throws {
      let folder = try FileFolder()
      defer { withExtendedLifetime(folder) {} }
      // Each has its place before the next line, whoever else waits.
      let abandoned = (0..<20).map { number in
        let path = folder / "fifo-\(number)"
        #expect(unsafe mkfifo(path, 0o600) == 0)
        return Task.immediate { try await entries(.file(path)).count }
      }
      try folder.write("a.example\n", to: "hosts")
      let path = folder / "hosts"
      #expect(try await entries(.file(path)).map(text) == ["\(path):1 a.example"])
      for task in abandoned { task.cancel() }
      for task in abandoned {
        let error = await #expect(throws: DirectDNSError.self) { try await task.value }
        #expect(error?.code == .fileUnusable)
      }
    }
  #endif

  @Test func `text in pieces is a list, with a name of its own`() async throws {
    let pieces = AsyncStream { feed in
      for piece in ["a.exa", "mple\n# x\nb", ".example"] { feed.yield(Array(piece.utf8)) }
      feed.finish()
    }
    #expect(try await entries(.lines(pieces, name: "-")).map(text) == ["-:1 a.example", "-:3 b.example"])
  }

  @Test func `a sequence's elements are counted from 1 on`() async throws {
    let names = AsyncStream { feed in
      feed.yield("a.example")
      feed.yield("b.example")
      feed.finish()
    }
    #expect(try await entries(.sequence(names)).map(text) == ["sequence:1 a.example", "sequence:2 b.example"])
  }

  @Test func `a sequence that fails is an error that names it`() async throws {
    struct Broken: Error {}
    let names = AsyncThrowingStream<String, any Error> { $0.finish(throwing: Broken()) }
    let error = await #expect(throws: DirectDNSError.self) { try await entries(.sequence(names, name: "inventory")) }
    #expect(error?.code == .fileUnusable)
    #expect(error?.underlying is Broken)
    #expect(error?.message.contains("inventory") == true)
  }
}
