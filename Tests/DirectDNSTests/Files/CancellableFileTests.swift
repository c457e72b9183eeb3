// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import DirectDNS

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

@Suite(.timeLimit(.minutes(1)))
struct CancellableFileTests {
  private let folder: FileFolder

  init() throws { folder = try FileFolder() }

  private static func text(_ file: CancellableFile, _ limit: Int = 4) throws -> String {
    String(decoding: try file.read(limit), as: UTF8.self)
  }

  @Test func `a regular file comes whole, whether or not somebody has cancelled that`() throws {
    try folder.write("12345", to: "five")
    let file = try CancellableFile(folder / "five")
    #expect(try Self.text(file) == "1234")
    file.cancel()
    #expect(try Self.text(file) == "5" && Self.text(file) == "")
  }

  @Test func `what cannot be read is a failure with the system's reason`() throws {
    let missing = #expect(throws: FileFailure.self) { try CancellableFile(folder / "missing") }
    #expect(missing?.reason == "No such file or directory")
    let directory = try CancellableFile(folder.path)
    #expect(throws: FileFailure(code: EISDIR)) { try directory.read(10) }
  }

  #if os(Linux)
    @Test func `a FIFO is waited for until somebody writes, and ends with its last writer`() async throws {
      #expect(unsafe mkfifo(folder / "fifo", 0o600) == 0)
      let file = try CancellableFile(folder / "fifo")
      let reader = Task.immediate {
        await BlockingPool("test", width: 1).run { () -> String in
          var all = ""
          while let piece = try? Self.text(file), !piece.isEmpty { all += piece }
          return all
        }
      }
      // The first one that opens it does not end it by having written nothing yet.
      let writer = unsafe open(folder / "fifo", O_WRONLY | O_CLOEXEC)
      try #require(writer >= 0)
      for piece in ["ab", "cdefgh", "i"] { #expect(unsafe write(writer, piece, piece.utf8.count) == piece.utf8.count) }
      close(writer)
      #expect(await reader.value == "abcdefghi")
    }

    @Test(arguments: [true, false])
    func `a wait at a FIFO ends when it is cancelled`(_ hasWriter: Bool) async throws {
      #expect(unsafe mkfifo(folder / "fifo", 0o600) == 0)
      let file = try CancellableFile(folder / "fifo")
      let writer = hasWriter ? unsafe open(folder / "fifo", O_WRONLY | O_CLOEXEC) : -1
      defer { if writer >= 0 { close(writer) } }
      let reader = Task.immediate {
        await BlockingPool("test", width: 1).run { Result { () throws(FileFailure) in try file.read(10) } }
      }
      file.cancel()
      #expect(await reader.value == .failure(FileFailure(code: ECANCELED)))
      // And so does the next one.
      #expect(throws: FileFailure(code: ECANCELED)) { try file.read(10) }
    }
  #endif
}
