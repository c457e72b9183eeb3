// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

@testable import DirectDNS

@Suite struct PathTargetTests {
  @Test func `what a path leads to says how it is written`() throws {
    let folder = try FileFolder()
    #expect(try PathTarget(folder / "none") == .missing)
    try folder.write("", to: "file", mode: 0o640)
    #expect(
      try PathTarget(folder / "file")
        == .file(FileRights(owner: geteuid(), group: getegid(), mode: 0o640), hasOtherNames: false))
    #expect(unsafe link(folder / "file", folder / "other") == 0)
    guard case .file(_, hasOtherNames: true) = try PathTarget(folder / "file") else {
      Issue.record("a file of two names is taken for one that can be replaced")
      return
    }
    #expect(unsafe symlink("file", folder / "link") == 0 && symlink("none", folder / "nowhere") == 0)
    #expect(try PathTarget(folder / "link") == .inPlace(isLink: true))
    #expect(try PathTarget(folder / "nowhere") == .inPlace(isLink: true))
    close(folder.makeFIFO("fifo"))
    #expect(try PathTarget(folder / "fifo") == .inPlace(isLink: false))
  }

  @Test func `a path that cannot be is the system's error`() throws {
    let folder = try FileFolder()
    try folder.write("", to: "file")
    let failure = #expect(throws: FileFailure.self) { try PathTarget(folder / "file/x") }
    #expect(failure?.reason == "Not a directory")
  }

  @Test(.enabled(if: geteuid() == 0, "only root can plant another user's link"))
  func `a link of another user is refused`() throws {
    let folder = try FileFolder()
    #expect(unsafe symlink("file", folder / "link") == 0 && lchown(folder / "link", 12345, 12345) == 0)
    let failure = #expect(throws: FileFailure.self) { try PathTarget(folder / "link") }
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

@Suite struct FileTrustTests {
  enum Word { case trusted, doubtful, refused }

  private func word(_ trust: FileTrust) -> Word {
    switch trust {
    case .trusted: .trusted
    case .doubtful: .doubtful
    case .refused: .refused
    }
  }

  @Test(
    arguments: [
      // The user's own and the superuser's.
      (1000, 1000, 0o600, .trusted), (1000, 100, 0o644, .trusted), (0, 0, 0o644, .trusted), (0, 0, 0o444, .trusted),
      // A group of the owner's own number, as many systems give each user one.
      (1000, 1000, 0o664, .trusted), (0, 0, 0o664, .trusted),
      (1000, 100, 0o664, .doubtful), (0, 1000, 0o660, .doubtful), (1001, 1001, 0o600, .doubtful),
      (1001, 1001, 0o644, .doubtful), (1000, 1000, 0o666, .refused), (0, 0, 0o602, .refused),
      (1001, 1, 0o777, .refused),
    ] as [(UInt32, UInt32, UInt32, Word)])
  func `who may write to a file decides whether it is gone by`(
    _ owner: UInt32, _ group: UInt32, _ mode: UInt32, _ expected: Word
  ) {
    #expect(word(FileTrust(FileRights(owner: owner, group: group, mode: mode), user: 1000)) == expected)
  }

  @Test func `what is said names the mode, the group or the owner, and what to do`() {
    #expect(
      FileTrust(FileRights(owner: 7, group: 7, mode: 0o666), user: 7)
        == .refused(
          "may be written to by everybody (mode 666), so anybody can say where names lead. Run chmod go-w on it."))
    #expect(
      FileTrust(FileRights(owner: 8, group: 8, mode: 0o600), user: 7)
        == .doubtful("belongs to user 8, who can say where names lead. Make user 7 or root its owner."))
    #expect(
      FileTrust(FileRights(owner: 7, group: 8, mode: 0o660), user: 7)
        == .doubtful("may be written to by group 8, whose members can say where names lead. Run chmod g-w on it."))
  }

  @Test func `a file is checked through links, and what is no file is not`() throws {
    let folder = try FileFolder()
    try folder.write("", to: "open", mode: 0o666)
    #expect(unsafe symlink("open", folder / "link") == 0)
    #expect(word(FileTrust(path: folder / "link")) == .refused)
    try folder.write("", to: "closed", mode: 0o600)
    #expect(FileTrust(path: folder / "closed") == .trusted)
    #expect(FileTrust(path: folder / "none") == .trusted)
    #expect(FileTrust(path: "/dev/null") == .trusted)
  }
}
