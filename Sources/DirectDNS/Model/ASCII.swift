// SPDX-License-Identifier: Apache-2.0
/// The ASCII bytes and classes that names, addresses and URLs are written with.
enum ASCII {
  static let tab = UInt8(ascii: "\t")
  static let newline = UInt8(ascii: "\n")
  static let carriageReturn = UInt8(ascii: "\r")
  static let space = UInt8(ascii: " ")
  static let hash = UInt8(ascii: "#")
  static let percent = UInt8(ascii: "%")
  static let hyphen = UInt8(ascii: "-")
  static let dot = UInt8(ascii: ".")
  static let slash = UInt8(ascii: "/")
  static let zero = UInt8(ascii: "0")
  static let semicolon = UInt8(ascii: ";")
  static let colon = UInt8(ascii: ":")
  static let question = UInt8(ascii: "?")
  static let at = UInt8(ascii: "@")
  static let openBracket = UInt8(ascii: "[")
  static let backslash = UInt8(ascii: "\\")
  static let closeBracket = UInt8(ascii: "]")
  static let underscore = UInt8(ascii: "_")

  @inline(__always)
  static func isDigit(_ byte: UInt8) -> Bool { byte &- zero < 10 }

  @inline(__always)
  static func isLowerLetter(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "a") < 26 }

  @inline(__always)
  private static func isUpperLetter(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "A") < 26 }

  @inline(__always)
  static func isLetter(_ byte: UInt8) -> Bool { isLowerLetter(byte | 0x20) }

  /// Whether it is blank space within a line.
  @inline(__always)
  static func isBlank(_ byte: UInt8) -> Bool { byte == space || byte == tab }

  /// The same for a line that may still end with a carriage return.
  @inline(__always)
  static func isBlankOrReturn(_ byte: UInt8) -> Bool { isBlank(byte) || byte == carriageReturn }

  /// Whether it is a control character other than a tab: no header field may have one (RFC 9110 §5.5).
  @inline(__always)
  static func isControl(_ byte: UInt8) -> Bool { (byte < space && byte != tab) || byte == 0x7F }

  @inline(__always)
  static func lowercased(_ byte: UInt8) -> UInt8 { isUpperLetter(byte) ? byte | 0x20 : byte }

  /// The value of a hexadecimal digit of either case, or nil.
  @inline(__always)
  static func hexValue(_ byte: UInt8) -> UInt8? {
    if isDigit(byte) { return byte &- zero }
    let letter = (byte | 0x20) &- UInt8(ascii: "a")
    return letter < 6 ? letter + 10 : nil
  }

  /// The lower-case hexadecimal digit of a value below 16.
  @inline(__always)
  static func hexDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? zero + value : UInt8(ascii: "a") + value - 10
  }

  /// The text of bytes that are all ASCII.
  static func text(_ bytes: Span<UInt8>) -> String {
    guard let utf8 = try? UTF8Span(validating: bytes) else {
      assertionFailure("not ASCII")
      return ""
    }
    return String(copying: utf8)
  }

  /// The text of three runs of ASCII bytes, written directly into the string's storage.
  static func text(_ head: Span<UInt8>, _ middle: Span<UInt8>, _ tail: Span<UInt8>) -> String {
    unsafe String(unsafeUninitializedCapacity: head.count + middle.count + tail.count) { bytes in
      var end = 0
      unsafe append(head, to: bytes, at: &end)
      unsafe append(middle, to: bytes, at: &end)
      unsafe append(tail, to: bytes, at: &end)
      return end
    }
  }

  @inline(__always)
  private static func append(_ run: Span<UInt8>, to bytes: UnsafeMutableBufferPointer<UInt8>, at end: inout Int) {
    unsafe run.withUnsafeBufferPointer { run in
      _ = unsafe bytes.extracting(end...).update(fromContentsOf: run)
    }
    end += run.count
  }
}

extension BidirectionalCollection<UInt8> {
  /// The bytes without those of that kind at both ends.
  func trimming(_ isDropped: (UInt8) -> Bool) -> SubSequence {
    guard let first = firstIndex(where: { !isDropped($0) }), let last = lastIndex(where: { !isDropped($0) }) else {
      return self[endIndex...]
    }
    return self[first...last]
  }
}

extension Substring {
  /// The text without the blanks at both ends.
  package var trimmed: Substring { Substring(utf8.trimming(ASCII.isBlank)) }
}

extension UInt16 {
  /// Reads a port as people write it: digits only, without the sign that Swift's own numbers may have.
  ///
  /// - Parameter text: the port, such as `443`.
  package init?(port text: some StringProtocol) {
    guard text.utf8.allSatisfy(ASCII.isDigit) else { return nil }
    self.init(text)
  }
}
