// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSCrypt

/// A password's hash as `htpasswd` and `mkpasswd` write it: bcrypt (`$2y$`), SHA-crypt (`$5$`, `$6$`), yescrypt
/// (`$y$`).
///
/// The C library computes it, and the comparison takes constant time. A check takes as long as the hash is meant to
/// take: milliseconds to a second.
struct PasswordHash: Sendable, Hashable {
  let text: String

  /// Takes a hash; nil if it is cut off, or of a method that is unknown or weak: plain text, DES, MD5, SHA-1.
  init?(_ text: String) {
    let methods = ["$2a$", "$2b$", "$2y$", "$5$", "$6$", "$y$", "$7$"]
    guard methods.contains(where: { text.hasPrefix($0) }), Self.isWhole(text), unsafe directdns_crypt_knows(text) != 0
    else { return nil }
    self.text = text
  }

  /// Whether the hash is complete, which the C library does not check: a file that is being written may end in a part
  /// of one.
  private static func isWhole(_ text: String) -> Bool {
    let hash = text.utf8.split(separator: UInt8(ascii: "$"), omittingEmptySubsequences: false).last?.count ?? 0
    return if text.hasPrefix("$2") { text.utf8.count == 60 } else { hash == (text.hasPrefix("$6$") ? 86 : 43) }
  }

  /// Whether a password is right; blocks while the hash is computed.
  func matches(_ password: [UInt8]) -> Bool {
    // The C library reads up to the first NUL, and would ignore what comes after it.
    guard !password.contains(0) else { return false }
    return unsafe directdns_crypt_matches(password.map { CChar(truncatingIfNeeded: $0) } + [0], text) != 0
  }
}
