// SPDX-License-Identifier: Apache-2.0
/// The half surrogate pairs that JSON can spell and no Swift string can hold.
enum LoneSurrogates {
  /// The JSON text with each `\uD8xx` that has no other half as `\uFFFD`, as WebIDL's USVString does.
  static func replaced(in json: String) -> String {
    guard json.contains("\\ud") || json.contains("\\uD") else { return json }
    let bytes = Array(json.utf8)
    var output: [UInt8] = []
    var index = 0
    while index < bytes.count {
      guard bytes[index] == UInt8(ascii: "\\"), index + 1 < bytes.count else {
        output.append(bytes[index])
        index += 1
        continue
      }
      let first = unit(bytes, at: index)
      let second = unit(bytes, at: index + 6)
      switch (first, second) {
      case (0xD800...0xDBFF, 0xDC00...0xDFFF):
        output += bytes[index..<index + 12]
        index += 12
      case (0xD800...0xDFFF, _):
        output += Array("\\uFFFD".utf8)
        index += 6
      default:
        output += bytes[index..<index + 2]
        index += 2
      }
    }
    return String(decoding: output, as: UTF8.self)
  }

  /// The UTF-16 unit of the escape that begins at `index`; 0 when none does.
  private static func unit(_ bytes: [UInt8], at index: Int) -> UInt16 {
    guard index + 6 <= bytes.count, bytes[index] == UInt8(ascii: "\\"), bytes[index + 1] == UInt8(ascii: "u")
    else { return 0 }
    return UInt16(String(decoding: bytes[index + 2..<index + 6], as: UTF8.self), radix: 16) ?? 0
  }
}
