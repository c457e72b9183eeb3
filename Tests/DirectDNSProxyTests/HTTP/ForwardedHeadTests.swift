// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import Testing

@testable import DirectDNSProxy

@Suite("Heads on their way")
struct ForwardedHeadTests {
  private let origin = ForwardOrigin(.name("a.example"), port: 8080)

  private func request(_ lines: String..., path: String = "/x", maxForwards: Int? = nil) throws -> [String] {
    let head = try HeadParser.parse(
      Array("GET http://a.example:8080/x HTTP/1.1\r\n\(lines.map { $0 + "\r\n" }.joined())\r\n".utf8), .request)
    let bytes = ForwardedHead.request(head, to: origin, path: Array(path.utf8), maxForwards: maxForwards)
    return String(decoding: bytes, as: UTF8.self).split(separator: "\r\n", omittingEmptySubsequences: false).map(
      String.init)
  }

  private func response(
    _ lines: String..., start: String = "HTTP/1.1 200 Fine", closes: Bool = false, isDecoded: Bool = false,
    date: String? = nil
  ) throws -> [String] {
    let head = try HeadParser.parse(
      Array("\(start)\r\n\(lines.map { $0 + "\r\n" }.joined())\r\n".utf8), .response)
    let bytes = ForwardedHead.response(head, closes: closes, isDecoded: isDecoded, date: date)
    return String(decoding: bytes, as: UTF8.self).split(separator: "\r\n", omittingEmptySubsequences: false).map(
      String.init)
  }

  @Test func `a request has the target's host and all that is for its end`() throws {
    #expect(
      try request("Host: evil.example", "X: 1", "Accept: */*", "x: 2", "Cookie: a=b", "Content-Length: 3")
        == [
          "GET /x HTTP/1.1", "Host: a.example:8080", "X: 1", "Accept: */*", "x: 2", "Cookie: a=b", "Content-Length: 3",
          "", "",
        ])
  }

  @Test(arguments: [
    "Proxy-Connection: keep-alive", "Keep-Alive: timeout=5", "TE: trailers", "Proxy-Authorization: Basic eDp5",
    "Upgrade: websocket", "originalUrl: http://evil.example/", "Connection: keep-alive", "HTTP2-Settings: AAA",
    "Proxy-Authenticate: Basic", "DirectDNS-Via: one",
  ])
  func `what is for this hop goes no further`(line: String) throws {
    #expect(try request(line) == ["GET /x HTTP/1.1", "Host: a.example:8080", "", ""])
  }

  @Test(arguments: [("1.1", true), ("1.0", false)])
  func `an expectation is passed on for HTTP/1.1 alone`(version: String, isPassed: Bool) throws {
    let text = "POST http://a.example:8080/x HTTP/\(version)\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n"
    let head = try HeadParser.parse(Array(text.utf8), .request)
    let passed = ForwardedHead.request(head, to: origin, path: Array("/x".utf8))
    #expect(
      String(decoding: passed, as: UTF8.self)
        == "POST /x HTTP/1.1\r\nHost: a.example:8080\r\n\(isPassed ? "Expect: 100-continue\r\n" : "")"
        + "Content-Length: 1\r\n\r\n")
  }

  @Test func `another proxy is told the whole URL, and who asks`() throws {
    let head = try HeadParser.parse(
      Array("OPTIONS http://a.example:8080 HTTP/1.1\r\nHost: x\r\nProxy-Authorization: Basic bWluZQ==\r\n\r\n".utf8),
      .request)
    let upstream = try UpstreamProxy("http://u:p@proxy.example")
    for (path, url) in [("/x?y", "http://a.example:8080/x?y"), ("*", "http://a.example:8080")] {
      let bytes = ForwardedHead.request(head, to: origin, path: Array(path.utf8), through: upstream)
      #expect(
        String(decoding: bytes, as: UTF8.self)
          == "OPTIONS \(url) HTTP/1.1\r\nHost: a.example:8080\r\nProxy-Authorization: Basic dTpw\r\n\r\n")
    }
  }

  @Test func `what Connection names goes no further, but for what a message needs`() throws {
    #expect(
      try request("Connection: x-one, HOST, Authorization", "X-One: 1", "X-Two: 2", "Authorization: Basic eDp5")
        == ["GET /x HTTP/1.1", "Host: a.example:8080", "X-Two: 2", "Authorization: Basic eDp5", "", ""])
  }

  @Test func `an upgrade goes on, one to HTTP 2 does not`() throws {
    #expect(
      try request("Connection: keep-alive, Upgrade", "Upgrade: websocket", "Sec-WebSocket-Key: k")
        == [
          "GET /x HTTP/1.1", "Host: a.example:8080", "Sec-WebSocket-Key: k", "Connection: Upgrade",
          "Upgrade: websocket", "", "",
        ])
    #expect(
      try request("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: A")
        == ["GET /x HTTP/1.1", "Host: a.example:8080", "", ""])
  }

  @Test func `Max-Forwards says what is left`() throws {
    #expect(try request("Max-Forwards: 5", maxForwards: 4)[2] == "Max-Forwards: 4")
    #expect(try request("Max-Forwards: 5")[2] == "Max-Forwards: 5")
  }

  @Test func `a response keeps its fields apart and in order`() throws {
    #expect(
      try response("Set-Cookie: a=1", "X: 1", "Set-Cookie: b=2", "Keep-Alive: timeout=5", "Connection: keep-alive")
        == ["HTTP/1.1 200 Fine", "Set-Cookie: a=1", "X: 1", "Set-Cookie: b=2", "", ""])
  }

  @Test func `a response says what becomes of the connection`() throws {
    #expect(try response(closes: true) == ["HTTP/1.1 200 Fine", "Connection: close", "", ""])
    #expect(try response(start: "HTTP/1.1 103 Early Hints", closes: true) == ["HTTP/1.1 103 Early Hints", "", ""])
  }

  @Test func `a response without a date gets one, an interim one none`() throws {
    #expect(try response("X: 1", date: "now") == ["HTTP/1.1 200 Fine", "X: 1", "Date: now", "", ""])
    #expect(try response("Date: then", date: "now") == ["HTTP/1.1 200 Fine", "Date: then", "", ""])
    #expect(
      try response("Connection: date", "Date: then", date: "now") == ["HTTP/1.1 200 Fine", "Date: then", "", ""])
    #expect(try response(start: "HTTP/1.1 103 Hints", date: "now") == ["HTTP/1.1 103 Hints", "", ""])
  }

  @Test func `that a client takes trailers is said once more to the next hop`() throws {
    #expect(
      try request("Connection: TE, X", "TE: deflate, trailers", "X: 1")
        == ["GET /x HTTP/1.1", "Host: a.example:8080", "Connection: TE", "TE: trailers", "", ""])
    #expect(try request("Connection: TE", "TE: deflate") == ["GET /x HTTP/1.1", "Host: a.example:8080", "", ""])
  }

  @Test func `a response's own version goes no further`() throws {
    #expect(try response(start: "HTTP/1.0 404 No")[0] == "HTTP/1.1 404 No")
  }

  @Test func `a length that is said twice is said once`() throws {
    #expect(
      try response("Content-Length: 5", "X: 1", "Content-Length: 5")
        == ["HTTP/1.1 200 Fine", "X: 1", "Content-Length: 5", "", ""])
  }

  @Test(arguments: [
    ("HTTP/1.1 204 No", ["HTTP/1.1 204 No", "", ""]), ("HTTP/1.1 103 Hints", ["HTTP/1.1 103 Hints", "", ""]),
    ("HTTP/1.1 304 Same", ["HTTP/1.1 304 Same", "Content-Length: 5", "", ""]),
  ])
  func `a response that has no body announces none`(start: String, lines: [String]) throws {
    let chunked = try response("Transfer-Encoding: chunked", "Trailer: X", start: start)
    #expect(chunked == [lines[0], "", ""])
    #expect(try response("Content-Length: 5", start: start) == lines)
  }

  @Test(arguments: [
    ("Transfer-Encoding:\tCHUNKED", "Transfer-Encoding: chunked"), ("Content-Length:\t010\t", "Content-Length: 10"),
  ])
  func `what frames a message is spelled in one way`(line: String, spelled: String) throws {
    #expect(try request(line).contains(spelled))
    #expect(try response(line).contains(spelled))
  }

  @Test func `chunks that are taken off are not announced`() throws {
    #expect(
      try response(
        "Transfer-Encoding: chunked", "Trailer: X", "X: 1", closes: true, isDecoded: true)
        == ["HTTP/1.1 200 Fine", "X: 1", "Connection: close", "", ""])
  }

  @Test func `a protocol that is wanted is named`() throws {
    #expect(
      try response("Upgrade: websocket", "Connection: Upgrade", start: "HTTP/1.1 426 Upgrade Required", closes: true)
        == ["HTTP/1.1 426 Upgrade Required", "Connection: Upgrade", "Upgrade: websocket", "Connection: close", "", ""])
  }

  @Test func `a protocol that an origin offers besides is one for this hop`() throws {
    #expect(try response("Upgrade: h2,h2c", "Connection: Upgrade") == ["HTTP/1.1 200 Fine", "", ""])
  }

  @Test func `a switch of protocols names the protocol`() throws {
    #expect(
      try response(
        "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Accept: x", start: "HTTP/1.1 101 Switching")
        == ["HTTP/1.1 101 Switching", "Sec-WebSocket-Accept: x", "Connection: Upgrade", "Upgrade: websocket", "", ""])
  }
}
