// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import HTTPTypes
import Testing

@testable import DirectDNS
@testable import DnsctlCommands

/// What -v tells, and what nobody is told.
extension `dnsctl fetch` {
  @Test(arguments: [["-s"], ["-sS"], []])
  func `-s without -S says nothing of what is passed over or cannot be written`(_ options: [String]) async throws {
    try await FetchFixture.with { fixture in
      try fixture.write("no cookie\n", to: "jar")
      for more in [
        ["-b", fixture.path("jar")], ["-w", "%{nope}"], ["-c", fixture.path("none/jar")],
        ["-D", fixture.path("none/heads")],
      ] {
        let outcome = await fixture.fetch(options + more + [fixture.url()])
        #expect(outcome.errors.isEmpty == (options == ["-s"]), "\(more): \(outcome.errors)")
        #expect(outcome.status == (more[1].contains("none") ? 74 : 0))
      }
    }
  }

  @Test func `-c writes all cookies that -b has read`() async throws {
    try await FetchFixture.with { fixture in
      let lines = (0..<5000).map { number in
        let host = number < 300 ? "a\(number).one.example" : "site\(number).example"
        return "\(host)\tFALSE\t/\tFALSE\t1710000000.123\tn\(number)\tv\n"
      }
      try fixture.write(lines.joined(), to: "jar")
      let outcome = await fixture.fetch(["-b", fixture.path("jar"), "-c", fixture.path("jar"), fixture.url()])
      #expect(outcome.status == 0 && outcome.errors == "")
      let kept = Set((fixture.read("jar") ?? "").split(separator: "\n").filter { !$0.hasPrefix("#") })
      #expect(kept == Set(lines.map { $0.dropLast().replacing(".123", with: "") }.map { Substring($0) }))
    }
  }

  @Test func `-c names what it leaves out, also a cookie without a name`() async throws {
    try await FetchFixture.with(handler: { _ in
      OriginResponse(fields: [.setCookie: "nameless"], body: "here")
    }) { fixture in
      let jar = fixture.path("jar")
      let outcome = await fixture.fetch(["-c", jar, fixture.url()])
      #expect(outcome.status == 0)
      #expect(
        outcome.errors == "dnsctl: \(jar): the cookie of shop.example without a name has no place in a cookie file.\n")
    }
  }

  @Test func `-v tells each of several requests at once by itself`() async throws {
    let (errors, request) = (
      RecordingSink(), { (path: String) in HTTPRequest(method: .get, scheme: "http", authority: "a", path: path) }
    )
    let log = VerboseLog(errors, secrets: [])
    let transfers = (1...3).map { _ in log.anew() }
    for (number, transfer) in transfers.enumerated() { transfer.note(.requesting(request("/\(number)"))) }
    for transfer in transfers { transfer.note(.connected(IPAddress("127.0.0.1"), isReused: false)) }
    #expect(errors.writes.count == 3)
    for (number, text) in errors.writes.enumerated() { #expect(text.contains("\n> GET /\(number)\n"), "\(text)") }
    try await FetchFixture.with { fixture in
      let outcome = await fixture.fetch(["-v", "-Z"] + (1...9).map { fixture.url("/\($0)") })
      for number in 1...9 { #expect(outcome.errors.split(separator: "> GET /\(number)\n").count == 2) }
    }
  }

  @Test func `-v tells how it goes, and no secret`() async throws {
    try await FetchFixture.with(handler: { request in
      request.path == "/old"
        ? OriginResponse(.found, fields: [.location: "/new", .setCookie: "id=s3cret"]) : OriginResponse(body: "here")
    }) { fixture in
      let outcome = await fixture.fetch([
        "-v", "-H", "Authorization: s3cret", "-b", "a=s3cret", "-H", "X-Key: s3cret", "--secret-header", "x-key",
        fixture.url("/old"),
      ])
      let port = fixture.origin.port
      #expect(
        outcome.errors == """
          * shop.example: 127.0.0.1 (google, fresh, for 5 min)
          * connecting to 127.0.0.1
          * connected to 127.0.0.1
          > GET /old
          > Host: shop.example:\(port)
          > User-Agent: dnsctl/\(DnsctlVersion.text)
          > Accept: */*
          > Cookie: <redacted>
          > Authorization: <redacted>
          > X-Key: <redacted>
          >
          < HTTP/1.1 302 Found
          < Location: http://shop.example:\(port)/new
          < Set-Cookie: <redacted>
          < content-length: 0
          <
          * redirected with 302 to http://shop.example:\(port)/new
          * shop.example: 127.0.0.1 (google, fresh, for 5 min)
          * using the connection to 127.0.0.1
          > GET /new
          > Host: shop.example:\(port)
          > User-Agent: dnsctl/\(DnsctlVersion.text)
          > Accept: */*
          > Cookie: <redacted>
          > Authorization: <redacted>
          > X-Key: <redacted>
          >
          < HTTP/1.1 200 OK
          < content-length: 4
          <

          """)
      #expect(outcome.output == "here")
    }
  }

  @Test func `secrets go to no other server`() async throws {
    try await FetchFixture.with(handler: { request in
      guard request.path == "/old" else { return .echo(of: request) }
      let port = request.host?.split(separator: ":").last ?? ""
      return OriginResponse(.found, fields: [.location: "http://other.example:\(port)/new"])
    }) { fixture in
      let outcome = await fixture.fetch([
        "-u", "a:b", "-b", "c=d", "-H", "X-Key: s3cret", "--secret-header", "X-Key", "-H", "X-Other: 1",
        fixture.url("/old"),
      ])
      #expect(fixture.origin.requests.first?.field("X-Key") == "s3cret")
      #expect(outcome.output.contains("X-Other: 1") && !outcome.output.contains("s3cret"))
      #expect(!outcome.output.contains("Authorization") && !outcome.output.contains("Cookie"))
    }
  }
}
