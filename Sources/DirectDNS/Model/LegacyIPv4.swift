// SPDX-License-Identifier: Apache-2.0
/// The IPv4 spellings that a URL may use: fewer than four parts, octal and hexadecimal numbers.
///
/// WHATWG URL §3.5, "ends in a number checker", "IPv4 parser" and "IPv4 number parser". A host that ends in
/// a number is an address or an error, never a name: a resolver that read `0x7f.1` as a name would ask DNS
/// for it, while a browser connects to 127.0.0.1.
enum LegacyIPv4 {
  /// Whether a host must be read as an IPv4 address, because its last label is a number.
  static func isWritten(in host: Span<UInt8>) -> Bool {
    var end = host.count
    if end > 1, host[end - 1] == ASCII.dot { end -= 1 }
    var start = end
    while start > 0, host[start - 1] != ASCII.dot { start -= 1 }
    return isNumber(host.extracting(start..<end))
  }

  /// Whether a label is all digits, or a number for the IPv4 number parser.
  static func isNumber(_ label: Span<UInt8>) -> Bool {
    guard !label.isEmpty, ASCII.isDigit(label[0]) else { return false }
    for index in label.indices where !ASCII.isDigit(label[index]) { return number(label) != nil }
    return true
  }

  /// The address of a host that ends in a number; nil if it is malformed.
  static func parse(_ host: Span<UInt8>) -> IPAddress? {
    var end = host.count
    if end > 1, host[end - 1] == ASCII.dot { end -= 1 }
    var value: UInt64 = 0
    var parts = 0
    var start = 0
    while true {
      var stop = start
      while stop < end, host[stop] != ASCII.dot { stop += 1 }
      parts += 1
      guard parts <= 4, let part = number(host.extracting(start..<stop)) else { return nil }
      if stop == end {
        // The last part fills every octet that is left: `127.1` is 127.0.0.1.
        guard part < 1 << UInt64(8 * (5 - parts)) else { return nil }
        return .ipv4(UInt32(truncatingIfNeeded: value << UInt64(8 * (5 - parts)) | part))
      }
      guard part <= 255 else { return nil }
      value = value << 8 | part
      start = stop + 1
    }
  }

  /// The value of a decimal, octal (`0…`) or hexadecimal (`0x…`) number, at most 2³² (which stands for more).
  private static func number(_ text: Span<UInt8>) -> UInt64? {
    guard !text.isEmpty else { return nil }
    var radix: UInt64 = 10
    var index = 0
    if text.count >= 2, text[0] == ASCII.zero {
      let isHexadecimal = text[1] | 0x20 == UInt8(ascii: "x")
      radix = isHexadecimal ? 16 : 8
      index = isHexadecimal ? 2 : 1
    }
    var value: UInt64 = 0
    while index < text.count {
      guard let digit = ASCII.hexValue(text[index]), digit < radix else { return nil }
      value = min(value * radix + UInt64(digit), 1 << 32)
      index += 1
    }
    return value
  }
}
