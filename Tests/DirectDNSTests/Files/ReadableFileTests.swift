// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct ReadableFileTests {
  private let folder: FileFolder

  init() throws { folder = try FileFolder() }

  @Test(arguments: [0, 1, 9, 10, 11, 1000])
  func `a file comes whole, in pieces of a size, and then nothing`(_ count: Int) throws {
    try folder.write(String(repeating: "x", count: count), to: "list")
    let file = try ReadableFile(folder / "list")
    var sizes: [Int] = []
    while case let piece = try file.read(10), !piece.isEmpty {
      #expect(piece.allSatisfy { $0 == UInt8(ascii: "x") })
      sizes.append(piece.count)
    }
    #expect(sizes.reduce(0, +) == count && sizes.allSatisfy { $0 <= 10 })
    #expect(try file.read(10).isEmpty)
  }

  @Test(arguments: [(0, 0), (9, 10), (10, 10), (11, 10), (200_000, 200_000), (200_000, 100_000)])
  func `a file comes whole, or not at all if it is longer than the limit`(_ count: Int, _ limit: Int) throws {
    try folder.write(String(repeating: "x", count: count), to: "file")
    #expect(try ReadableFile(folder / "file").readToEnd(limit: limit)?.count == (count > limit ? nil : count))
  }

  @Test func `a file has a length, and a folder has none`() throws {
    try folder.write("12345", to: "five")
    #expect(try ReadableFile(folder / "five").length == 5)
    #expect(try ReadableFile(folder.path).length == nil)
    #expect(ReadableFile.isReadable(folder / "five") && !ReadableFile.isReadable(folder / "missing"))
    #expect(ReadableFile.mayBeRegular(folder / "five"))
    #expect(!ReadableFile.mayBeRegular(folder.path) && !ReadableFile.mayBeRegular(folder / "missing"))
    // What that is cannot be known.
    #expect(ReadableFile.mayBeRegular(folder / "five/six"))
  }

  @Test func `what cannot be read is a failure with the system's reason`() throws {
    let missing = #expect(throws: FileFailure.self) { try ReadableFile(folder / "missing") }
    #expect(missing?.reason == "No such file or directory")
    let directory = try ReadableFile(folder.path)
    let failure = #expect(throws: FileFailure.self) { try directory.read(10) }
    #expect(failure?.reason == "Is a directory")
    // The system would open the file "five".
    try folder.write("12345", to: "five")
    let cut = #expect(throws: FileFailure.self) { try ReadableFile(folder / "five\0zzz") }
    #expect(cut?.reason.contains("NUL") == true)
  }
}
