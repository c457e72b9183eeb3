// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing

@testable import DirectDNS

struct ResponseHeadTests {
  private func parse(_ text: String) -> ResponseHead? { ResponseHead(HeadLines(text: text)) }

  @Test func `a head has a status, a reason, a version and fields in their order`() throws {
    let head = try #require(parse("HTTP/1.1 404 Not Here\r\nB: 1\r\na:2\r\nB:  3 \t\r\n"))
    #expect(
      head.response.status.code == 404 && head.response.status.reasonPhrase == "Not Here" && head.version.major == 1)
    #expect(head.response.headerFields.map { "\($0.name.rawName)=\($0.value)" } == ["B=1", "a=2", "B=3"])
  }

  @Test(arguments: [
    ("HTTP/2 200 \r\n", 200, 2, 0), ("HTTP/2 200\r\n", 200, 2, 0), ("HTTP/1.0 301 Moved\n", 301, 1, 0),
    ("HTTP/1.1 999\r\n", 999, 1, 1), ("HTTP/1 200\r\n", 200, 1, 0), ("HTTP/1.: 200\r\n", 200, 1, 0),
  ])
  func `a status line may be short`(_ line: String, _ status: Int, _ version: Int, _ minor: Int) throws {
    let head = try #require(parse(line))
    #expect(head.response.status.code == status && head.version.major == version && head.version.minor == minor)
  }

  @Test(arguments: [
    "", "\r\n", "HTTP/1.1\r\n", "HTTP/1.1 \r\n", "HTTP/1.1 2x0 OK\r\n", "nonsense", "200 OK\r\n", "HTTP/1.1 20\r\n",
    "HTTP/,.1 200 OK\r\n", "HTTP/.1 200 OK\r\n", "HTTP/2 099\r\n", "HTTP/2 000\r\n",
  ])
  func `what is no status line is no head`(_ text: String) { #expect(parse(text) == nil) }

  @Test(arguments: ["HTTP/1.1 200 Fine\r\n", "HTTP/1.1 200Fine\r\n", "HTTP/1.1 200  Fine \r\n", "HTTP/1.1 200\tFine\n"])
  func `a reason is whole, whatever stands before it`(_ line: String) throws {
    let head = try #require(parse(line))
    #expect(head.status.code == 200 && head.status.reasonPhrase == "Fine")
  }

  @Test(
    arguments: [
      (.head, "200", true), (.get, "204", true), (.get, "304", true), (.get, "200", false), (.get, "404", false),
    ] as [(method: HTTPRequest.Method, status: String, isRead: Bool)],
    ["Transfer-Encoding: gzip, chunked", "Content-Length: 5\r\nContent-Length: 6"])
  func `where a body ends has to be told only of a response that can have one`(
    _ response: (method: HTTPRequest.Method, status: String, isRead: Bool), _ fields: String
  ) {
    let lines = HeadLines(text: "HTTP/1.1 \(response.status) X\r\n\(fields)\r\n")
    #expect((ResponseHead(lines, to: response.method) != nil) == response.isRead)
  }

  @Test func `a folded line belongs to the field before it`() throws {
    let head = try #require(parse("HTTP/1.1 200 OK\r\n lost\r\nA: 1\r\n\t2\r\n  3\r\nB: 4\r\n"))
    #expect(head.response.headerFields.map(\.value) == ["1 2 3", "4"])
  }

  @Test(arguments: ["\u{01}", "\u{7F}", "\u{00}", "\u{0B}"])
  func `a cookie with a control character is none, and no other field is dropped for one`(_ control: String) throws {
    let lines = ["A: 1", "Set-Cookie: a=b\(control)c", " ; more", "Set-Cookie: d=e\tf", "B: 2\(control)3"]
    let head = try #require(parse("HTTP/1.1 200 OK\r\n" + lines.map { $0 + "\r\n" }.joined()))
    let fields = head.response.headerFields.map { "\($0.name.rawName)=\($0.value)" }
    #expect(fields == ["A=1", "Set-Cookie=d=e\tf", "B=2 3"])
  }

  @Test func `what is no field line is left out`() throws {
    let head = try #require(parse("HTTP/1.1 200 OK\r\nno colon\r\n: no name\r\nb ad: 1\r\nA:\r\n"))
    #expect(head.response.headerFields.map { "\($0.name.rawName)=\($0.value)" } == ["A="])
  }

  @Test func `a value that is no UTF-8 is kept`() throws {
    let bytes = Array("HTTP/1.1 200 OK\r\nX: caf".utf8) + [0xE9] + Array("\r\nY: 1\r\n".utf8)
    let head = try #require(ResponseHead(HeadLines(text: bytes)))
    #expect(head.response.headerFields.count == 2 && head.response.headerFields.last?.value == "1")
  }

  @Test(arguments: ["Location", "content-location", "Refresh"])
  func `a reference that is no UTF-8 is percent-encoded, as curl and browsers follow it`(_ name: String) throws {
    let bytes = Array("HTTP/1.1 302 Found\r\n\(name): /caf".utf8) + [0xE9] + Array("%20\r\n".utf8)
    let fields = try #require(ResponseHead(HeadLines(text: bytes))).response.headerFields
    #expect(fields.map(\.value) == ["/caf%E9%20"])
  }

  @Test func `a head that does not say how long its body is is none`() {
    #expect(parse("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n") == nil)
  }

  // MARK: Asked for later

  private func head(_ text: String, _ restorer: ResponseRestorer? = nil) throws -> ResponseHead {
    try #require(ResponseHead(HeadLines(text: text), restorer))
  }

  @Test func `a status is there without the fields`() throws {
    let head = try head("HTTP/1.1 404 Not Here\r\nA: 1\r\n")
    #expect(head.status.code == 404 && head.status.reasonPhrase == "Not Here" && !head.hasRestorableField)
    #expect(head.response.status == head.status && head.response.headerFields.map(\.value) == ["1"])
  }

  @Test func `the name stands in the fields, whenever they are asked for`() throws {
    let restorer = ResponseRestorer(originalURL: try WebURL("http://shop.test/a"), addresses: [.ipv4(0xCB00_7101)])
    let head = try head("HTTP/1.1 302 Found\r\nLocation: http://203.0.113.1/b\r\n", restorer)
    #expect(head.hasRestorableField)
    for _ in 0..<2 { #expect(head.response.headerFields[.location] == "http://shop.test/b") }
  }

  @Test func `all who ask at once get the same fields`() async throws {
    let head = try head("HTTP/1.1 200 OK\r\nA: 1\r\nB: 2\r\n")
    let found = await withTaskGroup(of: HTTPResponse.self) { group in
      for _ in 0..<16 { group.addTask { head.response } }
      return await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(found == [head.response])
  }

  @Test func `a head that was made is handed out as it is`() {
    let made = HTTPResponse(status: .accepted, headerFields: [.server: "x"])
    let head = ResponseHead(made)
    #expect(head.response == made && head.status == .accepted && head.hasRestorableField)
  }
}
