// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
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
