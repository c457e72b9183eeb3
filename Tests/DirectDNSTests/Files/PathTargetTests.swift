// SPDX-License-Identifier: Apache-2.0
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
