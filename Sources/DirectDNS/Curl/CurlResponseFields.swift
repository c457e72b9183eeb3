// SPDX-License-Identifier: Apache-2.0
/// The header fields of a response that matter to DNS, taken from its lines as libcurl hands them over: a pure value.
///
/// Of several of one name the first counts, but those of `Cache-Control` are one list (RFC 9110 §5.3). Those of interim
/// responses and trailers do not.
struct CurlResponseFields: Sendable {
  private(set) var contentType: String?
  private(set) var age: String?
  private(set) var cacheControl: String?
  private(set) var retryAfter: String?
  /// Of a response of status 429 alone: no other one's matters.
  private(set) var date: String?
  /// The content type of the response before: nearly always that of the next one too, which is not made again then.
  private var likelyType: String?
  private var isOver = false
  private var isLimited = false

  /// Forgets what came: the next response begins.
  mutating func begin() {
    let likely = contentType ?? likelyType
    self = CurlResponseFields()
    likelyType = likely
  }

  /// Takes a line: a status line, a field, or the empty line behind them.
  mutating func take(_ line: Span<UInt8>) {
    guard line.count > 2 else {
      isOver = true
      return
    }
    // A field is told by where its colon stands before its name is looked at: most are none of these.
    switch ASCII.lowercased(line[0]) {
    case UInt8(ascii: "a"): if Self.isField(line, 3), age == nil { age = text(line, Self.age) }
    case UInt8(ascii: "c"):
      if Self.isField(line, 12), contentType == nil { contentType = text(line, Self.contentType) }
      if Self.isField(line, 13), let more = text(line, Self.cacheControl) {
        cacheControl = cacheControl.map { $0 + ", " + more } ?? more
      }
    case UInt8(ascii: "r"): if Self.isField(line, 11), retryAfter == nil { retryAfter = text(line, Self.retryAfter) }
    case UInt8(ascii: "d"): if isLimited, Self.isField(line, 4), date == nil { date = text(line, Self.date) }
    case UInt8(ascii: "h"):
      guard Self.begins(line, with: Self.status) else { break }
      begin()
      isLimited = Self.isLimited(line)
    default: break
    }
  }

  private static let age = Array("age:".utf8)
  private static let contentType = Array("content-type:".utf8)
  private static let cacheControl = Array("cache-control:".utf8)
  private static let retryAfter = Array("retry-after:".utf8)
  private static let date = Array("date:".utf8)
  private static let status = Array("http/".utf8)
  private static let limited = Array(" 429".utf8)

  /// Whether a status line, `HTTP/2 429` or `HTTP/1.1 429 Too Many Requests`, says that there were too many requests.
  private static func isLimited(_ line: Span<UInt8>) -> Bool {
    guard let blank = line.indices.first(where: { line[$0] == ASCII.space }) else { return false }
    return begins(line.extracting(blank..<line.count), with: limited)
  }

  private static func isField(_ line: Span<UInt8>, _ colon: Int) -> Bool {
    line.count > colon && line[colon] == ASCII.colon
  }

  /// The value of a field of that name; nil for any other line.
  private func text(_ line: Span<UInt8>, _ name: [UInt8]) -> String? {
    guard !isOver, Self.begins(line, with: name) else { return nil }
    var (start, end) = (name.count, line.count)
    while start < end, line[start] <= ASCII.space { start += 1 }
    while start < end, line[end - 1] <= ASCII.space { end -= 1 }
    let value = line.extracting(start..<end)
    if let likelyType, Self.isSame(likelyType.utf8.span, value) { return likelyType }
    if let text = try? UTF8Span(validating: value) { return String(copying: text) }
    return String(decoding: value.indices.map { value[$0] }, as: UTF8.self)
  }

  private static func begins(_ line: Span<UInt8>, with name: [UInt8]) -> Bool {
    guard line.count >= name.count else { return false }
    for index in name.indices where ASCII.lowercased(line[index]) != name[index] { return false }
    return true
  }

  private static func isSame(_ one: Span<UInt8>, _ other: Span<UInt8>) -> Bool {
    guard one.count == other.count else { return false }
    for index in one.indices where one[index] != other[index] { return false }
    return true
  }
}
