// SPDX-License-Identifier: Apache-2.0
/// The rules that every cookie keeps, wherever it came from (RFC 6265bis §5.7).
extension Cookie {
  static func isControl(_ byte: UInt8) -> Bool { (byte < 0x20 && byte != 0x09) || byte == 0x7F }

  static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

  func check() throws(CookieRejection) {
    guard !name.isEmpty || !value.isEmpty else { throw .empty }
    guard ![name, value, path].contains(where: { $0.utf8.contains(where: Cookie.isControl) }) else {
      throw .controlCharacter
    }
    let octets = name.utf8.count + value.utf8.count
    guard octets <= SetCookie.maximumOctets else { throw .tooLong(octets: octets) }
    guard Cookie.isWhole(name), Cookie.isWhole(value), Cookie.isWhole(path), path.utf8.first == ASCII.slash,
      !name.utf8.contains(UInt8(ascii: "="))
    else { throw .malformed }
    guard isHostOnly || !domain.isPublicSuffix else { throw .publicSuffix(domain.description) }
    guard keepsPrefix else { throw .prefix }
  }

  /// Whether a part comes out of a `Set-Cookie` field as it went in.
  private static func isWhole(_ part: String) -> Bool {
    guard let first = part.utf8.first, let last = part.utf8.last else { return true }
    return !isSpace(first) && !isSpace(last) && !part.utf8.contains(UInt8(ascii: ";"))
  }

  /// Whether the cookie keeps what the prefix of its name promises (RFC 6265bis §5.7, steps 20 to 22).
  ///
  /// Servers that ignore case would believe any spelling of a prefix, and read a value without a name as a name.
  private var keepsPrefix: Bool {
    if name.isEmpty { return !Cookie.begins(value, "__secure-") && !Cookie.begins(value, "__host-") }
    if Cookie.begins(name, "__host-") { return isSecure && isHostOnly && path == "/" }
    return !Cookie.begins(name, "__secure-") || isSecure
  }

  /// Whether a text begins with a prefix that is written in lower case, whatever the text's own case.
  static func begins(_ text: String, _ prefix: String) -> Bool {
    text.utf8.prefix(prefix.utf8.count).map(ASCII.lowercased).elementsEqual(prefix.utf8)
  }
}
