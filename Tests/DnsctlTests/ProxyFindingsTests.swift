// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import Foundation
import Testing

@testable import DirectDNSTesting
@testable import DnsctlCommands

@Suite("What dnsctl check says of a proxy")
struct ProxyFindingsTests {
  @Test(arguments: [
    ("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n", "200 - -"),
    (
      "HTTP/1.1 502 Bad Gateway\r\nProxy-Status: directdns; error=dns_error; details=\"no such name\"\r\n\r\n",
      "502 dns_error no such name"
    ),
    ("HTTP/1.0 407 x\nproxy-status: p;error=a\n\n", "407 a -"), ("SSH-2.0-x\r\n", "none"), ("", "none"),
    ("HTTP/1.1 \r\n\r\n", "none"), ("HTTP/1.1 abc\r\n\r\n", "none"),
  ])
  func `a reply's head is read`(head: String, reads: String) {
    let reply = ProxyReply(head: head)
    #expect((reply.map { "\($0.status) \($0.error ?? "-") \($0.details ?? "-")" } ?? "none") == reads)
  }

  private func reply(_ status: Int, _ error: String? = nil) throws -> Result<ProxyReply, ProxyProbe.Failure> {
    let field = error.map { "Proxy-Status: directdns; error=\($0)\r\n" } ?? ""
    return .success(try #require(ProxyReply(head: "HTTP/1.1 \(status) x\r\n\(field)\r\n")))
  }

  @Test func `a proxy that answers in drops is late, too`() async throws {
    let proxy = try DrippingProxy()
    var probe = ProxyProbe(address: .ipv4(0x7F00_0001), port: proxy.port, credentials: nil)
    probe.timeout = .milliseconds(100)
    #expect(await probe.ask("GET", "/live") == .failure(.init(reason: "no answer in 0 s", isConnected: true)))
  }

  @Test(arguments: [(false, "Start it by"), (true, "proxy at")])
  func `where something listens it is not advised to start a proxy there`(isConnected: Bool, advice: String) {
    let failure = ProxyProbe.Failure(reason: "connection reset by peer", isConnected: isConnected)
    let finding = Finding.proxyReady(.failure(failure), at: "127.0.0.1:3128", after: .zero)
    #expect(finding.grade == .fail && finding.advice?.contains(advice) == true)
  }

  @Test func `a port where nobody listens is told from one where nobody answers`() async throws {
    let listener = try #require(LoopbackListener())
    close(listener.descriptor)
    let probe = ProxyProbe(address: .ipv4(0x7F00_0001), port: listener.port, credentials: nil)
    #expect(await probe.ask("GET", "/live") == .failure(.init(reason: "connection refused")))
  }

  @Test(arguments: [(200, "ok"), (503, "warn"), (404, "warn"), (400, "warn")])
  func `one that is ready is told from one that ends, and from another's`(status: Int, grade: String) throws {
    let finding = Finding.proxyReady(try reply(status), at: "127.0.0.1:3128", after: .zero)
    #expect(finding.grade.rawValue == grade && (finding.advice == nil) == (grade == "ok"))
  }

  @Test(
    arguments: [
      (200, nil, "ok", ""), (407, nil, "fail", "--proxy-user"), (502, "dns_error", "fail", "providers"),
      (504, "connection_timeout", "fail", "log"), (501, nil, "fail", "proxy at"), (405, nil, "fail", "proxy at"),
      (400, "http_request_error", "fail", "log"),
    ] as [(Int, String?, String, String)])
  func `a tunnel that does not open is told with what to do`(
    status: Int, error: String?, grade: String, advice: String
  ) throws {
    let finding = Finding.proxyTunnel(
      try reply(status, error), to: "example.com:443", hasPassword: false, after: .zero)
    #expect(finding.grade.rawValue == grade)
    #expect(advice.isEmpty ? finding.advice == nil : finding.advice?.contains(advice) == true)
    #expect(error.map { finding.detail.contains($0) } ?? true)
  }

  @Test(arguments: [
    ("502 Bad Gateway: x is gone", "error=dns_error", "x:443: 502, dns_error: Bad Gateway: x is gone"),
    ("502 Bad Gateway", "error=dns_error; details=\"no such name\"", "x:443: 502, dns_error: no such name"),
    ("503 Service Unavailable", "hit", "x:443: 503, Service Unavailable"), ("502", "hit", "x:443: 502"),
    ("502 \u{1b}[2J", "hit", "x:443: 502, \\u{1B}[2J"),
  ])
  func `a tunnel that does not open is told with the proxy's own reason`(status: String, field: String, detail: String)
    throws
  {
    let reply = try #require(ProxyReply(head: "HTTP/1.1 \(status)\r\nProxy-Status: it; \(field)\r\n\r\n"))
    #expect(Finding.proxyTunnel(.success(reply), to: "x:443", hasPassword: false, after: .zero).detail == detail)
  }

  @Test(arguments: ["error=x", "error=x; details=\"%\"", "error=%"])
  func `a reason that is very long is cut`(field: String) throws {
    let long = String(repeating: "\u{1b}", count: 60_000)
    let head = "HTTP/1.1 502 \(long)\r\nProxy-Status: it; \(field.replacing("%", with: long))\r\n\r\n"
    let reply = try #require(ProxyReply(head: head))
    let detail = Finding.proxyTunnel(.success(reply), to: "x:443", hasPassword: false, after: .zero).detail
    #expect(detail.count <= 1100 && detail.hasSuffix("…"))
  }

  @Test(arguments: [(false, "wants a name and a password"), (true, "refuses the name and the password")])
  func `a password that is missing is told from one that is wrong`(hasPassword: Bool, detail: String) throws {
    let finding = Finding.proxyTunnel(try reply(407), to: "x:443", hasPassword: hasPassword, after: .zero)
    #expect(finding.detail == "x:443: it \(detail)" && finding.advice?.contains("--proxy-user") == true)
  }

  @Test func `a proxy that reaches inside has failed, and what opens no tunnel has been told of already`() throws {
    #expect(Finding.proxyPolicy(try reply(403), to: "x")?.grade == .ok)
    for status in [200, 502, 504] { #expect(Finding.proxyPolicy(try reply(status), to: "x")?.grade == .fail) }
    for status in [400, 404, 405, 407, 501] { #expect(Finding.proxyPolicy(try reply(status), to: "x") == nil) }
    #expect(Finding.proxyPolicy(try reply(400, "http_request_error"), to: "x")?.grade == .fail)
    #expect(Finding.proxyPolicy(.failure(.init(reason: "gone")), to: "x") == nil)
  }
}

/// A server on loopback that says one byte every ten milliseconds to the one client that it accepts.
private final class DrippingProxy: Sendable {
  let port: UInt16

  init() throws {
    let listener = try #require(LoopbackListener())
    port = listener.port
    Thread {
      let accepted = accept(listener.descriptor, nil, nil)
      close(listener.descriptor)
      defer { close(accepted) }
      // Up to ten seconds, so that a probe without an end would fail.
      for _ in 0..<1000 {
        guard unsafe send(accepted, "H", 1, Int32(MSG_NOSIGNAL)) == 1 else { return }
        _ = poll(nil, 0, 10)
      }
    }.start()
  }
}
