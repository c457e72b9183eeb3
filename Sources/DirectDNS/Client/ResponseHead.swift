// SPDX-License-Identifier: Apache-2.0
internal import HTTPTypes
internal import Synchronization

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
      let space = HeadLine.index(of: ASCII.space, in: span, 0..<end), space > 5,
      let code = HeadLine.status(of: span.extracting(0..<end))
    else { return nil }
    let reason = HeadLine.text(span.extracting(FieldReader.value(span, min(space + 5, end), end))) ?? ""
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

/// A response's head whose fields are read, and get the name back, when somebody first asks for them.
///
/// To make `HTTPFields` takes a tenth of what a whole request does, and many who send look at the status alone.
final class LazyHead: Sendable {
  let status: HTTPResponse.Status
  /// Whether it may have a field in which an address can stand for the name; see ``ResponseRestorer``.
  let hasRestorableField: Bool
  private let received: ResponseHead?
  private let restorer: ResponseRestorer?
  private let made = AtomicLazyReference<Made>()

  private final class Made: Sendable {
    let response: HTTPResponse

    init(_ response: HTTPResponse) { self.response = response }
  }

  /// - Parameters:
  ///   - head: what came.
  ///   - restorer: what puts the name back; nil where there is nothing to put back.
  init(_ head: ResponseHead, _ restorer: ResponseRestorer?) {
    status = head.status
    hasRestorableField = head.hasRestorableField
    received = head
    self.restorer = restorer
  }

  /// Of a head that was made, and not received.
  init(_ response: HTTPResponse) {
    status = response.status
    hasRestorableField = true
    received = nil
    restorer = nil
    _ = made.storeIfNil(Made(response))
  }

  /// Status and fields: the same each time, whoever asks first.
  var response: HTTPResponse {
    if let made = made.load() { return made.response }
    let read = received?.response ?? HTTPResponse(status: status)
    return made.storeIfNil(Made(restorer?.restore(read) ?? read)).response
  }
}
