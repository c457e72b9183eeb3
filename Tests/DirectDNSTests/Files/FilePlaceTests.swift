// SPDX-License-Identifier: Apache-2.0
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
