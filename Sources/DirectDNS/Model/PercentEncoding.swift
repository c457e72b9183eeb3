// SPDX-License-Identifier: Apache-2.0
/// Percent-encoding of a URL's parts (WHATWG URL §1.3).
package enum PercentEncoding {
  /// The bytes that have to be encoded in a part of a URL: one bit per ASCII byte, and all others.
  package struct EncodeSet: Sendable {
    private var low: UInt64
    private var high: UInt64

    private func adding(_ bytes: StaticString) -> EncodeSet {
      var result = self
      for scalar in "\(bytes)".unicodeScalars where scalar.isASCII {
        if scalar.value < 64 {
          result.low |= 1 << UInt64(scalar.value)
        } else {
          result.high |= 1 << UInt64(scalar.value - 64)
        }
      }
      return result
    }

    @inline(__always)
    func contains(_ byte: UInt8) -> Bool {
      byte >= 0x80 || (byte < 64 ? low >> UInt64(byte) : high >> UInt64(byte - 64)) & 1 != 0
    }

    /// Only bytes that are not ASCII.
    static let nonASCII = EncodeSet(low: 0, high: 0)
    /// C0 controls and DEL.
    private static let control = EncodeSet(low: 0xFFFF_FFFF, high: 1 << 63)
    static let fragment = control.adding(" \"<>`")
    /// The query set of special schemes, which has `'`.
    package static let query = control.adding(" \"#<>'")
    static let path = control.adding(" \"#<>?^`{}")
    static let userInfo = path.adding("/:;=@[\\]|")
    /// Bytes that RFC 3986 allows nowhere after the host; for `%` and `#` it depends on their position.
    static let notRFC3986 = control.adding(" \"<>[\\]^`{|}")
    /// All but RFC 3986's unreserved characters: for text that must not end the part of the URL that it is in.
    package static let reserved = userInfo.adding("!$%&'()*+,")
    /// The same without the comma, which the providers' APIs expect as it is.
    static let queryValue = userInfo.adding("!$%&'()*+")
  }

  /// Appends the bytes to `output`, those of the set as `%XX`.
  static func append(_ bytes: Span<UInt8>, _ set: EncodeSet, to output: inout [UInt8]) {
    for index in bytes.indices {
      let byte = bytes[index]
      if set.contains(byte) {
        output.append(ASCII.percent)
        output.append(upperHexDigit(byte >> 4))
        output.append(upperHexDigit(byte & 0xF))
      } else {
        output.append(byte)
      }
    }
  }

  /// The text, with the bytes of the set as `%XX`.
  package static func encoded(_ text: String, _ set: EncodeSet) -> String { encoded(text.utf8.span, set) }

  /// The bytes as text, those of the set as `%XX`.
  package static func encoded(_ bytes: Span<UInt8>, _ set: EncodeSet) -> String {
    var output: [UInt8] = []
    append(bytes, set, to: &output)
    return String(decoding: output, as: UTF8.self)
  }

  /// The bytes as a form has them: a blank is a plus sign, all else but unreserved characters is percent-encoded.
  ///
  /// A browser leaves `*` and encodes `~` (WHATWG URL §5.2), which is read alike.
  package static func formEncoded(_ bytes: [UInt8]) -> String {
    let words = bytes.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
    return words.map { encoded(Array($0).span, .reserved) }.joined(separator: "+")
  }

  /// The bytes with each `%XX` replaced by the byte it stands for; a lone `%` stays.
  package static func decoded(_ bytes: Span<UInt8>) -> [UInt8] {
    var output: [UInt8] = []
    output.reserveCapacity(bytes.count)
    var index = 0
    while index < bytes.count {
      if bytes[index] == ASCII.percent, index + 2 < bytes.count,
        let upper = ASCII.hexValue(bytes[index + 1]), let lower = ASCII.hexValue(bytes[index + 2])
      {
        output.append(upper << 4 | lower)
        index += 3
      } else {
        output.append(bytes[index])
        index += 1
      }
    }
    return output
  }

  /// The same of text, as text: what is not UTF-8 then is repaired.
  package static func decodedText(_ text: some StringProtocol) -> String {
    String(decoding: decoded(Array(text.utf8).span), as: UTF8.self)
  }

  private static func upperHexDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? ASCII.zero + value : UInt8(ascii: "A") + value - 10
  }
}

/// The parts of a URL that differ in the bytes that they may hold as they are.
///
/// This is the inverse of ``PercentEncoding/EncodeSet``, in constant memory: one load decides about a byte, so that a
/// URL that needs no change is only scanned. A test compares the table with the sets.
enum URLPart: UInt8, CaseIterable {
  /// What follows the `#`.
  case fragment = 1
  /// What follows the `?`.
  case query = 2
  /// A segment of the path, without slashes and backslashes.
  case segment = 4
  /// A name in lower case or a dotted quad, which neither IDNA nor the host parser would change.
  case host = 8

  /// Whether this part may hold a byte as it is.
  @inline(__always)
  func keeps(_ byte: UInt8) -> Bool { Self.table[Int(byte)] & rawValue != 0 }

  /// The position of the first byte from `start` on that this part may not hold as it is.
  @inline(__always)
  func end(in text: Span<UInt8>, from start: Int) -> Int {
    // Counted from 0, so that no position needs a check of its own.
    let rest = text.extracting(start...)
    var count = 0
    while count < rest.count, keeps(rest[count]) { count += 1 }
    return start + count
  }

  // An entry for each byte: those that are not ASCII have their zeros, too, and cost no comparison.
  private static let table: InlineArray<256, UInt8> = [
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    //  !  "  #  $  %  &  '  (  )  *  +  ,  -   .   /
    0, 7, 0, 1, 7, 7, 7, 5, 7, 7, 7, 7, 7, 15, 15, 3,
    // 0 … 9 : ; < = > ?
    15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 7, 7, 0, 7, 0, 3,
    // @ A … O
    7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
    // P … Z [ \ ] ^ _
    7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 3, 7, 3, 15,
    // ` a … o
    2, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15,
    // p … z { | } ~
    15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 3, 7, 3, 7, 0,
    // What is not ASCII.
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  ]
}
