// SPDX-License-Identifier: Apache-2.0
import Testing

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

@testable import DirectDNS

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
