// SPDX-License-Identifier: Apache-2.0
internal import HTTPTypes
internal import Synchronization

/// The head of a response: a status, and fields that are parsed, and get the name back, when they are first asked for.
///
/// That takes a tenth of the time of a whole request, and many callers only look at the status.
final class ResponseHead: Sendable {
  let status: HTTPResponse.Status
  /// The version of HTTP; its minor number is 0 if the status line has none.
  let version: ConnectionDetails.HTTPVersion
  /// Whether it may have a field in which an address stands in place of the name; see ``ResponseRestorer``.
  let hasRestorableField: Bool
  /// The lines that libcurl has delivered, and the index of the first field line; nil if it was not received.
  private let received: (lines: HeadLines, start: Int)?
  private let restorer: ResponseRestorer?
  private let made = AtomicLazyReference<Made>()

  private final class Made: Sendable {
    let response: HTTPResponse

    init(_ response: HTTPResponse) { self.response = response }
  }

  /// Parses the status line; nil if there is no valid one, or if the end of the body cannot be told.
  ///
  /// A response to HEAD, a 204 and a 304 end with their head, whatever their fields say (RFC 9112 §6.3).
  ///
  /// - Parameters:
  ///   - lines: the head as it came.
  ///   - restorer: puts the name back; nil if there is nothing to put back.
  ///   - method: the request's.
  init?(_ lines: HeadLines, _ restorer: ResponseRestorer? = nil, to method: HTTPRequest.Method = .get) {
    let hasNoBody = method == .head || lines.status == 204 || lines.status == 304
    guard hasNoBody || lines.hasSoundLength else { return nil }
    let span = lines.bytes.span
    guard let end = HeadLine.index(of: ASCII.newline, in: span, span.indices),
      let space = HeadLine.index(of: ASCII.space, in: span, 0..<end), space > 5, ASCII.isDigit(span[5]),
      // nghttp2 takes any three digits.
      let code = lines.status, code >= 100
    else { return nil }
    // No blank need stand before the reason, for libcurl.
    let reason = HeadLine.text(span.extracting(HeadLine.trimmed(span, min(space + 4, end)..<end))) ?? ""
    status = reason.isEmpty ? .init(code: code) : .init(code: code, reasonPhrase: reason)
    // "HTTP/2 200" or "HTTP/1.1 200 OK".
    version = ConnectionDetails.HTTPVersion(
      major: Int(span[5] &- ASCII.zero), minor: space > 7 && ASCII.isDigit(span[7]) ? Int(span[7] - ASCII.zero) : 0)
    hasRestorableField = lines.hasRestorableField
    received = (lines, end + 1)
    self.restorer = restorer
  }

  /// Creates the head of a response that was not received.
  init(_ response: HTTPResponse) {
    status = response.status
    version = .http1_1
    hasRestorableField = true
    received = nil
    restorer = nil
    _ = made.storeIfNil(Made(response))
  }

  /// Status and fields, which are parsed once, even if several threads ask for them at the same time.
  var response: HTTPResponse {
    if let made = made.load() { return made.response }
    let fields = received.map { FieldReader.fields($0.lines.bytes, from: $0.start) } ?? [:]
    let read = HTTPResponse(status: status, headerFields: fields)
    return made.storeIfNil(Made(restorer?.restore(read) ?? read)).response
  }
}
