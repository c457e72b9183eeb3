// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

struct OwnDescriptorTests {
  @Test func `a path names a descriptor in each of its spellings`() throws {
    let folder = try FileFolder()
    let own = unsafe open(folder / "file", O_WRONLY | O_CREAT, 0o600)
    defer { close(own) }
    for path in ["/dev/fd/\(own)", "//dev/./fd/\(own)"] {
      #expect(try OwnDescriptor(named: path)?.number == own, "\(path)")
    }
  }

  @Test(arguments: [
    ("/dev/fd/7", 7), ("-o/proc/self/fd/12", 12), ("--output=/dev/fd/3/.", 3), ("7", 7), ("-", nil), ("", nil),
    ("/", nil),
    ("/dev/fd/7x", nil), ("/dev/fd/99999999999", nil), ("https://a.example/b", nil),
  ])
  func `the number in a word of the command line is its last part`(_ word: String, _ number: Int32?) {
    #expect(OwnDescriptor.lastNumber(word) == number)
  }

  @Test(arguments: [O_WRONLY, O_RDWR, O_RDONLY])
  func `a descriptor that this process has opened by itself is none to write to, nor is its file`(_ flag: Int32) throws
  {
    let folder = try FileFolder()
    try folder.write("text", to: "file")
    let ours = unsafe open(folder / "file", flag | O_CLOEXEC)
    defer { close(ours) }
    let path = "/dev/fd/\(ours)"
    let refusal = FileFailure(code: EBADF)
    #expect(throws: refusal) { try OwnDescriptor(named: path) == nil }
    #expect(throws: refusal) { try PathTarget(path) }
    #expect(throws: refusal) { try WritableFile.inPlace(path, isLink: true, isPrivate: false).path }
    #expect(throws: refusal) { try WritableFile.toContinue(path)?.path }
    #expect(try folder.read("file") == "text")
  }

  @Test func `a path that is no own descriptor's, or one that is only read, is a file like any other`() throws {
    let folder = try FileFolder()
    try folder.write("text", to: "file")
    let own = unsafe open(folder / "file", O_RDONLY)
    defer { close(own) }
    for path in [
      "/dev/fd/\(own)", "/dev/fd/99999", "/dev/fd/-1", "/dev/fd/", "/dev/fd/1/x", "dev/fd/1", folder / "file", "",
    ] {
      #expect(try OwnDescriptor(named: path) == nil, "\(path)")
    }
  }
}
