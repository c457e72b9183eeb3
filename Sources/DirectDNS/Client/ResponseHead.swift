// SPDX-License-Identifier: Apache-2.0
internal import HTTPTypes

/// The head of a response as libcurl hands it over: a status line and field lines.
///
/// What every response is judged by is read at once, and the fields when somebody asks for them: most of the work is to
/// make `HTTPFields`.
struct ResponseHead: Sendable {
  let status: HTTPResponse.Status
  /// The version of HTTP, and what stands behind its point: 0 where there is none.
  let version: Int
  let minorVersion: Int
  private let lines: HeadLines
  /// Where the field lines begin.
  private let start: Int

  /// Whether it has a field in which an address can stand for the name; see ``ResponseRestorer``.
  var hasRestorableField: Bool { lines.hasRestorableField }

  /// - Returns: nil for lines that are no head, and where nobody can tell how long the body is.
  init?(_ lines: HeadLines) {
    guard lines.hasSoundLength else { return nil }
    let span = lines.bytes.span
    guard let end = FieldReader.lineEnd(span, from: 0),
      let space = FieldReader.index(of: ASCII.space, span, 0..<end), space + 3 < end, space > 5
    else { return nil }
    var code = 0
    for place in space + 1...space + 3 {
      guard ASCII.isDigit(span[place]) else { return nil }
      code = code * 10 + Int(span[place] - ASCII.zero)
    }
    let reason = FieldReader.text(span, FieldReader.value(span, min(space + 5, end), end)) ?? ""
    status = reason.isEmpty ? .init(code: code) : .init(code: code, reasonPhrase: reason)
    // "HTTP/2 200" or "HTTP/1.1 200 OK".
    version = Int(span[5] &- ASCII.zero)
    minorVersion = space > 7 && ASCII.isDigit(span[7]) ? Int(span[7] - ASCII.zero) : 0
    self.lines = lines
    start = end + 1
  }

  /// Status and fields; made anew each time.
  var response: HTTPResponse {
    HTTPResponse(status: status, headerFields: FieldReader.fields(lines.bytes, from: start))
  }
}
