/// Base64 (RFC 4648), the two alphabets that the providers use.
enum Base64Text {
  private static let standard = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// The standard alphabet with padding (§4).
  static func encode(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      let bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
      for index in 0..<4 {
        let value = Int(bits >> UInt32(18 - 6 * index) & 63)
        text.append(index <= group.count ? standard[value] : UInt8(ascii: "="))
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Reads the URL-safe alphabet without padding (§5), which is all that RFC 8484 §6 allows.
  static func decodeURLSafe(_ text: String) -> [UInt8]? {
    var bytes: [UInt8] = []
    var bits: UInt32 = 0
    var count: UInt32 = 0
    for byte in text.utf8 {
      let plain =
        switch byte {
        case UInt8(ascii: "-"): UInt8(ascii: "+")
        case UInt8(ascii: "_"): UInt8(ascii: "/")
        case UInt8(ascii: "+"), UInt8(ascii: "/"): UInt8(0)
        default: byte
        }
      guard let value = standard.firstIndex(of: plain) else { return nil }
      bits = bits << 6 | UInt32(value)
      count += 6
      guard count >= 8 else { continue }
      count -= 8
      bytes.append(UInt8(truncatingIfNeeded: bits >> count))
    }
    // A lone digit holds no byte, and bits that no byte takes have to be zero.
    return count < 6 && bits & (1 << count - 1) == 0 ? bytes : nil
  }
}
