// SPDX-License-Identifier: Apache-2.0
/// What stands behind a backslash in a JSON string (RFC 8259 §7).
enum JSONEscape {
  /// The scalar that an escape is, which is passed over; nil if it is none.
  static func scalar(_ bytes: Span<UInt8>, _ index: inout Int) -> Unicode.Scalar? {
    guard index < bytes.count else { return nil }
    let byte = bytes[index]
    index += 1
    switch byte {
    case UInt8(ascii: "\""), ASCII.backslash, ASCII.slash: return Unicode.Scalar(byte)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{c}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return wide(bytes, &index)
    default: return nil
    }
  }

  private static func unit(_ bytes: Span<UInt8>, _ index: inout Int) -> UInt16? {
    guard index + 4 <= bytes.count else { return nil }
    var unit: UInt16 = 0
    for _ in 0..<4 {
      guard let digit = ASCII.hexValue(bytes[index]) else { return nil }
      unit = unit << 4 | UInt16(digit)
      index += 1
    }
    return unit
  }

  /// The scalar behind `\u`, two units for one beyond the first plane; a lone surrogate becomes U+FFFD.
  private static func wide(_ bytes: Span<UInt8>, _ index: inout Int) -> Unicode.Scalar? {
    guard let unit = unit(bytes, &index) else { return nil }
    if let scalar = Unicode.Scalar(unit) { return scalar }
    guard unit < 0xdc00, index + 1 < bytes.count, bytes[index] == ASCII.backslash, bytes[index + 1] == UInt8(ascii: "u")
    else { return "\u{fffd}" }
    let mark = index
    index += 2
    guard let low = Self.unit(bytes, &index) else { return nil }
    guard (0xdc00..<0xe000).contains(low) else {
      index = mark
      return "\u{fffd}"
    }
    return Unicode.Scalar(0x10000 + (UInt32(unit) - 0xd800) << 10 + (UInt32(low) - 0xdc00))
  }
}
