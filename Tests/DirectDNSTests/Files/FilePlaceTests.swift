// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import DirectDNS

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

@Suite struct FilePlaceTests {
  @Test func `what a path leads to says how it is written`() throws {
    let folder = try FileFolder()
    #expect(try FilePlace(folder / "none") == .free)
    try folder.write("", to: "file", mode: 0o640)
    #expect(
      try FilePlace(folder / "file")
        == .file(FileRights(owner: geteuid(), group: getegid(), mode: 0o640), hasOtherNames: false))
    #expect(unsafe link(folder / "file", folder / "other") == 0)
    guard case .file(_, hasOtherNames: true) = try FilePlace(folder / "file") else {
      Issue.record("a file of two names is taken for one that can be replaced")
      return
    }
    #expect(unsafe symlink("file", folder / "link") == 0 && symlink("none", folder / "nowhere") == 0)
    #expect(try FilePlace(folder / "link") == .through(isLink: true))
    #expect(try FilePlace(folder / "nowhere") == .through(isLink: true))
    close(folder.makeFIFO("fifo"))
    #expect(try FilePlace(folder / "fifo") == .through(isLink: false))
  }

  @Test func `a path that cannot be is the system's error`() throws {
    let folder = try FileFolder()
    try folder.write("", to: "file")
    let failure = #expect(throws: FileFailure.self) { try FilePlace(folder / "file/x") }
    #expect(failure?.reason == "Not a directory")
  }

  @Test(.enabled(if: geteuid() == 0, "only root can plant another user's link"))
  func `a link of another user is refused`() throws {
    let folder = try FileFolder()
    #expect(unsafe symlink("file", folder / "link") == 0 && lchown(folder / "link", 12345, 12345) == 0)
    let failure = #expect(throws: FileFailure.self) { try FilePlace(folder / "link") }
    #expect(failure?.reason == "it is a link of user 12345. Name the file that it leads to")
  }
}

@Suite struct `A file's stamp` {
  private let folder: FileFolder

  init() throws { folder = try FileFolder() }

  @Test func `is the same while nothing happens, and nothing where there is no file`() throws {
    try folder.write("{}", to: "a")
    #expect(FileStamp(of: folder / "a") == FileStamp(of: folder / "a"))
    #expect(FileStamp(of: folder / "b") == nil)
  }

  @Test func `is another after a write in place, a file moved into place, and a swapped link`() throws {
    try folder.write("{}", to: "a")
    var last = FileStamp(of: folder / "a")
    func expectAnother() {
      let now = FileStamp(of: folder / "a")
      #expect(now != nil && now != last)
      last = now
    }
    try folder.write("{  }", to: "a")
    expectAnother()
    // An editor's way: the same length, and perhaps the same moment.
    try folder.write("{  }", to: "a.new")
    try move("a.new", onto: "a")
    expectAnother()
    // A ConfigMap's way: a link to a link to a folder.
    try FileManager.default.createDirectory(atPath: folder / "1", withIntermediateDirectories: false)
    try FileManager.default.createDirectory(atPath: folder / "2", withIntermediateDirectories: false)
    try folder.write("{  }", to: "1/a")
    try folder.write("{  }", to: "2/a")
    try link("..data", to: "1")
    try link("a", to: "..data/a")
    expectAnother()
    try link("..data", to: "2")
    expectAnother()
  }

  /// Moves a file in the place of another, in one step.
  private func move(_ name: String, onto other: String) throws {
    guard unsafe rename(folder / name, folder / other) == 0 else { throw CocoaError(.fileWriteUnknown) }
  }

  /// Makes a link, in one step where there is one of that name.
  private func link(_ name: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(atPath: folder / "link.new", withDestinationPath: target)
    try move("link.new", onto: name)
  }
}
