// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNSPrometheus

struct ScrapeReplyTests {
  private func answer(_ text: String, allowsAnyHost: Bool = false) -> ScrapeReply? {
    ScrapeReply.to(Array(text.utf8), allowsAnyHost: allowsAnyHost)
  }

  @Test(arguments: [
    "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:9464\r\n\r\n",
    "GET /metrics HTTP/1.1\r\nhost:localhost:9464\r\nAccept: */*\r\n\r\n",
    "GET /metrics?name=x HTTP/1.1\r\nHost: [::1]:9464\r\n\r\n",
    "GET /metrics HTTP/1.0\r\n\r\n",
    "GET /metrics HTTP/1.1\r\nHost:  127.0.0.1 \r\nContent-Length: 3\r\n\r\nabc",
    "\r\nGET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "GET /metrics HTTP/1.2\r\nHost: localhost\r\n\r\n",
    "GET http://localhost/metrics HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "GET HTTP://127.0.0.1:9464/metrics?name=x HTTP/1.1\r\nHost: attacker.example\r\n\r\n",
    "GET http://[::1]:9464/metrics HTTP/1.0\r\n\r\n",
  ])
  func `a scrape gets the metrics`(_ request: String) throws {
    let reply = try #require(answer(request))
    #expect(reply == ScrapeReply(status: 200, hasMetrics: true))
    #expect(
      String(decoding: reply.bytes("up 1\n"), as: UTF8.self)
        == "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: 5\r\nCache-Control: no-store\r\nConnection: close\r\n\r\nup 1\n"
    )
  }

  @Test func `a field may have octets that are no UTF-8`() {
    let head = Array("GET /metrics HTTP/1.1\r\nHost: localhost\r\nX-Name: J".utf8) + [0xf6] + Array("rg\r\n".utf8)
    let end: [UInt8] = [0x0d, 0x0a]
    #expect(ScrapeReply.to(head + end, allowsAnyHost: false)?.status == 200)
    let host = Array("GET /metrics HTTP/1.1\r\nHost: ".utf8) + [0xff] + end + end
    #expect(ScrapeReply.to(host, allowsAnyHost: false)?.status == 421)
  }

  @Test func `a process is live while it answers, and ready when it says so`() throws {
    func said(_ path: String, _ readiness: Readiness) throws -> String {
      let request = Array("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
      let reply = try #require(ScrapeReply.to(request, allowsAnyHost: false) { readiness })
      let text = String(decoding: reply.bytes("up 1\n"), as: UTF8.self)
      return text.replacing(#/\r\n(?:.*\r\n)*\r\n/#, with: "|")
    }
    #expect(try said("/live", .notReady("not yet")) == "HTTP/1.1 200 OK|live\n")
    #expect(try said("/ready", .ready) == "HTTP/1.1 200 OK|ready\n")
    let refused = try said("/ready?verbose", .notReady("not \u{1b}yet"))
    #expect(refused.hasPrefix("HTTP/1.1 503 Service Unavailable|not ") && refused.hasSuffix("yet\n"))
    #expect(!refused.contains("\u{1b}"))
    #expect(try said("/metrics", .notReady("not yet")).hasSuffix("|up 1\n"))
  }

  @Test(arguments: ["/live", "/ready"])
  func `they are for those who may see the metrics`(_ path: String) {
    #expect(answer("GET \(path) HTTP/1.1\r\nHost: attacker.example\r\n\r\n")?.status == 421)
    #expect(answer("POST \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n")?.status == 405)
    #expect(answer("GET \(path)/ HTTP/1.1\r\nHost: localhost\r\n\r\n")?.status == 404)
  }

  @Test func `HEAD gets the head alone`() throws {
    let text = String(
      decoding: try #require(answer("HEAD /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")).bytes("up 1\n"), as: UTF8.self
    )
    #expect(
      text.hasPrefix("HTTP/1.1 200 OK\r\n") && text.contains("Content-Length: 5\r\n") && text.hasSuffix("\r\n\r\n"))
  }

  @Test(arguments: [
    ("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", 404),
    ("GET /metrics/ HTTP/1.1\r\nHost: localhost\r\n\r\n", 404),
    ("POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n", 405),
    ("DELETE /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", 405),
    ("GET /metrics HTTP/1.1\r\n\r\n", 400),
    ("GET /metrics HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n", 400),
    ("GET /metrics HTTP/2.0\r\nHost: localhost\r\n\r\n", 400),
    ("GET  /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
    ("GET metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
    ("GET http://localhost HTTP/1.1\r\nHost: localhost\r\n\r\n", 404),
    ("GET http://localhost?/metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", 404),
    ("GET http://localhost/metrics HTTP/1.1\r\n\r\n", 400),
    ("GET http:///metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
    ("GET ftp://localhost/metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
    ("GET http://attacker.example/metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", 421),
    ("GET http://localhost@attacker.example/metrics HTTP/1.0\r\n\r\n", 421),
    ("GET http://user@localhost/metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", 421),
    ("GET /metrics HTTP/1.2\r\n\r\n", 400),
    ("GET /metrics HTTP/1.x\r\nHost: localhost\r\n\r\n", 400),
    ("GET /metrics HTTP/1.10\r\nHost: localhost\r\n\r\n", 400),
    ("\r\n\r\nGET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
    ("GET /m\u{e9}trics HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
    ("GET /metrics HTTP/1.1\r\nHost : localhost\r\n\r\n", 400),
    ("GET /metrics HTTP/1.1\r\nHost: localhost\r\n folded\r\n\r\n", 400),
    ("GET /metrics HTTP/1.1\nHost: localhost\n\r\n\r\n", 400),
    ("GET /metrics\r\n\r\n", 400),
    ("\r\n\r\n", 400),
    ("\u{16}\u{3}\u{1}", 400),
  ])
  func `anything else is refused`(_ request: String, _ status: Int) { #expect(answer(request)?.status == status) }

  @Test(arguments: [
    "attacker.example:9464", "localhost.attacker.example", "localhost:x", "127.0.0.1.attacker.example", "", "a b",
    "localhost/", "user@localhost", "localhost?",
  ])
  func `a host that is not an address and not localhost is refused, since a name may be anybody's`(_ host: String) {
    let request = "GET /metrics HTTP/1.1\r\nHost: \(host)\r\n\r\n"
    #expect(answer(request)?.status == 421)
    #expect(answer(request, allowsAnyHost: true)?.status == 200)
  }

  @Test func `405 says what is allowed`() throws {
    let bytes = try #require(answer("PUT /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")).bytes("")
    #expect(String(decoding: bytes, as: UTF8.self).contains("\r\nAllow: GET, HEAD\r\n"))
  }

  @Test func `a head that goes on is waited for, up to 8 KiB`() {
    let start = "GET /metrics HTTP/1.1\r\nHost: localhost\r\nX: "
    #expect(answer("") == nil && answer("GET") == nil && answer(start) == nil)
    #expect(answer(start + String(repeating: "x", count: 8192 - start.utf8.count)) == nil)
    #expect(answer(start + String(repeating: "x", count: 8193 - start.utf8.count))?.status == 431)
    #expect(answer(start + String(repeating: "x", count: 9000) + "\r\n\r\n")?.status == 431)
  }
}
