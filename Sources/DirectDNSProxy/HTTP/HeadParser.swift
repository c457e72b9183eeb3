// SPDX-License-Identifier: Apache-2.0
/// Why a message is refused.
package enum MessageFault: Error, Equatable {
  /// It breaks the grammar or is ambiguous; the text says how.
  case malformed(String)
  case tooLarge
  case version
  /// A transfer coding that the proxy cannot decode.
  case coding
}

/// Reads heads by RFC 9112, without any of its leniencies: what two parsers may read in two ways is refused.
///
/// A response may have folded lines, which become one, and white space before a colon, which is removed, since old
/// servers send them (§5.1, §5.2).
package enum HeadParser {
  package enum Kind { case request, response }

  /// Where a head ends.
  package enum End: Equatable {
    /// After its empty line.
    case at(Int)
    /// Not in these bytes; with more of them the search may go on from there.
    case missing(searched: Int)
  }

  /// Looks for the end of a head.
  ///
  /// - Parameters:
  ///   - bytes: what has come.
  ///   - searched: how much of it was searched before.
  /// - Returns: where it ends, or how far it was searched.
  /// - Throws: if there is a carriage return without a line feed, since the end might then never come.
  package static func end(in bytes: Span<UInt8>, from searched: Int = 0) throws(MessageFault) -> End {
    var index = searched
    while index < bytes.count {
      switch bytes[index] {
      case 0x0d:
        guard index + 1 < bytes.count else { return .missing(searched: index) }
        guard bytes[index + 1] == 0x0a else { throw .malformed("a carriage return without a line feed") }
        index += 1
      case 0x0a:
        // The parser refuses a line that ends in a line feed alone.
        if index + 1 < bytes.count, bytes[index + 1] == 0x0a { return .at(index + 2) }
        if index + 2 < bytes.count, bytes[index + 1] == 0x0d, bytes[index + 2] == 0x0a { return .at(index + 3) }
        if index + 2 >= bytes.count { return .missing(searched: index) }
        index += 1
      default: index += 1
      }
    }
    return .missing(searched: index)
  }

  /// Checks that what has come of a response may become one: what greets by another protocol may wait for its client
  /// then, and never send the end of a head.
  package static func checkBeginning(ofResponse bytes: Span<UInt8>) throws(MessageFault) {
    // An empty line before the response, or the first byte of one.
    guard !bytes.isEmpty, bytes[0] != 0x0d else { return }
    guard zip(bytes.indices, "HTTP/".utf8).allSatisfy({ bytes[$0] == $1 }) else {
      throw .malformed("there is no status line")
    }
  }

  /// Reads a head.
  ///
  /// - Parameters:
  ///   - bytes: the head with its empty line.
  ///   - kind: what it is the head of.
  ///   - fieldLimit: the most fields.
  /// - Returns: the head, which refers to the bytes.
  /// - Throws: what is wrong with it.
  package static func parse(_ bytes: [UInt8], _ kind: Kind, fieldLimit: Int = 500) throws(MessageFault) -> MessageHead {
    var bytes = bytes
    if kind == .response { mend(&bytes) }
    let span = bytes.span
    var reader = LineReader()
    let first = try reader.next(in: span)
    let (start, minorVersion) =
      kind == .request ? try requestLine(span, first) : try statusLine(span, first)
    var fields: [MessageHead.Field] = []
    fields.reserveCapacity(16)
    while true {
      let line = try reader.next(in: span)
      guard !line.isEmpty else { break }
      guard fields.count < fieldLimit else { throw .tooLarge }
      fields.append(try field(span, line, kind))
    }
    guard reader.isAtEnd(of: span) else { throw .malformed("the head has an empty line inside") }
    return MessageHead(bytes: bytes, start: start, minorVersion: minorVersion, fields: fields)
  }

  /// Reads a field's line.
  static func field(_ bytes: Span<UInt8>, _ line: Range<Int>, _ kind: Kind) throws(MessageFault) -> MessageHead.Field {
    var colon = line.lowerBound
    while colon < line.upperBound, bytes[colon].isTokenByte { colon += 1 }
    guard colon < line.upperBound, bytes[colon] == UInt8(ascii: ":"), colon > line.lowerBound else {
      throw .malformed("a field has no name, or one with a character that none may have")
    }
    for index in (colon + 1)..<line.upperBound {
      let byte = bytes[index]
      // In a response only NUL and CR are refused: old servers send other control characters (RFC 9110 §5.5).
      let isBad = kind == .request ? byte < 0x20 && byte != 0x09 || byte == 0x7f : byte == 0 || byte == 0x0d
      guard !isBad else { throw .malformed("a field's value has a control character") }
    }
    return MessageHead.Field(
      name: FieldName(bytes.extracting(line.lowerBound..<colon)), line: line, colon: colon,
      value: bytes.trimmed((colon + 1)..<line.upperBound))
  }

  private static func requestLine(
    _ bytes: Span<UInt8>, _ line: Range<Int>
  ) throws(MessageFault) -> (MessageHead.Start, Int) {
    var index = line.lowerBound
    while index < line.upperBound, bytes[index].isTokenByte { index += 1 }
    let method = line.lowerBound..<index
    guard !method.isEmpty, index < line.upperBound, bytes[index] == 0x20 else {
      throw .malformed("the first line is not that of a request: METHOD TARGET HTTP/1.1")
    }
    guard method.count <= 64 else { throw .malformed("the method is longer than 64 characters") }
    let target = (index + 1)..<max(index + 1, line.upperBound - 9)
    guard target.upperBound + 9 == line.upperBound, bytes[target.upperBound] == 0x20 else {
      throw .malformed("the first line is not that of a request: METHOD TARGET HTTP/1.1")
    }
    let minorVersion = try version(bytes, (target.upperBound + 1)..<line.upperBound)
    guard !target.isEmpty, target.allSatisfy({ bytes[$0] > 0x20 && bytes[$0] != 0x7f }) else {
      throw .malformed("the target is empty, or has a space or a control character")
    }
    return (.request(method: method, target: target), minorVersion)
  }

  private static func statusLine(
    _ bytes: Span<UInt8>, _ line: Range<Int>
  ) throws(MessageFault) -> (MessageHead.Start, Int) {
    guard line.count >= 12, bytes[line.lowerBound + 8] == 0x20 else { throw .malformed("there is no status line") }
    let minorVersion = try version(bytes, line.lowerBound..<line.lowerBound + 8)
    var status = 0
    for index in line.lowerBound + 9..<line.lowerBound + 12 {
      guard bytes[index].isDigit else { throw .malformed("the status is not three digits") }
      status = status * 10 + Int(bytes[index] - 0x30)
    }
    guard status >= 100, line.count == 12 || bytes[line.lowerBound + 12] == 0x20 else {
      throw .malformed("the status is not three digits")
    }
    let reason = min(line.lowerBound + 13, line.upperBound)..<line.upperBound
    guard reason.allSatisfy({ bytes[$0] != 0 && bytes[$0] != 0x0d }) else {
      throw .malformed("the reason phrase has a control character")
    }
    return (.response(status: status, reason: reason), minorVersion)
  }

  /// `HTTP/1.0` and `HTTP/1.1`, only in capitals (RFC 9112 §2.3); a later `HTTP/1.x` is read as the latter (RFC 9110
  /// §2.5).
  private static func version(_ bytes: Span<UInt8>, _ range: Range<Int>) throws(MessageFault) -> Int {
    let name = "HTTP/".utf8
    guard zip(range, name).allSatisfy({ bytes[$0] == $1 }), bytes[range.lowerBound + 6] == UInt8(ascii: "."),
      bytes[range.lowerBound + 5].isDigit, bytes[range.lowerBound + 7].isDigit
    else { throw .malformed("the first line names no HTTP version") }
    switch (bytes[range.lowerBound + 5], bytes[range.lowerBound + 7]) {
    case (0x31, 0x30): return 0
    case (0x31, 0x31...0x39): return 1
    default: throw .version
    }
  }

  /// Makes what old servers send valid, behind the first line.
  static func mend(_ bytes: inout [UInt8]) {
    unfold(&bytes)
    removeSpaceBeforeColons(&bytes)
  }

  /// Joins folded lines; their line ends become spaces.
  private static func unfold(_ bytes: inout [UInt8]) {
    // The first line cannot be folded.
    var index = (bytes.firstIndex(of: 0x0a) ?? 0) + 1
    while index + 2 < bytes.count {
      if bytes[index] == 0x0d, bytes[index + 1] == 0x0a, bytes[index + 2] == 0x20 || bytes[index + 2] == 0x09 {
        (bytes[index], bytes[index + 1]) = (0x20, 0x20)
        index += 1
      }
      index += 1
    }
  }

  /// Moves a colon next to its field's name; the white space between them then comes before the value.
  private static func removeSpaceBeforeColons(_ bytes: inout [UInt8]) {
    var index = 0
    while let lineEnd = bytes[index...].firstIndex(of: 0x0a) {
      index = lineEnd + 1
      let name = bytes[index...].prefix { $0.isTokenByte }.endIndex
      let colon = bytes[name...].prefix { $0 == 0x20 || $0 == 0x09 }.endIndex
      if name > index, colon > name, colon < bytes.count, bytes[colon] == UInt8(ascii: ":") {
        bytes.swapAt(name, colon)
      }
    }
  }
}

/// A head's lines, one after the other.
private struct LineReader {
  private var index = 0

  func isAtEnd(of bytes: Span<UInt8>) -> Bool { index == bytes.count }

  /// The next line without its end.
  mutating func next(in bytes: Span<UInt8>) throws(MessageFault) -> Range<Int> {
    let start = index
    while index < bytes.count {
      if bytes[index] == 0x0a {
        guard index > start, bytes[index - 1] == 0x0d else { throw .malformed("a line ends without a carriage return") }
        index += 1
        return start..<index - 2
      }
      index += 1
    }
    throw .malformed("the head has no end")
  }
}

extension UInt8 {
  var isDigit: Bool { self &- 0x30 < 10 }

  /// The number that a hexadecimal digit stands for; nil if it is none.
  var hexadecimalValue: UInt8? {
    if isDigit { return self - 0x30 }
    let letter = self | 0x20
    return letter &- 0x61 < 6 ? letter - 0x61 + 10 : nil
  }

  /// Whether it is allowed in a token (RFC 9110 §5.6.2).
  var isTokenByte: Bool { self < 128 && Self.tokenBytes[Int(self)] }

  private static let tokenBytes: [Bool] = (0..<128).map { code in
    let byte = UInt8(code)
    return byte.isDigit || (byte | 0x20) &- 0x61 < 26 || "!#$%&'*+-.^_`|~".utf8.contains(byte)
  }
}
