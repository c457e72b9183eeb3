// SPDX-License-Identifier: Apache-2.0
/// The rules that a host keeps to be looked up: RFC 1035 §2.3 with the underscore of RFC 2181 §11.
extension HostName {
  static let maximumLength = 253
  static let maximumLabelLength = 63

  /// Makes the name that is looked up for a URL's host: one final dot is dropped.
  ///
  /// - Throws: `invalidName` when the host is an address, or names the part that no DNS name may have.
  public init(_ host: WebURL.Host) throws(DirectDNSError) {
    guard case .name(let full) = host else {
      throw DirectDNSError(
        .invalidName, "\(host) is an address, not a host name: it is used as it is and never looked up")
    }
    let name = full.utf8.last == ASCII.dot ? String(full.dropLast()) : full
    try HostName.check(name)
    self.init(canonical: name)
  }

  private static func check(_ name: String) throws(DirectDNSError) {
    guard !isPlain(name.utf8.span) else { return }
    guard !name.isEmpty else {
      throw DirectDNSError(.invalidName, "\".\" is the root of DNS, which has no address: give a name below it")
    }
    let shown = DirectDNSError.quoted(name)
    guard name.utf8.count <= maximumLength else {
      throw DirectDNSError(
        .invalidName,
        "the host name \(shown) has \(name.utf8.count) octets, \(maximumLength) are the most DNS can carry")
    }
    for label in name.utf8.split(separator: ASCII.dot, omittingEmptySubsequences: false) {
      guard !label.isEmpty else {
        throw DirectDNSError(.invalidName, "the host name \(shown) has an empty label: two dots in a row?")
      }
      guard label.count <= maximumLabelLength else {
        let part = DirectDNSError.quoted(Substring(label))
        throw DirectDNSError(
          .invalidName,
          "the label \(part) of a host name has \(label.count) octets, \(maximumLabelLength) are the most")
      }
      if let byte = label.first(where: { !isNameByte($0) }) {
        let part = DirectDNSError.quoted(String(UnicodeScalar(byte)))
        throw DirectDNSError(
          .invalidName,
          "the host name \(shown) contains \(part), but only letters, digits, '-' and '_' can be looked up")
      }
    }
  }

  @inline(__always)
  private static func isNameByte(_ byte: UInt8) -> Bool {
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
