// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing

@testable import DirectDNS

struct LazyHeadTests {
  private func head(_ text: String) throws -> ResponseHead { try #require(ResponseHead(HeadLines(text: text))) }

  @Test func `a status is there without the fields`() throws {
    let head = LazyHead(try head("HTTP/1.1 404 Not Here\r\nA: 1\r\n"), nil)
    #expect(head.status.code == 404 && head.status.reasonPhrase == "Not Here" && !head.hasRestorableField)
    #expect(head.response.status == head.status && head.response.headerFields.map(\.value) == ["1"])
  }

  @Test func `the name stands in the fields, whenever they are asked for`() throws {
    let restorer = ResponseRestorer(originalURL: try WebURL("http://shop.test/a"), addresses: [.ipv4(0xCB00_7101)])
    let head = LazyHead(try head("HTTP/1.1 302 Found\r\nLocation: http://203.0.113.1/b\r\n"), restorer)
    #expect(head.hasRestorableField)
    for _ in 0..<2 { #expect(head.response.headerFields[.location] == "http://shop.test/b") }
  }

  @Test func `all who ask at once get the same fields`() async throws {
    let head = LazyHead(try head("HTTP/1.1 200 OK\r\nA: 1\r\nB: 2\r\n"), nil)
    let found = await withTaskGroup(of: HTTPResponse.self) { group in
      for _ in 0..<16 { group.addTask { head.response } }
      return await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(found == [head.response])
  }

  @Test func `a head that was made is handed out as it is`() {
    let made = HTTPResponse(status: .accepted, headerFields: [.server: "x"])
    let head = LazyHead(made)
    #expect(head.response == made && head.status == .accepted && head.hasRestorableField)
  }
}
