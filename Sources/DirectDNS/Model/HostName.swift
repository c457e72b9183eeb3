// SPDX-License-Identifier: Apache-2.0
/// A host name that can be looked up, in its canonical form.
///
/// It is ASCII and lower case, has no final dot, at most 253 octets (the 255 of RFC 1035 §2.3.4 without the first
/// length octet and the root's), and labels of 1 to 63 letters, digits, `-` and `_`. Cache, pins, policy, SNI and the
/// certificate check all use it. It is never an address and never looks like one.
public struct HostName: Sendable {
  /// The name: lower-case ASCII without a final dot, such as `xn--bcher-kva.example`.
  public let text: String
  /// The hash of the text, computed once: names are compared and looked up far more often than they are created.
  let hash: UInt64

  /// Reads a name as the host of a URL is read.
  ///
  /// A name that already is in its canonical form is only scanned, without an allocation; any other goes
  /// through ``WebURL/Host``, which knows percent-encoding and IDNA.
  ///
  /// - Parameter text: a name such as `www.example.com`, `Bücher.example` or `a.example.`.
  /// - Throws: `invalidName`, naming the offending part, also for an address in any spelling.
  public init(_ text: String) throws(DirectDNSError) {
    if HostName.isPlain(text.utf8.span) {
      self.init(canonical: text)
    } else {
      try self.init(try WebURL.Host(text))
    }
  }

  /// Reads a name that stands for itself and all names below it.
  ///
  /// Some tools write a leading dot for that, which makes no difference here. `*.` is refused: elsewhere it leaves the
  /// name itself out.
  package init(suffix text: String) throws(DirectDNSError) {
    guard !text.hasPrefix("*.") else {
      let name = DirectDNSError.quoted(text.dropFirst(2))
      throw DirectDNSError(.invalidName, "A name stands for itself and for all names below it: write \(name).")
    }
    try self.init(text.hasPrefix(".") ? String(text.dropFirst()) : text)
  }

  /// Takes text that is known to be canonical: an earlier name's, or a constant of ours.
  init(canonical text: String) {
    assert(text.utf8.count <= HostName.maximumLength && text.utf8.last != ASCII.dot)
    self.text = text
    hash = NameHash.hash(text)
  }

  /// The labels from left to right, never empty.
  public var labels: [Substring] { text.split(separator: ".") }

  /// Whether the name has one label only, such as `localhost`.
  public var isSingleLabel: Bool {
    let bytes = text.utf8.span
    return !bytes.indices.contains { bytes[$0] == ASCII.dot }
  }

  /// Whether the name is `suffix` or below it, by whole labels: `b.a.example` is below `a.example`, `ba.example` is
  /// not.
  public func hasSuffix(_ suffix: HostName) -> Bool { HostName.ends(text.utf8.span, with: suffix) }

  /// Whether text is `suffix` or ends in it after a dot.
  static func ends(_ name: Span<UInt8>, with suffix: HostName) -> Bool {
    let tail = suffix.text.utf8.span
    let start = name.count - tail.count
    guard start >= 0, start == 0 || name[start - 1] == ASCII.dot else { return false }
    for index in tail.indices where name[start + index] != tail[index] { return false }
    return true
  }
}

extension HostName: Hashable {
  /// Whether two names are the same; if they are not, their hashes nearly always differ.
  public static func == (lhs: HostName, rhs: HostName) -> Bool {
    lhs.hash == rhs.hash && lhs.text == rhs.text
  }

  /// Feeds the stored hash, which is seeded per process.
  public func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}

extension HostName: Comparable, CustomStringConvertible {
  /// Orders names by their text.
  public static func < (lhs: HostName, rhs: HostName) -> Bool { lhs.text < rhs.text }

  /// The name's text.
  public var description: String { text }
}

extension HostName: Codable {
  /// Decodes a name from its text.
  public init(from decoder: any Decoder) throws {
    let text = try String(from: decoder)
    do {
      self = try HostName(text)
    } catch {
      throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: error.message))
    }
  }

  /// Encodes the name as its text.
  public func encode(to encoder: any Encoder) throws { try text.encode(to: encoder) }
}

/// The rules for hosts that can be looked up: RFC 1035 §2.3 with the underscore of RFC 2181 §11.
extension HostName {
  private static let maximumLength = 253
  private static let maximumLabelLength = 63

  /// Makes the name that is looked up for a URL's host: one final dot is dropped.
  ///
  /// - Throws: `invalidName` if the host is an address, or has a part that no DNS name may have, which the message
  ///   shows.
  public init(_ host: WebURL.Host) throws(DirectDNSError) {
    guard case .name(let full) = host else {
      throw DirectDNSError(
        .invalidName, "\(host) is an address, not a host name: it is used as it is and never looked up.")
    }
    let name = full.utf8.last == ASCII.dot ? String(full.dropLast()) : full
    try HostName.check(name)
    self.init(canonical: name)
  }

  private static func check(_ name: String) throws(DirectDNSError) {
    guard !isPlain(name.utf8.span) else { return }
    guard !name.isEmpty else {
      throw DirectDNSError(.invalidName, "\".\" is the root of DNS, which has no address: give a name below it.")
    }
    let shown = DirectDNSError.quoted(name)
    guard name.utf8.count <= maximumLength else {
      throw DirectDNSError(
        .invalidName,
        "The host name \(shown) has \(name.utf8.count) octets, \(maximumLength) are the most DNS can carry.")
    }
    for label in name.utf8.split(separator: ASCII.dot, omittingEmptySubsequences: false) {
      guard !label.isEmpty else {
        throw DirectDNSError(
          .invalidName,
          "The host name \(shown) has an empty label: leave out a dot at its beginning, or one of two in a row.")
      }
      guard label.count <= maximumLabelLength else {
        let part = DirectDNSError.quoted(Substring(label))
        throw DirectDNSError(
          .invalidName,
          "The label \(part) of a host name has \(label.count) octets, \(maximumLabelLength) are the most.")
      }
      if let byte = label.first(where: { !isNameByte($0) }) {
        let part = DirectDNSError.quoted(String(UnicodeScalar(byte)))
        throw DirectDNSError(
          .invalidName,
          "The host name \(shown) contains \(part), but only letters, digits, '-' and '_' can be looked up.")
      }
    }
  }

  /// Whether a label may have that byte.
  @inline(__always)
  static func isNameByte(_ byte: UInt8) -> Bool {
    ASCII.isLowerLetter(byte) || ASCII.isDigit(byte) || byte == ASCII.hyphen || byte == ASCII.underscore
  }

  /// Whether the text is a canonical name that needs neither IDNA nor the IPv4 parser.
  static func isPlain(_ text: Span<UInt8>) -> Bool {
    guard text.count <= maximumLength else { return false }
    var start = 0
    for index in text.indices {
      let byte = text[index]
      if byte == ASCII.dot {
        guard (1...maximumLabelLength).contains(index - start) else { return false }
        start = index + 1
      } else if !isNameByte(byte) {
        return false
      }
    }
    return (1...maximumLabelLength).contains(text.count - start)
      && !LegacyIPv4.isNumber(text.extracting(start..<text.count))
  }
}
