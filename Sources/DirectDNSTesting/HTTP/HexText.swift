// SPDX-License-Identifier: Apache-2.0
/// Bytes as hexadecimal digits, as the providers write signatures and ciphertexts.
enum HexText {
  /// Lower-case digits, two per byte.
  static func encode(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(
      decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }

  /// The bytes of digits of either case, or nil if the text is not hexadecimal.
  static func decode(_ text: String) -> [UInt8]? {
    let values = text.map(\.hexDigitValue)
    guard values.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: values.count, by: 2) {
      guard let high = values[index], let low = values[index + 1] else { return nil }
      bytes.append(UInt8(high * 16 + low))
    }
    return bytes
  }
}
