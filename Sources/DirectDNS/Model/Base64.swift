// SPDX-License-Identifier: Apache-2.0
/// Base64 (RFC 4648): the alphabet of header fields, and the one of URLs.
package enum Base64 {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let urlAlphabet = Array(alphabet.dropLast(2)) + [ASCII.hyphen, ASCII.underscore]

  /// The bytes in the usual alphabet, padded (RFC 4648 §4).
  package static func encoded(_ bytes: [UInt8]) -> String {
    String(decoding: encoded(bytes, alphabet), as: UTF8.self)
      + String(repeating: "=", count: (3 - bytes.count % 3) % 3)
  }

  /// The bytes in the alphabet of URLs and file names, without padding (RFC 4648 §5).
  package static func urlEncoded(_ bytes: [UInt8]) -> String { String(decoding: urlBytes(bytes), as: UTF8.self) }

  /// The same as bytes.
  static func urlBytes(_ bytes: [UInt8]) -> [UInt8] { encoded(bytes, urlAlphabet) }

  private static func encoded(_ bytes: [UInt8], _ alphabet: [UInt8]) -> [UInt8] {
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
    return text
  }

  /// The bytes of a text in the alphabet of URLs without padding, the only form that RFC 8484 §6 allows; nil for any
  /// other.
  package static func urlDecoded(_ text: String) -> [UInt8]? {
    var bytes: [UInt8] = []
    var bits: UInt32 = 0
    var count: UInt32 = 0
    for byte in text.utf8 {
      guard let value = urlAlphabet.firstIndex(of: byte) else { return nil }
      bits = bits << 6 | UInt32(value)
      count += 6
      guard count >= 8 else { continue }
      count -= 8
      bytes.append(UInt8(truncatingIfNeeded: bits >> count))
    }
    // A single last digit holds no byte, and unused bits have to be zero.
    return count < 6 && bits & (1 << count - 1) == 0 ? bytes : nil
  }
}

/// Hexadecimal digits, two for each byte.
package enum Hex {
  /// The bytes in lower-case digits.
  package static func encoded(_ bytes: [UInt8]) -> String {
    String(decoding: bytes.flatMap { [ASCII.hexDigit($0 >> 4), ASCII.hexDigit($0 & 15)] }, as: UTF8.self)
  }

  /// The bytes of digits of either case; nil for anything else, and for an odd number of digits.
  package static func decoded(_ digits: some Sequence<UInt8>) -> [UInt8]? {
    var bytes: [UInt8] = []
    var upper: UInt8?
    for digit in digits {
      guard let value = ASCII.hexValue(digit) else { return nil }
      if let high = upper.take() { bytes.append(high << 4 | value) } else { upper = value }
    }
    return upper == nil ? bytes : nil
  }
}
