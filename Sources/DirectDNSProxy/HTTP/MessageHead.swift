// SPDX-License-Identifier: Apache-2.0
/// The head of an HTTP/1 message: its bytes, and where its parts are in them (RFC 9112 §2–5).
///
/// The bytes stay as they came: a message is passed on by writing them again without the lines that are not for the
/// next hop. SwiftNIO's parser converts them to text, which changes bytes that are not UTF-8, and knows only its own
/// methods.
package struct MessageHead: Sendable {
  package enum Start: Sendable, Equatable {
    case request(method: Range<Int>, target: Range<Int>)
    /// The reason phrase is what comes after the status, and may be empty.
    case response(status: Int, reason: Range<Int>)
  }

  package struct Field: Sendable, Equatable {
    package let name: FieldName
    /// From its name to the end of its line.
    package let line: Range<Int>
    /// Where its name ends.
    package let colon: Int
    /// Without the white space around it.
    package let value: Range<Int>
  }

  /// From the first byte of the first line to the empty line's end.
  package let bytes: [UInt8]
  package let start: Start
  /// 1 for HTTP/1.1, 0 for HTTP/1.0.
  package let minorVersion: Int
  package let fields: [Field]

  func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

  /// The values of a field, in their order.
  func values(_ name: FieldName) -> [Range<Int>] { fields.lazy.filter { $0.name == name }.map(\.value) }

  /// The values of a field that ``FieldName`` has no case for, by its name in lower case.
  func values(named name: String) -> [Range<Int>] {
    fields.lazy.filter { field in
      field.name == .other && bytes.span.extracting(field.line.lowerBound..<field.colon).isEqualIgnoringCase(name)
    }.map(\.value)
  }

  func contains(_ name: FieldName) -> Bool { fields.contains { $0.name == name } }

  /// The only value of a field; nil if there is none or there are several.
  func onlyValue(_ name: FieldName) -> Range<Int>? {
    var found: Range<Int>?
    for field in fields where field.name == name {
      guard found == nil else { return nil }
      found = field.value
    }
    return found
  }

  /// Whether a list of tokens contains one, ignoring case.
  func has(_ token: String, in name: FieldName) -> Bool {
    var isFound = false
    forEachToken(of: name) { if bytes.span.extracting($0).isEqualIgnoringCase(token) { isFound = true } }
    return isFound
  }

  /// Calls a body with each member of a field's lists.
  func forEachToken(of name: FieldName, _ body: (Range<Int>) -> Void) {
    for field in fields where field.name == name {
      var start = field.value.lowerBound
      for index in field.value.lowerBound...field.value.upperBound
      where index == field.value.upperBound || bytes[index] == UInt8(ascii: ",") {
        let token = bytes.span.trimmed(start..<index)
        if !token.isEmpty { body(token) }
        start = index + 1
      }
    }
  }

  /// Whether it has or asks for credentials that authenticate the connection and not the request: NTLM and Negotiate
  /// (RFC 4559 §6).
  var authenticatesConnection: Bool {
    var isFound = false
    let look = { (token: Range<Int>) in
      let scheme = bytes.span.extracting(token.prefix { bytes[$0] != 0x20 && bytes[$0] != 0x09 })
      if scheme.isEqualIgnoringCase("ntlm") || scheme.isEqualIgnoringCase("negotiate") { isFound = true }
    }
    forEachToken(of: .authorization, look)
    forEachToken(of: .wwwAuthenticate, look)
    return isFound
  }

  /// Whether it is a HEAD request, whose response has no body, whatever it says (RFC 9110 §9.3.2).
  var isToHEAD: Bool { if case .request(let method, _) = start { text(method) == "HEAD" } else { false } }

  /// Whether the sender wants to keep the connection open (RFC 9112 §9.3).
  package var keepsConnection: Bool {
    if has("close", in: .connection) { return false }
    return minorVersion == 1 || has("keep-alive", in: .connection)
  }
}

extension Span<UInt8> {
  /// A part without the spaces and tabs around it.
  func trimmed(_ range: Range<Int>) -> Range<Int> {
    var (start, end) = (range.lowerBound, range.upperBound)
    while start < end, self[start] == 0x20 || self[start] == 0x09 { start += 1 }
    while end > start, self[end - 1] == 0x20 || self[end - 1] == 0x09 { end -= 1 }
    return start..<end
  }
}
