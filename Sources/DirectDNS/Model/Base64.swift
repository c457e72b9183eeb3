/// Base64 (RFC 4648): the alphabet of header fields, and the one of URLs.
package enum Base64 {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let urlAlphabet = Array(alphabet.dropLast(2)) + [ASCII.hyphen, ASCII.underscore]

  /// The bytes in the usual alphabet, padded (RFC 4648 §4).
  package static func encoded(_ bytes: [UInt8]) -> String {
    encoded(bytes, alphabet) + String(repeating: "=", count: (3 - bytes.count % 3) % 3)
  }

  /// The bytes in the alphabet of URLs and file names, without padding (RFC 4648 §5).
  package static func urlEncoded(_ bytes: [UInt8]) -> String { encoded(bytes, urlAlphabet) }

  private static func encoded(_ bytes: [UInt8], _ alphabet: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count * 4 + 2) / 3)
    var index = 0
    while index < bytes.count {
      let left = min(3, bytes.count - index)
      var group = UInt32(bytes[index]) << 16
      if left > 1 { group |= UInt32(bytes[index + 1]) << 8 }
      if left > 2 { group |= UInt32(bytes[index + 2]) }
      for place in 0...left { text.append(alphabet[Int(group >> UInt32(18 - 6 * place) & 63)]) }
      index += 3
    }
    return String(decoding: text, as: UTF8.self)
  }
}
