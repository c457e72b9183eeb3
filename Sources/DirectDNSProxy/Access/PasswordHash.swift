// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSCrypt

/// A password's hash as `htpasswd` and `mkpasswd` write them: bcrypt (`$2y$`), SHA-crypt (`$5$`, `$6$`), yescrypt (`$y$`).
///
/// The C library checks it, and compares without telling by the time how much is alike. That takes as long as the hash was
/// made to take: milliseconds to a second.
struct PasswordHash: Sendable, Hashable {
  private let text: String

  /// Takes a hash; nil for a method that is unknown or that a fast machine breaks: plain text, DES, MD5, SHA-1.
  init?(_ text: String) {
    let methods = ["$2a$", "$2b$", "$2y$", "$5$", "$6$", "$y$", "$7$"]
    guard methods.contains(where: { text.hasPrefix($0) }), unsafe directdns_crypt_knows(text) != 0 else { return nil }
    self.text = text
  }

  /// Whether a password is the one; waits for the hash.
  func matches(_ password: String) -> Bool {
    // The C library reads to the first NUL: what stands behind it would not count.
    guard !password.utf8.contains(0) else { return false }
    return unsafe directdns_crypt_matches(password, text) != 0
  }
}
