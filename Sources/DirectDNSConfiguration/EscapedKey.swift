/// A key of an object as it is written: with or without quotes, and with the escapes of JSON5.
enum EscapedKey {
  /// What the key says: two spellings of one key say the same.
  static func text(_ written: ArraySlice<UInt8>) -> String {
    guard let quote = written.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
      return String(decoding: written, as: UTF8.self)
    }
    var units: [UInt16] = []
    var rest = String(decoding: written.dropFirst().dropLast(), as: UTF8.self).unicodeScalars[...]
    while let scalar = rest.popFirst() {
      guard scalar == "\\", let escape = rest.popFirst() else {
        units += String(scalar).utf16
        continue
      }
      switch escape {
      case "u": units.append(hexadecimal(4, &rest))
      case "x": units.append(hexadecimal(2, &rest))
      // A line that goes on.
      case "\n", "\r", "\u{2028}", "\u{2029}": break
      default: units += String(controls[escape] ?? escape).utf16
      }
    }
    return String(decoding: units, as: UTF16.self)
  }

  private static let controls: [Unicode.Scalar: Unicode.Scalar] = [
    "b": "\u{8}", "f": "\u{c}", "n": "\n", "r": "\r", "t": "\t", "v": "\u{b}", "0": "\0",
  ]

  private static func hexadecimal(_ count: Int, _ rest: inout String.UnicodeScalarView.SubSequence) -> UInt16 {
    let digits = String(String.UnicodeScalarView(rest.prefix(count)))
    rest = rest.dropFirst(count)
    return UInt16(digits, radix: 16) ?? 0xfffd
  }
}
