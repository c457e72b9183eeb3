// SPDX-License-Identifier: Apache-2.0
/// Learns from libcurl's trace whether the server has processed a request's HTTP/2 stream: a pure value.
///
/// GOAWAY names the last stream that the server has processed: requests on later ones may be sent again, whatever their
/// method (RFC 9113 §6.8). libcurl before 8.4 does not use that if the connection has no other stream: only its trace
/// shows the GOAWAY, and the request fails as if the connection had been lost. Nor does it tell, when it has retried a
/// request often enough, that it was refused the last time too.
struct StreamTrace {
  private var stream: UInt64?
  private var last: UInt64?
  private var isRefused = false

  /// Whether the server has said that it has not processed the request.
  var isUnprocessed: Bool {
    if let stream, let last, stream > last { true } else { isRefused }
  }

  /// Takes a line of the trace.
  ///
  /// - Returns: the last stream of the connection that the server processes, if the line is about a GOAWAY.
  mutating func take(_ line: Span<UInt8>) -> UInt64? {
    if let number = Self.number(in: line, behind: Self.opened) ?? Self.number(in: line, behind: Self.openedSince8) {
      // The request has a new stream, on another connection perhaps: what was said before does not count.
      (stream, last, isRefused) = (number, nil, false)
    } else if let number = Self.lastStream(of: line) {
      end(after: number)
      return number
    } else if Self.begins(line, at: 0, with: Self.refused) {
      isRefused = true
    }
    return nil
  }

  /// The request is sent once more, over HTTP/1.1 perhaps, where no line tells of a new stream: what was said before does
  /// not count.
  mutating func startOver() { self = StreamTrace() }

  /// The server processes no stream of the connection after that one.
  mutating func end(after number: UInt64) { last = min(last ?? number, number) }

  private static let opened = Array("Using Stream ID: ".utf8)
  private static let openedSince8 = Array("[HTTP/2] [".utf8)
  private static let refused = Array("REFUSED_STREAM, ".utf8)
  // The word before it is misspelled in some versions, as `recveived`.
  private static let goAway = Array(" GOAWAY, error=".utf8)
  private static let lastStreamMark = Array("last_stream=".utf8)

  private static func number(in line: Span<UInt8>, behind mark: [UInt8]) -> UInt64? {
    begins(line, at: 0, with: mark) ? digits(in: line, at: mark.count) : nil
  }

  /// The number that a line about a GOAWAY names; nil for any other line.
  private static func lastStream(of line: Span<UInt8>) -> UInt64? {
    guard line.count > 0, line[0] == UInt8(ascii: "r"),
      let blank = line.indices.first(where: { line[$0] == ASCII.space }), begins(line, at: blank, with: goAway),
      let place = line.indices.first(where: { begins(line, at: $0, with: lastStreamMark) })
    else { return nil }
    return digits(in: line, at: place + lastStreamMark.count)
  }

  private static func begins(_ line: Span<UInt8>, at place: Int, with mark: [UInt8]) -> Bool {
    guard line.count - place >= mark.count else { return false }
    for index in mark.indices where line[place + index] != mark[index] { return false }
    return true
  }

  private static func digits(in line: Span<UInt8>, at place: Int) -> UInt64? {
    var (number, end) = (UInt64(0), place)
    // A stream's number has 31 bits, which is at most ten digits.
    while end < line.count, end < place + 10, ASCII.isDigit(line[end]) {
      number = number * 10 + UInt64(line[end] - ASCII.zero)
      end += 1
    }
    return end > place ? number : nil
  }
}
