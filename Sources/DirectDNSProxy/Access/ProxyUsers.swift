// SPDX-License-Identifier: Apache-2.0
public import DirectDNS

/// Who may use a proxy: names with passwords, and tokens.
///
/// A client authenticates by `Proxy-Authorization: Basic`, or by SOCKS5's user name and password; a token is accepted
/// as the password of any name. A keyed digest of each correct password is remembered, so that the slow hash is
/// computed once for a client and not for each request.
public final class ProxyUsers: Sendable {
  private let hashes: [String: PasswordHash]
  private let tokens: [[UInt8]]
  private let known = Locked(KnownPasswords())

  /// Reads lines as `htpasswd` writes them: `NAME:HASH`, of bcrypt (`htpasswd -B`), SHA-crypt or yescrypt.
  ///
  /// Empty lines and those that begin with `#` are skipped, and so is a byte-order mark.
  ///
  /// - Parameters:
  ///   - lines: the text of such a file; none by default.
  ///   - tokens: passwords that are right with any name; none by default.
  /// - Throws: an error of code `invalidConfiguration` that names the line, but never shows it.
  public init(lines: String = "", tokens: [Secret] = []) throws(DirectDNSError) {
    var hashes: [String: PasswordHash] = [:]
    // A byte-order mark, which some editors write, would be a part of the first name.
    let lines = lines.unicodeScalars.first == "\u{feff}" ? String(lines.unicodeScalars.dropFirst()) : lines
    for (index, line) in lines.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
      guard !line.isEmpty, !line.hasPrefix("#") else { continue }
      guard let colon = line.firstIndex(of: ":"), colon > line.startIndex else {
        throw DirectDNSError(
          .invalidConfiguration, "Line \(index + 1) of the users is not NAME:HASH: write it by htpasswd -B.")
      }
      let hash = line[line.index(after: colon)...].prefix { $0 != ":" }
      guard let hash = PasswordHash(String(hash)) else {
        throw DirectDNSError(
          .invalidConfiguration,
          "Line \(index + 1) of the users has no hash of bcrypt, SHA-crypt or yescrypt: write it by htpasswd -B.")
      }
      guard hashes.updateValue(hash, forKey: String(line[..<colon])) == nil else {
        throw DirectDNSError(
          .invalidConfiguration,
          "Line \(index + 1) of the users names a user for the second time: keep one of the lines.")
      }
    }
    guard !hashes.isEmpty || !tokens.isEmpty else {
      throw DirectDNSError(.invalidConfiguration, "There are no users: write lines NAME:HASH by htpasswd -B.")
    }
    guard !tokens.contains(where: { $0.text.count < 8 }) else {
      throw DirectDNSError(.invalidConfiguration, "A token has fewer than 8 characters: take a longer one.")
    }
    self.hashes = hashes
    self.tokens = tokens.map { Digest.sha256(Array($0.text.utf8)) }
  }

  /// What is known about a name and a password without computing a slow hash.
  enum QuickCheck: Equatable { case correct, token, wrong, needsHash }

  /// The user's name if a token was used: the name sent with it may be the token as well.
  static let tokenUser = "token"

  /// Checks a name and a password without computing a hash; `needsHash` if only the hash can tell.
  func quickCheck(_ name: String, _ password: [UInt8]) -> QuickCheck {
    // Digests are compared in constant time, whatever the password's length.
    let digest = Digest.sha256(password)
    if tokens.reduce(false, { Digest.areEqual($1, digest) || $0 }) { return .token }
    guard hashes[name] != nil else { return hashes.isEmpty ? .wrong : .needsHash }
    return known.withLock(\.self).contains(tag(name, password)) ? .correct : .needsHash
  }

  /// Computes the hash; for an unknown name too, so that it takes as long as a known one.
  func checkHash(_ name: String, _ password: [UInt8]) -> Bool {
    guard let hash = hashes[name] else {
      _ = hashes.first?.value.matches(password)
      return false
    }
    guard hash.matches(password) else { return false }
    known.withLock(\.self).insert(tag(name, password))
    return true
  }

  /// Takes over which passwords are known to be right of the users that these replace.
  ///
  /// Otherwise everybody's slow hash would be computed again at once after each change of a configuration, and those for
  /// whom that takes too long would be refused.
  func replace(_ others: ProxyUsers) {
    guard others !== self else { return }
    let known = others.known.withLock(\.self)
    self.known.withLock { $0 = known }
  }

  /// Identifies a name, its hash and a password: what was right of a hash is not of the one that replaces it.
  func tag(_ name: String, _ password: [UInt8]) -> [UInt8] {
    let hash = hashes[name]?.text ?? ""
    let user = "\(name.utf8.count):\(name)\(hash.utf8.count):\(hash)"
    return Digest.hmacSHA256(Array(user.utf8) + password, key: known.withLock(\.self).key)
  }
}

/// Keyed digests of the names, hashes and passwords that were found right.
private final class KnownPasswords: Sendable {
  private static let limit = 10_000

  let key = (0..<32).map { _ in UInt8.random(in: .min ... .max) }
  private let tags = Locked<Set<[UInt8]>>([])

  func contains(_ tag: [UInt8]) -> Bool { tags.withLock { $0.contains(tag) } }

  func insert(_ tag: [UInt8]) {
    tags.withLock { tags in
      if tags.count >= Self.limit { tags.removeAll() }
      tags.insert(tag)
    }
  }
}
