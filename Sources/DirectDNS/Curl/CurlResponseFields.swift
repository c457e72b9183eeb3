// SPDX-License-Identifier: Apache-2.0
/// The header fields of a DNS server's response that matter, taken from the lines that libcurl hands over: a pure
/// value.
///
/// Of several fields of one name the first counts; those of `Cache-Control` make one list (RFC 9110 §5.3). Fields of
/// interim responses and trailers are ignored.
struct CurlResponseFields: Sendable {
  private(set) var contentType: String?
  private(set) var age: String?
  private(set) var cacheControl: String?
  private(set) var retryAfter: String?
  /// Taken from a response of status 429 only; no other one needs it.
  private(set) var date: String?
  /// The content type of the response before: the next one nearly always has the same, and then reuses the string.
  private var likelyType: String?
  private var isHeadComplete = false
  private var isRateLimited = false
  private var length: Int64?
  private var isLengthWrong = false
  /// Whether a `Transfer-Encoding` names a coding; nil if there is none.
  private var isCoded: Bool?

  /// What is wrong with a response that libcurl takes for a whole one; nil if nothing is.
  ///
  /// It asks for no more of a head than its status line. Of two lengths libcurl 7.88 goes by the last one, and by none
  /// beside a transfer coding that is none, so that a body may have been cut (RFC 9112 §6.3).
  var fault: HTTPTransportError? {
    if !isHeadComplete { return .connectionLost("the response ended before its head") }
    if isLengthWrong { return .malformedResponse("its Content-Length is malformed, which the server has to mend") }
    guard isCoded == false, length != nil else { return nil }
    return .malformedResponse("a Content-Length stands beside its Transfer-Encoding, which the server has to mend")
  }

  /// Forgets the last response: the next one begins.
  mutating func begin() {
    let likely = contentType ?? likelyType
    self = CurlResponseFields()
    likelyType = likely
  }

  /// Takes a line: a status line, a field, or the empty line behind them.
  mutating func take(_ line: Span<UInt8>) {
    guard !line.isEmpty, !HeadLine.isLineEnd(line[0]) else {
      isHeadComplete = true
      return
    }
    switch ASCII.lowercased(line[0]) {
    case UInt8(ascii: "a"): if age == nil { age = value(of: line, named: "age") }
    case UInt8(ascii: "c"):
      if contentType == nil { contentType = value(of: line, named: "content-type") }
      if let more = value(of: line, named: "cache-control") {
        cacheControl = cacheControl.map { $0 + ", " + more } ?? more
      }
      if !isHeadComplete, HeadLine.isField("content-length", line) { note(HeadLine.length(of: line)) }
    case UInt8(ascii: "t"):
      if !isHeadComplete, HeadLine.isField("transfer-encoding", line) {
        isCoded = isCoded == true || HeadLine.isChunked(line) != false
      }
    case UInt8(ascii: "r"): if retryAfter == nil { retryAfter = value(of: line, named: "retry-after") }
    case UInt8(ascii: "d"): if isRateLimited, date == nil { date = value(of: line, named: "date") }
    case UInt8(ascii: "h"):
      guard HeadLine.begins(with: "http/", line) else { break }
      begin()
      isRateLimited = HeadLine.status(of: line) == 429
    default: break
    }
  }

  private mutating func note(_ number: Int64?) {
    if number == nil || length ?? number != number { isLengthWrong = true }
    length = number
  }

  /// The value of the field of that name; nil for any other line.
  @inline(__always)
  private func value(of line: Span<UInt8>, named name: StaticString) -> String? {
    guard HeadLine.isField(name, line), !isHeadComplete else { return nil }
    let value = line.extracting(HeadLine.value(of: line, behind: name))
    if let likelyType, Self.isSame(likelyType.utf8.span, value) { return likelyType }
    return HeadLine.text(value) ?? String(decoding: value.indices.map { value[$0] }, as: UTF8.self)
  }

  private static func isSame(_ one: Span<UInt8>, _ other: Span<UInt8>) -> Bool {
    guard one.count == other.count else { return false }
    for index in one.indices where one[index] != other[index] { return false }
    return true
  }
}
