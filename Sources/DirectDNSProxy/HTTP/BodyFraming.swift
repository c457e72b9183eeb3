// SPDX-License-Identifier: Apache-2.0
/// How a message says where its body ends (RFC 9112 §6.3).
package enum BodyFraming: Equatable, Sendable {
  case none
  case length(Int)
  case chunked
  /// The body ends with the connection.
  case untilClose

  /// The framing of a request's body; an ambiguous one is refused.
  package static func of(request head: MessageHead) throws(MessageFault) -> BodyFraming {
    let length = try contentLength(head)
    guard head.contains(.transferEncoding) else { return length.map { $0 == 0 ? .none : .length($0) } ?? .none }
    guard length == nil else { throw .malformed("it has both Content-Length and Transfer-Encoding") }
    guard head.minorVersion == 1 else { throw .malformed("HTTP/1.0 has no Transfer-Encoding") }
    guard isChunkedAlone(head) else { throw .coding }
    return .chunked
  }

  /// The framing of a response's body.
  ///
  /// - Parameters:
  ///   - head: the response.
  ///   - status: its status.
  ///   - isToHEAD: whether it answers HEAD.
  /// - Returns: how its body ends.
  /// - Throws: if it is ambiguous.
  package static func of(response head: MessageHead, status: Int, isToHEAD: Bool) throws(MessageFault) -> BodyFraming {
    guard !isToHEAD, !isBodiless(status) else { return .none }
    if head.contains(.transferEncoding) {
      guard head.minorVersion == 1, head.onlyValue(.transferEncoding) != nil, !head.contains(.contentLength) else {
        throw .malformed("the length is ambiguous")
      }
      // A body in any other coding is passed on as it is until the connection ends, even if "chunked" is the last one.
      return isChunkedAlone(head) ? .chunked : .untilClose
    }
    guard let length = try contentLength(head) else { return .untilClose }
    return length == 0 ? .none : .length(length)
  }

  /// Whether responses of a status never have a body, whatever they announce (RFC 9112 §6.3).
  static func isBodiless(_ status: Int) -> Bool { status < 200 || status == 204 || status == 304 }

  static func isChunkedAlone(_ head: MessageHead) -> Bool {
    guard let value = head.onlyValue(.transferEncoding) else { return false }
    return head.bytes.span.extracting(value).isEqualIgnoringCase("chunked")
  }

  /// The length; a response may repeat the same one.
  private static func contentLength(_ head: MessageHead) throws(MessageFault) -> Int? {
    var found: Int?
    for value in head.values(.contentLength) {
      guard let length = number(head.bytes.span.extracting(value)), found == nil || found == length,
        found == nil || head.isResponse
      else { throw .malformed("Content-Length is not a number, or there are several") }
      found = length
    }
    return found
  }

  /// A length in digits and nothing else (RFC 9110 §8.6).
  static func number(_ digits: Span<UInt8>) -> Int? {
    guard !digits.isEmpty, digits.count <= 18 else { return nil }
    var value = 0
    for index in digits.indices {
      guard digits[index].isDigit else { return nil }
      value = value * 10 + Int(digits[index] - 0x30)
    }
    return value
  }
}

extension MessageHead {
  var isResponse: Bool { if case .response = start { true } else { false } }
}
