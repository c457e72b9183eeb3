// SPDX-License-Identifier: Apache-2.0
/// A host name that can be looked up, in its canonical form.
///
/// It is ASCII and lower case, has no final dot, at most 253 octets (RFC 1035 §2.3.4 less the root's
/// length octets), and labels of 1 to 63 letters, digits, `-` and `_`. Cache, pins, policy, SNI and the
/// certificate check all go by it. It is never an address and never looks like one.
public struct HostName: Sendable {
  /// The name: lower-case ASCII without a final dot, such as `xn--bcher-kva.example`.
  public let text: String
  /// The hash of the text, made once: a name is compared and found far more often than it is made.
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

  /// Takes text that is known to be canonical: an earlier name's, or a constant of ours.
  init(canonical text: String) {
    assert(text.utf8.count <= HostName.maximumLength && text.utf8.last != ASCII.dot)
    self.text = text
    hash = NameHash.hash(text)
  }

  /// The labels from left to right, never empty.
  public var labels: [Substring] { text.split(separator: ".") }

  /// Whether the name has one label only, such as `localhost`.
  public var isSingleLabel: Bool { !text.utf8.contains(ASCII.dot) }

  /// Whether the name is `suffix` or lies below it, by whole labels: `a.example` does, `ba.example` does not
  /// end in `a.example`.
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
  /// Whether two names are the same; the hashes differ for nearly all that are not.
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
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    do {
      self = try HostName(text)
    } catch {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: error.message)
    }
  }

  /// Encodes the name as its text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}
