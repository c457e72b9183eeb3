// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNSProxy

@Suite("Heads of messages")
struct HeadParserTests {
  private func parse(_ text: String, _ kind: HeadParser.Kind = .request) throws(MessageFault) -> MessageHead {
    try HeadParser.parse(Array(text.utf8), kind)
  }

  /// Whether a head is refused for its grammar, and not for its size or version, which are answered differently.
  private func isMalformed(_ text: String, _ kind: HeadParser.Kind = .request) -> Bool {
    do throws(MessageFault) {
      _ = try parse(text, kind)
    } catch {
      if case .malformed = error { return true }
    }
    return false
  }

  @Test func `a request's parts stand where they stood`() throws {
    let head = try parse("GET http://a.example/x?y HTTP/1.1\r\nHost: a.example\r\nX-Empty:\r\nX: \t b c \r\n\r\n")
    guard case .request(let method, let target) = head.start else { throw MessageFault.version }
    #expect(head.text(method) == "GET")
    #expect(head.text(target) == "http://a.example/x?y")
    #expect(head.minorVersion == 1)
    #expect(head.fields.map(\.name) == [.host, .other, .other])
    #expect(head.fields.map { head.text($0.value) } == ["a.example", "", "b c"])
    #expect(head.fields.map { head.text($0.line) }[2] == "X: \t b c ")
  }

  @Test func `a response's parts stand where they stood`() throws {
    let head = try parse("HTTP/1.0 404 Not Found at all\r\nServer: x\r\n\r\n", .response)
    guard case .response(let status, let reason) = head.start else { throw MessageFault.version }
    #expect(status == 404)
    #expect(head.text(reason) == "Not Found at all")
    #expect(head.minorVersion == 0)
  }

  @Test(arguments: ["HTTP/1.1 200\r\n\r\n", "HTTP/1.1 200 \r\n\r\n"])
  func `a reason phrase may be missing`(text: String) throws {
    let head = try parse(text, .response)
    guard case .response(200, let reason) = head.start else { throw MessageFault.version }
    #expect(reason.isEmpty)
  }

  @Test func `bytes that are no UTF-8 stay what they are`() throws {
    let bytes: [UInt8] =
      Array("GET /\u{0}".utf8.dropLast()) + [0xe9] + Array(" HTTP/1.1\r\nX: ".utf8) + [
        0xff, 0xfe, 0x0d, 0x0a, 0x0d, 0x0a,
      ]
    let head = try HeadParser.parse(bytes, .request)
    #expect(head.bytes == bytes)
    #expect(Array(head.bytes[head.fields[0].value]) == [0xff, 0xfe])
  }

  @Test(arguments: ["get", "M-SEARCH", "BREW", "A!#$%&'*+-.^_`|~9"])
  func `a method is any token`(method: String) throws {
    let head = try parse("\(method) / HTTP/1.1\r\n\r\n")
    guard case .request(let range, _) = head.start else { throw MessageFault.version }
    #expect(head.text(range) == method)
  }

  @Test(arguments: [
    "", "\r\n\r\n", " GET / HTTP/1.1\r\n\r\n", "GET  / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1 \r\n\r\n", "GET /\r\n\r\n",
    "GET / http/1.1\r\n\r\n", "GET / HTTP/1\r\n\r\n", "GET / HTTP/1.1x\r\n\r\n", "GET /a b HTTP/1.1\r\n\r\n",
    "GET /\u{7f} HTTP/1.1\r\n\r\n", "G(T / HTTP/1.1\r\n\r\n", "GET / XTTP/1.1\r\n\r\n", "GET  HTTP/1.1\r\n\r\n",
    "GET / HTTP/1x1\r\n\r\n", "GET / HTTP/x.1\r\n\r\n", "\n\n",
  ])
  func `a first line that is none is malformed`(text: String) {
    #expect(isMalformed(text))
  }

  @Test func `nothing comes behind a head's empty line`() {
    #expect(isMalformed("GET / HTTP/1.1\r\n\r\nX: y\r\n\r\n"))
  }

  @Test func `a method has at most 64 characters`() throws {
    let longest = String(repeating: "X", count: 64)
    #expect(try parse("\(longest) / HTTP/1.1\r\n\r\n").fields.isEmpty)
    #expect(isMalformed("\(longest)X / HTTP/1.1\r\n\r\n"))
  }

  @Test(arguments: [
    "Host : a", " Host: a", "Host", ": a", "Ho st: a", "H\u{0}: a", "X(y): b", "X: a\rb", "X: a\u{0}b", "X: a\u{b}b",
    "X: a\r\n b", "X: a\n", "Xé: a", "X: a\u{1f}b", "X: a\u{7f}b",
  ])
  func `a field of a request that two parsers may read in two ways is malformed`(line: String) {
    #expect(isMalformed("GET / HTTP/1.1\r\nHost: a\r\n\(line)\r\n\r\n"))
  }

  @Test(arguments: ["X: a\u{0}b", "X: a\rb", "X\u{0}: a", ": a", "X", "X(y) : b", "X: a\n"])
  func `a field of a response that two parsers may read in two ways is malformed`(line: String) {
    #expect(isMalformed("HTTP/1.1 200 OK\r\n\(line)\r\nY: d\r\n\r\n", .response))
  }

  @Test func `a field of a response may have what old servers send`() throws {
    let head = try parse("HTTP/1.1 200 OK\r\nX: a\u{1}b\u{7f}\r\n\r\n", .response)
    #expect(head.fields.map { head.text($0.value) } == ["a\u{1}b\u{7f}"])
  }

  @Test(arguments: ["HTTP/2.0", "HTTP/0.9", "HTTP/3.1"])
  func `another version is told apart from a malformed one`(version: String) {
    #expect(throws: MessageFault.version) { try parse("GET / \(version)\r\n\r\n") }
  }

  @Test(arguments: [
    ("SSH-2.0-x\r\n", true), ("RFB 003.008\n", true), ("HTTQ", true), ("http/1.1", true), ("\n", true), ("H", false),
    ("HTTP/", false), ("HTTP/1.1 200", false), ("HTTP/2.0", false), ("", false), ("\r", false), ("\r\nHTTP/1.1", false),
  ])
  func `what begins as no response does is none, though its end has not come`(text: String, isOther: Bool) {
    let bytes = Array(text.utf8)
    let isRefused = (try? HeadParser.checkBeginning(ofResponse: bytes.span)) == nil
    #expect(isRefused == isOther)
  }

  @Test(arguments: ["HTTP/1.2", "HTTP/1.9"]) func `a later HTTP 1 is read as 1_1`(version: String) throws {
    #expect(try parse("GET / \(version)\r\n\r\n").minorVersion == 1)
    #expect(try parse("\(version) 200 OK\r\n\r\n", .response).minorVersion == 1)
  }

  @Test(arguments: [
    "HTTP/1.1 20\r\n\r\n", "HTTP/1.1 2000 OK\r\n\r\n", "HTTP/1.1  200 OK\r\n\r\n", "HTTP/1.1 099 x\r\n\r\n",
    "ICY 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\n X: folded\r\n\r\n", "HTTP/1.1x200 OK\r\n\r\n",
    "HTTP/1.1 200xOK\r\n\r\n", "HTTP/1.1 2x0 OK\r\n\r\n", "HTTP/1.1 200 O\u{0}K\r\n\r\n", "HTTP/1.1 200 O\rK\r\n\r\n",
  ])
  func `a status line that is none is malformed`(text: String) {
    #expect(isMalformed(text, .response))
  }

  @Test func `folded lines of a response become one`() throws {
    let head = try parse("HTTP/1.1 200 OK\r\nX: a\r\n  b\r\n\tc\r\nY: d\r\n\r\n", .response)
    #expect(head.fields.count == 2)
    #expect(head.text(head.fields[0].value) == "a    b  \tc")
  }

  @Test(arguments: ["X : a", "X \t: a", "X: a", "X\t:a"])
  func `white space before a colon of a response is taken away`(line: String) throws {
    let head = try parse("HTTP/1.1 200 OK\r\n\(line)\r\nY : d\r\n\r\n", .response)
    #expect(head.fields.map { head.text($0.line.lowerBound..<$0.colon) } == ["X", "Y"])
    #expect(head.fields.map { head.text($0.value) } == ["a", "d"])
    #expect(ForwardedHead.response(head).starts(with: Array("HTTP/1.1 200 OK\r\nX:".utf8)))
  }

  @Test func `tokens and hexadecimal digits are those of RFC 9110 and no other bytes`() {
    let letters = "abcdefghijklmnopqrstuvwxyz"
    let tokens = Set("!#$%&'*+-.^_`|~0123456789\(letters)\(letters.uppercased())".utf8)
    for byte in UInt8.min ... .max {
      #expect(byte.isTokenByte == tokens.contains(byte), "\(byte)")
      #expect(byte.hexadecimalValue.map { Int($0) } == Character(UnicodeScalar(byte)).hexDigitValue, "\(byte)")
    }
  }

  @Test func `more fields than allowed are too large`() throws {
    let lines = String(repeating: "X: y\r\n", count: 3)
    #expect(throws: MessageFault.tooLarge) {
      try HeadParser.parse(Array("GET / HTTP/1.1\r\n\(lines)\r\n".utf8), .request, fieldLimit: 2)
    }
  }

  // MARK: Ends

  @Test func `an end is found however the bytes come`() throws {
    let bytes = Array("GET / HTTP/1.1\r\nX: y\r\n\r\nbody".utf8)
    let end = bytes.count - 4
    for cut in 0..<bytes.count {
      let first = Array(bytes[..<cut])
      switch try HeadParser.end(in: first.span) {
      case .at(let found): #expect(found == end && cut >= end)
      case .missing(let searched):
        #expect(cut < end)
        #expect(try HeadParser.end(in: bytes.span, from: max(0, searched - 3)) == .at(end))
      }
    }
  }

  @Test func `a carriage return alone is seen before any end comes`() {
    let bytes = Array("GET / HTTP/1.1\rHost: a\r\r".utf8)
    #expect(throws: MessageFault.self) { try HeadParser.end(in: bytes.span) }
  }

  @Test(arguments: ["GET / HTTP/1.1\nHost: a\n\n", "GET / HTTP/1.1\r\nHost: a\n\r\n"])
  func `line feeds alone end a head that is malformed then`(text: String) throws {
    let bytes = Array(text.utf8)
    #expect(try HeadParser.end(in: bytes.span) == .at(bytes.count))
    #expect(throws: MessageFault.self) { try HeadParser.parse(bytes, .request) }
  }
}
