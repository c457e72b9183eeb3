// SPDX-License-Identifier: Apache-2.0
internal import HTTPTypes
internal import Synchronization

/// The head of a response: a status line and field lines, as libcurl delivers them.
///
/// The status is parsed at once. The fields are parsed when they are asked for, since making `HTTPFields` is most of
/// the work.
struct ResponseHead: Sendable {
  let status: HTTPResponse.Status
  /// The version of HTTP; its minor number is 0 if the status line has none.
  let version: ConnectionDetails.HTTPVersion
  private let lines: HeadLines
  /// The index of the first field line.
  private let start: Int

  /// Whether it has a field in which an address may stand in place of the name; see ``ResponseRestorer``.
  var hasRestorableField: Bool { lines.hasRestorableField }

  /// Parses the status line; nil if there is no valid one, or if the end of the body cannot be told.
  init?(_ lines: HeadLines) {
    guard lines.hasSoundLength else { return nil }
    let span = lines.bytes.span
    guard let end = FieldReader.lineEnd(span, from: 0),
      let space = HeadLine.index(of: ASCII.space, in: span, 0..<end), space > 5,
      let code = lines.status
    else { return nil }
    let reason = HeadLine.text(span.extracting(HeadLine.trimmed(span, min(space + 5, end)..<end))) ?? ""
    status = reason.isEmpty ? .init(code: code) : .init(code: code, reasonPhrase: reason)
    // "HTTP/2 200" or "HTTP/1.1 200 OK".
    version = ConnectionDetails.HTTPVersion(
      major: Int(span[5] &- ASCII.zero), minor: space > 7 && ASCII.isDigit(span[7]) ? Int(span[7] - ASCII.zero) : 0)
    self.lines = lines
    start = end + 1
  }

  /// Status and fields, which are parsed each time.
  var response: HTTPResponse {
    HTTPResponse(status: status, headerFields: FieldReader.fields(lines.bytes, from: start))
  }
}

/// A response's head whose fields are parsed, and get the name back, when they are first asked for.
///
/// That takes a tenth of the time of a whole request, and many callers only look at the status.
final class LazyHead: Sendable {
  let status: HTTPResponse.Status
  /// Whether it may have a field in which an address stands in place of the name; see ``ResponseRestorer``.
  let hasRestorableField: Bool
  private let received: ResponseHead?
  private let restorer: ResponseRestorer?
  private let made = AtomicLazyReference<Made>()

  private final class Made: Sendable {
    let response: HTTPResponse

    init(_ response: HTTPResponse) { self.response = response }
  }

  /// Creates the head of a response that was received.
  ///
  /// - Parameters:
  ///   - head: the head as it came.
  ///   - restorer: puts the name back; nil if there is nothing to put back.
  init(_ head: ResponseHead, _ restorer: ResponseRestorer?) {
    status = head.status
    hasRestorableField = head.hasRestorableField
    received = head
    self.restorer = restorer
  }

  /// Creates the head of a response that was not received.
  init(_ response: HTTPResponse) {
    status = response.status
    hasRestorableField = true
    received = nil
    restorer = nil
    _ = made.storeIfNil(Made(response))
  }

  /// Status and fields, which are parsed once, even if several threads ask for them at the same time.
  var response: HTTPResponse {
    if let made = made.load() { return made.response }
    let read = received?.response ?? HTTPResponse(status: status)
    return made.storeIfNil(Made(restorer?.restore(read) ?? read)).response
  }
}
