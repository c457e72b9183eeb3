// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import Testing

@testable import DirectDNSProxy

@Suite("Who may use a proxy")
struct ProxyUsersTests {
  @Test func `a user of htpasswd is right with the password alone`() throws {
    let users = try ProxyUsers(lines: "# people\n\nann:\(TestHashes.bcrypt)\r\nbob:\(TestHashes.sha512):extra\n")
    for name in ["ann", "bob"] {
      #expect(users.quickCheck(name, TestHashes.password) == .needsHash)
      #expect(!users.checkHash(name, "another"))
      #expect(users.checkHash(name, TestHashes.password))
      #expect(users.quickCheck(name, TestHashes.password) == .correct)
      #expect(users.quickCheck(name, "another") == .needsHash)
    }
    #expect(!users.checkHash("eve", TestHashes.password))
    #expect(users.quickCheck("eve", TestHashes.password) == .needsHash)
  }

  /// Otherwise anybody could find out which names there are.
  @Test func `a name that there is not takes as long as a wrong password`() throws {
    let users = try ProxyUsers(lines: "ann:\(TestHashes.sha512)")
    // The least of several times: others may have the processor in between.
    func time(_ name: String) -> Duration {
      (0..<5).map { _ in ContinuousClock().measure { #expect(!users.checkHash(name, "wrong")) } }.min() ?? .zero
    }
    let (known, unknown) = (time("ann"), time("eve"))
    #expect(unknown > known / 4 && known > unknown / 4, "\(known), \(unknown)")
  }

  @Test func `users that replace others know the passwords that were right of the same hashes, and no others`() throws {
    let old = try ProxyUsers(lines: ["ann", "bob", "eve"].map { "\($0):\(TestHashes.bcrypt)\n" }.joined())
    for name in ["ann", "bob", "eve"] { #expect(old.checkHash(name, TestHashes.password)) }
    let new = try ProxyUsers(lines: "ann:\(TestHashes.bcrypt)\nbob:\(TestHashes.sha512)\n")
    new.replace(old)
    #expect(new.quickCheck("ann", TestHashes.password) == .correct && new.quickCheck("ann", "another") == .needsHash)
    #expect(new.quickCheck("bob", TestHashes.password) == .needsHash)
    #expect(new.quickCheck("eve", TestHashes.password) == .needsHash)
    #expect(new.checkHash("bob", TestHashes.password) && new.quickCheck("bob", TestHashes.password) == .correct)
  }

  @Test func `a byte-order mark is no part of the first name`() throws {
    let users = try ProxyUsers(lines: "\u{feff}ann:\(TestHashes.bcrypt)\n")
    #expect(users.checkHash("ann", TestHashes.password))
    #expect(throws: DirectDNSError.self) { try ProxyUsers(lines: "\u{feff}# nobody\n") }
  }

  @Test func `what was found right of one is not of another`() throws {
    let users = try ProxyUsers(lines: "ab:\(TestHashes.bcrypt)\na:\(TestHashes.bcrypt)")
    #expect(users.checkHash("ab", TestHashes.password))
    #expect(users.quickCheck("a", "b" + TestHashes.password) == .needsHash)
  }

  @Test func `a password is right byte by byte, in whatever character set`() throws {
    let hash = "$6$saltsalt$zfvTtUhb15TczxEBo1sA9EARUXkuiHoTBGWWUQbOPSJfVD60bNSNtI/sJKMLaLO/LrLFx0geWawmxMCznx2ia1"
    let users = try ProxyUsers(lines: "ann:\(hash)", tokens: ["\u{fffd}23456789"])
    // "pässword" in ISO 8859-1.
    let password = [0x70, 0xe4] + Array("ssword".utf8)
    #expect(users.checkHash("ann", password) && users.quickCheck("ann", password) == .correct)
    #expect(!users.checkHash("ann", "pässword"))
    #expect(!users.checkHash("ann", [0x70, 0xe5] + Array("ssword".utf8)))
    #expect(users.quickCheck("ann", [0xff] + Array("23456789".utf8)) == .needsHash)
    #expect(users.quickCheck("ann", "\u{fffd}23456789") == .token)
  }

  @Test func `a password with a NUL is none`() throws {
    let users = try ProxyUsers(lines: "ann:\(TestHashes.bcrypt)")
    #expect(!users.checkHash("ann", TestHashes.password + "\u{0}x"))
  }

  @Test(arguments: [TestHashes.bcrypt, TestHashes.sha512])
  func `a hash that is cut off, as in a file that is being written, is none`(_ hash: String) {
    for count in [hash.utf8.count - 1, hash.utf8.count / 2, 6] {
      let error = #expect(throws: DirectDNSError.self) { try ProxyUsers(lines: "ann:\(hash.prefix(count))\n") }
      #expect(error?.code == .invalidConfiguration && error?.message.contains("has no hash") == true, "\(count)")
    }
  }

  @Test func `a token is right with any name`() throws {
    let users = try ProxyUsers(tokens: ["0123456789abcdef"])
    #expect(users.quickCheck("anybody", "0123456789abcdef") == .token)
    #expect(users.quickCheck("", "0123456789abcdef") == .token)
    #expect(users.quickCheck("anybody", "0123456789abcdeF") == .wrong)
    #expect(users.quickCheck("0123456789abcdef", "") == .wrong)
  }

  @Test(arguments: [
    ("ann", "Line 1"), (":x", "Line 1"), ("ann:plain", "Line 1"), ("ann:$apr1$abc$def", "Line 1"),
    ("ann:{SHA}abc", "Line 1"), ("# \nann:\(TestHashes.bcrypt)\nann:\(TestHashes.bcrypt)", "Line 3"), ("", "no users"),
    ("# only a comment", "no users"),
  ])
  func `a file that is none is refused with its line`(lines: String, part: String) {
    #expect {
      try ProxyUsers(lines: lines)
    } throws: { error in
      let error = error as? DirectDNSError
      return error?.code == .invalidConfiguration && error?.message.contains(part) == true
        && error?.message.contains("plain") == false
    }
  }

  @Test(arguments: ["1234567", "äöüäöüä"]) func `a token that could be guessed is refused`(token: String) {
    #expect(throws: DirectDNSError.self) { try ProxyUsers(tokens: [Secret(token)]) }
  }
}

extension ProxyUsers {
  func quickCheck(_ name: String, _ password: String) -> QuickCheck { quickCheck(name, Array(password.utf8)) }

  func checkHash(_ name: String, _ password: String) -> Bool { checkHash(name, Array(password.utf8)) }
}

/// Hashes of one password, as the usual tools write them.
enum TestHashes {
  static let password = "open sesame"
  static let bcrypt = "$2y$04$A9Rq4YqXvjn0pOpNFBqg1Otm/NGmzMxndBQtxNkVN0nuwCPpFUF9m"
  static let sha512 =
    "$6$saltsalt$e/5XKibXPLqVcfjpD.ouauaJrAOL5V0uo80Lt7n7EbRdRiCx3HbQ90yjOHr.G0T.mx79PEMRy8nmtr0qSYhQp1"
}
