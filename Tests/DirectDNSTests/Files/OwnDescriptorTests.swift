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
    let own = unsafe open(folder / "file", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    defer { close(own) }
    for path in ["/dev/fd/\(own)", "//dev/./fd/\(own)"] {
      #expect(OwnDescriptor(named: path)?.number == own, "\(path)")
    }
  }

  @Test func `a path that is no own descriptor's, or one that is only read, is a file like any other`() throws {
    let folder = try FileFolder()
    try folder.write("text", to: "file")
    let own = unsafe open(folder / "file", O_RDONLY | O_CLOEXEC)
    defer { close(own) }
    for path in [
      "/dev/fd/\(own)", "/dev/fd/99999", "/dev/fd/-1", "/dev/fd/", "/dev/fd/1/x", "dev/fd/1", folder / "file", "",
    ] {
      #expect(OwnDescriptor(named: path) == nil, "\(path)")
    }
  }
}
