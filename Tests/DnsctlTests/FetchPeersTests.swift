// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import HTTPTypes
import Testing

@testable import DirectDNS
@testable import DnsctlCommands

@Suite(.timeLimit(.minutes(2))) struct `Peers of dnsctl fetch` {
  @Test(arguments: ["-X GET", "--http1.1", "-o FILE"])
  func `cannot make trailers grow without end`(_ flags: String) async throws {
    let trailers = String(repeating: "X-More: and more\r\n", count: 20_000)
    let text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\(trailers)\r\n"
    try await FetchFixture.with(handler: { _ in throw OriginFault.text(text) }) { fixture in
      let flags = flags.split(separator: " ").map { $0 == "FILE" ? fixture.path("file") : String($0) }
      let outcome = await fixture.fetch(flags + [fixture.url()])
      #expect(outcome.status == 2 && fixture.origin.requests.count == 1)
      #expect(outcome.errors.contains("header fields and trailers of more than 262144 bytes"), "\(outcome.errors)")
    }
  }

  @Test func `are shown with the version that they speak, and with trailers behind the body`() async throws {
    let heads = "HTTP/1.0 200 Fine\r\nX: y\r\n\r\n"
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    let trailing = chunked + "4\r\nbody\r\n0\r\nX-Sum: 1\r\n\r\n"
    try await FetchFixture.with(handler: { throw OriginFault.text($0.path == "/old" ? heads + "body" : trailing) }) {
      fixture in
      let old = await fixture.fetch(["-i", "-w", " %{http_version}", fixture.url("/old")])
      #expect(old.output == heads + "body 1", "\(old)")
      let new = await fixture.fetch(["-i", "-w", " %{http_version}", fixture.url()])
      #expect(new.output == chunked + "bodyX-Sum: 1\r\n 1.1", "\(new)")
      let dumped = await fixture.fetch(["-D", fixture.path("heads"), fixture.url()])
      #expect(dumped.output == "body" && fixture.read("heads") == chunked + "X-Sum: 1\r\n", "\(dumped)")
    }
  }

  @Test(arguments: [("http", "200"), ("https", "000")])
  func `are what the connection leads to when they are proxies`(_ scheme: String, _ status: String) async throws {
    try await FetchFixture.with(handler: { OriginResponse($0.method == .connect ? .forbidden : .ok) }) { fixture in
      let proxy = "http://127.0.0.1:\(fixture.origin.port)"
      let format = "%{num_connects} %{remote_ip} %{remote_port} %{http_code}"
      let words = ["-s", "-o", "/dev/null", "-x", proxy, "-w", format, "\(scheme)://shop.example/"]
      let outcome = await fixture.fetch(words)
      #expect(outcome.output == "1 127.0.0.1 \(fixture.origin.port) \(status)", "\(outcome)")
    }
  }

  @Test func `get no Secure cookie of localhost in clear when they are proxies`() async throws {
    try await FetchFixture.with { fixture in
      let jar = fixture.path("jar")
      let line = "localhost\tFALSE\t/\tTRUE\t0\tid\t1\n"
      try fixture.write(line, to: "jar")
      var inner = CommandFixture()
      inner.files[jar] = line
      let proxy = "http://127.0.0.1:\(fixture.origin.port)"
      let proxied = await fixture.fetch(["-b", jar, "-x", proxy, "http://localhost/"], in: inner)
      let direct = await fixture.fetch(["-b", jar, fixture.url(host: "localhost")], in: inner)
      #expect(proxied.status == 0 && direct.status == 0, "\(proxied.errors)\(direct.errors)")
      #expect(fixture.origin.requests.map { $0.field("Cookie") } == [nil, "id=1"])
    }
  }
}
