// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing

@testable import DirectDNS

struct FieldLinesTests {
  private func lines(
    _ fields: HTTPFields, _ method: HTTPRequest.Method = .get, body: RequestBody = .none, cookie: String? = nil,
    _ change: (inout DirectClientConfiguration) -> Void = { _ in }
  ) -> [String] {
    var configuration = DirectClientConfiguration()
    change(&configuration)
    return String(decoding: FieldLines(method, fields, body, cookie: cookie, configuration).bytes, as: UTF8.self)
      .split(separator: "\0").map(String.init)
  }

  @Test func `fields keep their order, their spelling and their number`() throws {
    var fields = HTTPFields()
    for (name, value) in [("X-b", "1"), ("a", "2"), ("X-b", "3"), ("Empty", "")] {
      fields.append(HTTPField(name: try #require(HTTPField.Name(name)), value: value))
    }
    #expect(lines(fields).prefix(4) == ["X-b: 1", "a: 2", "X-b: 3", "Empty;"])
  }

  @Test func `octets that are no UTF-8 go out as they are`() throws {
    let latin: [UInt8] = [0x61, 0xE9, 0x62]
    var fields = HTTPFields()
    fields.append(HTTPField(name: .cookie, value: latin))
    fields.append(HTTPField(name: .accept, value: latin))
    let configuration = DirectClientConfiguration()
    for cookie in [nil, "b=1"] {
      let lines = FieldLines(.get, fields, .none, cookie: cookie, configuration)
      let sent = Set(lines.bytes.split(separator: 0).map(Array.init))
      #expect(sent.contains(Array("Accept: ".utf8) + latin))
      #expect(sent.contains(Array("Cookie: \(cookie.map { $0 + "; " } ?? "")".utf8) + latin))
      #expect(lines.fields.contains(HTTPField(name: .accept, value: latin)))
    }
    #expect(FieldLines(trailers: fields).bytes.starts(with: Array("Cookie: ".utf8) + latin))
  }

  @Test func `libcurl adds nothing of its own, and the client a User-Agent that can be set or left out`() {
    #expect(lines([:]) == ["User-Agent: DirectDNS", "Accept:"])
    #expect(lines([:], body: .bytes([1])) == ["User-Agent: DirectDNS", "Accept:", "Expect:", "Content-Type:"])
    #expect(lines([:], .post) == ["User-Agent: DirectDNS", "Accept:", "Expect:", "Content-Type:"])
    #expect(lines([.accept: "*/*"]) { $0.userAgent = nil } == ["Accept: */*"])
    #expect(lines([.userAgent: "mine", .accept: "a"]) == ["User-Agent: mine", "Accept: a"])
    #expect(
      lines([.accept: "a", .expect: "100-continue", .contentType: "b"], body: .bytes([1])) { $0.userAgent = "u" }
        == ["Accept: a", "Expect: 100-continue", "Content-Type: b", "User-Agent: u"])
  }

  @Test func `a body's type goes out unless the request has one, and not without a body`() {
    let text = RequestBody.text("a")
    #expect(
      lines([.accept: "a"], .post, body: text) { $0.userAgent = nil }
        == ["Accept: a", "Expect:", "Content-Type: text/plain; charset=utf-8"])
    #expect(
      lines([.accept: "a", .contentType: "b"], .post, body: text) { $0.userAgent = nil }
        == ["Accept: a", "Content-Type: b", "Expect:"])
    #expect(lines([.contentType: ""], .post, body: text).contains("Content-Type;"))
    for untyped in [RequestBody.text("a", contentType: nil), .bytes([1], contentType: ""), .bytes([1])] {
      #expect(lines([:], .post, body: untyped).contains("Content-Type:"))
    }
    var none = RequestBody.none
    none.contentType = "b"
    #expect(lines([:], .post, body: none).contains("Content-Type:"))
    #expect(!lines([:], .get, body: none).contains { $0.hasPrefix("Content-Type") })
  }

  @Test func `a body's type makes one field, whatever is in it`() {
    let body = RequestBody.bytes([1], contentType: "a\r\nX-Other: b\0c")
    let lines = lines([.accept: "a"], .post, body: body) { $0.userAgent = nil }
    #expect(lines.count == 3 && lines.last?.hasPrefix("Content-Type: a") == true)
    #expect(!lines.contains { $0.contains("\n") || $0.contains("\r") })
  }

  @Test func `the body's length is told by libcurl, in the way of the version that is spoken`() {
    #expect(
      lines([.contentLength: "1", .transferEncoding: "chunked", .accept: "a"], body: .bytes([1])) { $0.userAgent = nil }
        == ["Accept: a", "Expect:", "Content-Type:"])
  }

  @Test func `the jar's cookies come before the caller's, in one field`() {
    #expect(
      lines([.cookie: "own=1", .accept: "a"], cookie: "jar=2") { $0.userAgent = nil } == [
        "Accept: a", "Cookie: jar=2; own=1",
      ])
    #expect(lines([.cookie: "own=1", .accept: "a"]) { $0.userAgent = nil } == ["Cookie: own=1", "Accept: a"])
  }

  @Test func `several cookies of the caller's are one field, where the first one stood`() {
    // HTTPFields makes two fields of it.
    #expect(
      lines([.cookie: "a=1; b=2", .accept: "a"]) { $0.userAgent = nil } == ["Cookie: a=1; b=2", "Accept: a"])
  }

  @Test func `what goes out can be told, without what is kept back`() throws {
    var configuration = DirectClientConfiguration()
    configuration.userAgent = "u"
    let empty = try #require(HTTPField.Name("Empty"))
    let fields: HTTPFields = [.server: "a: b", empty: "", .contentLength: "1"]
    #expect(
      FieldLines(.post, fields, .bytes([1]), cookie: "c=1", configuration).fields
        == [.server: "a: b", empty: "", .cookie: "c=1", .userAgent: "u"])
  }

  @Test func `originalUrl stays here unless it may go out`() {
    #expect(lines([.originalURL: "https://a.test/?secret", .accept: "a"]) { $0.userAgent = nil } == ["Accept: a"])
    #expect(
      lines([.originalURL: "https://a.test/", .accept: "a"]) {
        $0.userAgent = nil
        $0.forwardsOriginalURL = true
      } == ["originalUrl: https://a.test/", "Accept: a"])
  }

  @Test func `what HTTP/2 has no room for is known, the number of the fields included`() throws {
    func fits(_ fields: HTTPFields, path: String = "") throws -> Bool {
      FieldLines(.get, fields, .none, cookie: nil, DirectClientConfiguration())
        .fitHTTP2(with: try WebURL("https://shop.test/\(path)"))
    }
    let long = String(repeating: "a", count: 64_000)
    #expect(try fits([:]) && fits([.accept: long]) && fits([:], path: long))
    let more = String(repeating: "a", count: 1_000)
    #expect(try !fits([.accept: long + more]) && !fits([.accept: long], path: more))
    func many(_ count: Int) -> HTTPFields {
      HTTPFields(Array(repeating: HTTPField(name: .accept, value: "b"), count: count))
    }
    #expect(try fits(many(2_900)) && !fits(many(3_000)))
  }

  @Test func `trailers are announced unless the caller did`() {
    var body = RequestBody.bytes([1])
    body.trailerFields = [.contentDisposition: "x"]
    #expect(lines([:], body: body).contains("Trailer: Content-Disposition"))
    #expect(!lines([.trailer: "Own"], body: body).contains { $0.hasPrefix("Trailer: Content") })
    #expect(FieldLines(trailers: body.trailerFields).bytes == Array("Content-Disposition: x\0".utf8))
  }
}
