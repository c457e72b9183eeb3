// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNSProxy

@Suite("Bodies in chunks")
struct ChunkedBodyTests {
  /// What goes on of a body that comes in pieces of a size, and what was behind it.
  private func passed(
    _ text: String, of kind: HeadParser.Kind = .request, by size: Int = .max, isDecoded: Bool = false
  ) throws(MessageFault) -> (text: String, rest: String, isOver: Bool) {
    var body = ChunkedBody(kind, isDecoded: isDecoded)
    let bytes = Array(text.utf8)
    var passed: [UInt8] = []
    var index = 0
    while index < bytes.count, !body.isOver {
      let part = Array(bytes[index..<min(index + size, bytes.count)])
      var pieces: [ChunkedBody.Piece] = []
      let count = try body.read(part.span, into: &pieces)
      for piece in pieces {
        switch piece {
        case .pass(let range): passed += part[range]
        case .end(let trailers): passed += trailers
        }
      }
      index += count
      if count < part.count { break }
    }
    return (
      String(decoding: passed, as: UTF8.self), String(decoding: bytes[index...], as: UTF8.self), body.isOver
    )
  }

  @Test(arguments: [
    ("5\r\nhello\r\n0\r\n\r\n", "5\r\nhello\r\n0\r\n\r\n", "hello"), ("0\r\n\r\n", "0\r\n\r\n", ""),
    ("1;a=b\r\nx\r\nA\r\n0123456789\r\n00\r\n\r\n", "1\r\nx\r\nA\r\n0123456789\r\n00\r\n\r\n", "x0123456789"),
    ("2 \t; q = \"a;\\\"b\" ;c\r\nab\r\n0;last\r\n\r\n", "2\r\nab\r\n0\r\n\r\n", "ab"),
    ("1\r\nx\r\n0\r\nX-Sum: 1\r\nY: 2\r\n\r\n", "1\r\nx\r\n0\r\nX-Sum: 1\r\nY: 2\r\n\r\n", "x"),
    ("0\r\nContent-Length: 1\r\nX: 1\r\nHost: a\r\nAuthorization: b\r\n\r\n", "0\r\nX: 1\r\n\r\n", ""),
  ])
  func `a body goes on without its extensions, however it comes`(text: String, whole: String, inner: String) throws {
    for size in [1, 2, 3, 5, 1000] {
      let wrapped = try passed(text + "GET", by: size)
      #expect(wrapped.text == whole && wrapped.isOver, "in pieces of \(size)")
      let unwrapped = try passed(text, by: size, isDecoded: true)
      #expect(unwrapped.text == inner && unwrapped.isOver, "in pieces of \(size)")
    }
    #expect(try passed(text + "GET").rest == "GET")
  }

  @Test(arguments: [
    "\r\n", "x\r\n", "-1\r\n", "0x1\r\nx", " 1\r\nx", "1\nx", "1\rx", "1\r\nxy\r\n", "1\r\nx\ny", "1\r\nx\r\r",
    "1;a\nb\r\n", "1;\u{0}\r\n", "1;\r\nx", "1 \r\nx", "1 x\r\n", "1;a b\r\n", "1;a \r\n", "1;a=b \r\n", "1;a=\r\n",
    "1;a=\"b\r\n", "1;=b\r\n",
    "FFFFFFFFFFFFFFFF\r\n", "0\r\nX : 1\r\n\r\n", "0\r\nX: a\nY: b\r\n\r\n", "0\r\nno colon\r\n\r\n",
    "0\r\n folded\r\n\r\n", "0\r\nX\n", "0\r\n\n", "0\r\n\n\r\n", "0\r\nX: 1\n\r\n", "0\r\nX: 1\r\n\n",
  ])
  func `a body that two parsers may read in two ways is malformed, however it comes`(text: String) {
    for size in [1, 1000] {
      #expect(throws: MessageFault.self, "in pieces of \(size)") { try passed(text, by: size) }
    }
  }

  @Test(arguments: [
    ("2\r\nok\r\n0\r\nX-A: 1\r\n b\r\nY: 2\r\n\r\n", "2\r\nok\r\n0\r\nX-A: 1   b\r\nY: 2\r\n\r\n"),
    ("2\r\nok\r\n0\r\nX-A : 1\r\nY\t: 2\r\n\r\n", "2\r\nok\r\n0\r\nX-A:  1\r\nY:\t 2\r\n\r\n"),
    ("2\r\nok\r\n0\r\nHost : a\r\n b\r\nY: 2\r\n\r\n", "2\r\nok\r\n0\r\nY: 2\r\n\r\n"),
    ("2\r\nok\r\n0\r\n folded\r\n more\r\nno colon\r\nY: 2\r\n\r\n", "2\r\nok\r\n0\r\nY: 2\r\n\r\n"),
    ("2\r\nok\r\n0\r\nX: a\rb\r\nZ: \u{0}\r\nY: 2\r\n\r\n", "2\r\nok\r\n0\r\nY: 2\r\n\r\n"),
  ])
  func `a response may have what old servers send, and goes on without it`(text: String, whole: String) throws {
    for size in [1, 2, 3, 5, 1000] {
      let wrapped = try passed(text, of: .response, by: size)
      #expect(wrapped.text == whole && wrapped.isOver, "in pieces of \(size)")
      let unwrapped = try passed(text, of: .response, by: size, isDecoded: true)
      #expect(unwrapped.text == "ok" && unwrapped.isOver, "in pieces of \(size)")
      #expect(throws: MessageFault.self, "in pieces of \(size)") { try passed(text, by: size) }
    }
  }

  @Test func `extensions and trailers are bounded`() {
    #expect(throws: MessageFault.tooLarge) { try passed("1;" + String(repeating: "a", count: 5000)) }
    #expect(throws: MessageFault.tooLarge) { try passed("0\r\nX: " + String(repeating: "a", count: 20_000)) }
  }

  @Test func `chunks that stand together go on as one piece`() throws {
    let bytes = Array((String(repeating: "1\r\nx\r\n", count: 1000) + "1;a=b\r\ny\r\n1\r\nz\r\n0\r\n\r\n").utf8)
    var body = ChunkedBody()
    var pieces: [ChunkedBody.Piece] = []
    #expect(try body.read(bytes.span, into: &pieces) == bytes.count)
    #expect(
      pieces == [.pass(0..<6001), .pass(6005..<(bytes.count - 2)), .end(trailers: [0x0d, 0x0a])])
  }

  @Test func `a body that has not ended is not over`() throws {
    #expect(try !passed("5\r\nhel").isOver)
    #expect(try passed("5\r\nhel").text == "5\r\nhel")
  }
}
