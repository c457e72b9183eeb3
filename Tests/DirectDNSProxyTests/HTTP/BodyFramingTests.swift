// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNSProxy

@Suite("Where bodies end")
struct BodyFramingTests {
  private func request(_ lines: [String], version: String = "HTTP/1.1") throws -> BodyFraming {
    try .of(
      request: HeadParser.parse(
        Array("POST / \(version)\r\n\(lines.map { $0 + "\r\n" }.joined())\r\n".utf8), .request))
  }

  private func response(
    _ lines: [String], status: Int = 200, isToHEAD: Bool = false, version: String = "HTTP/1.1"
  ) throws -> BodyFraming {
    try .of(
      response: HeadParser.parse(
        Array("\(version) \(status) x\r\n\(lines.map { $0 + "\r\n" }.joined())\r\n".utf8), .response), status: status,
      isToHEAD: isToHEAD)
  }

  @Test(arguments: [
    ([], BodyFraming.none), (["Content-Length: 0"], .none), (["Content-Length: 12"], .length(12)),
    (["Content-Length: 007"], .length(7)), (["Transfer-Encoding: chunked"], .chunked),
    (["transfer-encoding:  Chunked "], .chunked),
  ])
  func `a request says it in one way`(lines: [String], framing: BodyFraming) throws {
    #expect(try request(lines) == framing)
  }

  @Test(arguments: [
    ["Content-Length: 1", "Content-Length: 1"], ["Content-Length: 1", "Content-Length: 2"], ["Content-Length: 1, 1"],
    ["Content-Length: +1"], ["Content-Length: -1"], ["Content-Length: 0x1"], ["Content-Length: 1 1"],
    ["Content-Length:"], ["Content-Length: 9999999999999999999"], ["Content-Length: 1", "Transfer-Encoding: chunked"],
    ["Transfer-Encoding: chunked", "Content-Length: 1"],
  ])
  func `a request that says it in two ways is malformed`(lines: [String]) {
    #expect {
      try request(lines)
    } throws: { error in
      if case .malformed? = error as? MessageFault { true } else { false }
    }
  }

  @Test(arguments: [
    ["Transfer-Encoding: gzip, chunked"], ["Transfer-Encoding: gzip"], ["Transfer-Encoding: chunked, chunked"],
    ["Transfer-Encoding: xchunked"], ["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"],
    ["Transfer-Encoding: identity"], ["Transfer-Encoding:"], ["Transfer-Encoding: chunked;a=b"],
  ])
  func `another coding of a request is unknown`(lines: [String]) {
    #expect(throws: MessageFault.coding) { try request(lines) }
  }

  @Test func `HTTP 1.0 has no transfer coding`() {
    #expect(throws: MessageFault.self) { try request(["Transfer-Encoding: chunked"], version: "HTTP/1.0") }
    #expect(throws: MessageFault.self) { try response(["Transfer-Encoding: chunked"], version: "HTTP/1.0") }
  }

  @Test(arguments: [
    ([], 200, false, BodyFraming.untilClose), (["Content-Length: 5"], 200, false, .length(5)),
    (["Content-Length: 5", "Content-Length: 5"], 200, false, .length(5)),
    (["Content-Length: 0"], 200, false, .none), (["Transfer-Encoding: chunked"], 200, false, .chunked),
    (["Transfer-Encoding: gzip, chunked"], 200, false, .untilClose), (["Content-Length: 5"], 200, true, .none),
    (["Content-Length: 5"], 204, false, .none), (["Content-Length: 5"], 304, false, .none), ([], 103, false, .none),
    (["Transfer-Encoding: chunked"], 304, false, .none),
  ])
  func `a response says it in one way`(
    lines: [String], status: Int, isToHEAD: Bool, framing: BodyFraming
  ) throws {
    #expect(try response(lines, status: status, isToHEAD: isToHEAD) == framing)
  }

  @Test(arguments: [
    ["Content-Length: 5", "Content-Length: 6"], ["Content-Length: x"],
    ["Content-Length: 5", "Transfer-Encoding: chunked"],
    ["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"],
  ])
  func `a response that says it in two ways is malformed`(lines: [String]) {
    #expect(throws: MessageFault.self) { try response(lines) }
  }
}
