// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import HTTPTypes
import Testing

@testable import DirectDNS
@testable import DnsctlCommands

@Suite(.timeLimit(.minutes(2))) struct `dnsctl fetch` {
  // MARK: Requests

  @Test func `writes the body to standard output, and asks by name`() async throws {
    try await FetchFixture.with { fixture in
      let outcome = await fixture.fetch([fixture.url("/a?b=c")])
      #expect(
        outcome.output == """
          GET /a?b=c HTTP/1.1\r
          Host: shop.example:\(fixture.origin.port)\r
          User-Agent: dnsctl/\(DnsctlVersion.text)\r
          Accept: */*\r
          \r

          """)
      #expect(outcome.status == 0 && outcome.errors == "")
    }
  }

  @Test(arguments: [
    (["-X", "DELETE"], "DELETE / ", [], ""),
    (
      ["-XPATCH", "-dx=y"], "PATCH / ", ["Content-Type: application/x-www-form-urlencoded", "Content-Length: 3"], "x=y"
    ),
    (["-d", "a=b", "-d", "c"], "POST / ", ["Content-Length: 5"], "a=b&c"),
    (["-d", "@-"], "POST / ", ["Content-Length: 8"], "onetwo&3"),
    (["--data-raw", "@-"], "POST / ", ["Content-Length: 2"], "@-"),
    (["--data-binary", "@-"], "POST / ", ["Content-Length: 12"], "one\r\ntwo\n&3\n"),
    (
      ["--json", "{}", "--json", "[]"], "POST / ", ["Content-Type: application/json", "Accept: application/json"],
      "{}[]"
    ),
    (["-T", "-"], "PUT / ", [], "one\r\ntwo\n&3\n"),
    (["-H", "X-A: 1", "-H", "X-A:2", "-H", "X-E;"], "GET / ", ["X-A: 1\r\nX-A: 2\r\nX-E: \r\n"], ""),
    (["-HAccept: text/plain"], "GET / ", ["Accept: text/plain"], ""),
    (["-d", "{}", "-H", "content-type: application/json"], "POST / ", ["content-type: application/json"], "{}"),
    (["-uname:pass=word"], "GET / ", ["Authorization: Basic bmFtZTpwYXNzPXdvcmQ="], ""),
    (["-b", "a=b; c=d", "-b", "e=f"], "GET / ", ["Cookie: a=b; c=d; e=f\r\n"], ""),
    (["--compressed"], "GET / ", ["Accept-Encoding: "], ""),
    (["-L", "-sS", "--http1.1", "--http2"], "GET / ", [], ""),
  ])
  func `says what curl says`(_ flags: [String], _ start: String, _ lines: [String], _ body: String) async throws {
    try await FetchFixture.with { fixture in
      let outcome = await fixture.fetch(flags + [fixture.url()], input: ["one\r\ntwo\n", "&3\n"])
      #expect(outcome.status == 0 && outcome.errors == "")
      #expect(outcome.output.hasPrefix(start))
      for line in lines { #expect(outcome.output.contains(line), "\(outcome.output)") }
      #expect(outcome.output.hasSuffix("\r\n\r\n" + body))
    }
  }

  @Test(arguments: ["Accept", "user-agent"]) func `leaves a field out`(_ name: String) async throws {
    try await FetchFixture.with { fixture in
      let outcome = await fixture.fetch(["-H", "\(name):", fixture.url()])
      #expect(!outcome.output.lowercased().contains(name.lowercased() + ":") && outcome.status == 0)
    }
  }

  @Test func `reads fields and data from files`() async throws {
    try await FetchFixture.with { fixture in
      var inner = CommandFixture()
      inner.files = ["/fields": "X-Key: s3cret\r\n\nX-More: 2\n", "/data": "a=\r\nb\n"]
      let outcome = await fixture.fetch(["-H", "@/fields", "-d", "@/data", fixture.url()], in: inner)
      #expect(outcome.output.contains("X-Key: s3cret\r\nX-More: 2\r\n") && outcome.output.hasSuffix("\r\n\r\na=b"))
      let missing = await fixture.fetch(["-d", "@/nowhere", fixture.url()])
      #expect(missing.status == 74 && missing.errors == "dnsctl: -d: there is no file /nowhere.\n")
    }
  }

  @Test func `puts a file under its name`() async throws {
    try await FetchFixture.with { fixture in
      try fixture.write("content", to: "a b:c.txt")
      let outcome = await fixture.fetch(["-T", fixture.path("a b:c.txt"), fixture.url("/folder/")])
      #expect(outcome.output.hasPrefix("PUT /folder/a%20b%3Ac.txt ") && outcome.output.hasSuffix("\r\n\r\ncontent"))
      let missing = await fixture.fetch(["-T", fixture.path("none"), fixture.url()])
      #expect(missing.status == 74 && missing.errors.contains("none"))
    }
  }

  @Test func `shows heads with -i and -I`() async throws {
    try await FetchFixture.with(handler: { request in
      request.path == "/old"
        ? OriginResponse(.found, fields: [.location: "/new"])
        : OriginResponse(fields: [.server: "x"], body: "here")
    }) { fixture in
      #expect(
        await fixture.fetch(["-i", fixture.url("/old")]).output
          == "HTTP/1.1 302 Found\r\nLocation: \(fixture.url("/new"))\r\ncontent-length: 0\r\n\r\n"
          + "HTTP/1.1 200 OK\r\nServer: x\r\ncontent-length: 4\r\n\r\nhere")
      #expect(
        await fixture.fetch(["-I", fixture.url("/new")]).output
          == "HTTP/1.1 200 OK\r\nServer: x\r\ncontent-length: 4\r\n\r\n")
      // Whatever the method, as curl has it.
      #expect(
        await fixture.fetch(["-I", "-X", "POST", fixture.url("/new")]).output
          == "HTTP/1.1 200 OK\r\nServer: x\r\ncontent-length: 4\r\n\r\n")
      #expect(
        await fixture.fetch(["-i", "--no-location", fixture.url("/old")]).output
          == "HTTP/1.1 302 Found\r\nLocation: \(fixture.url("/new"))\r\ncontent-length: 0\r\n\r\n")
    }
  }

  // MARK: TLS

  @Test func `checks certificates against the name`() async throws {
    let authority = try TestCertificateAuthority()
    let identity = try authority.issue(names: ["shop.example"])
    let file = try authority.makeFile()
    try await FetchFixture.with(
      FakeOriginConfiguration(identity: identity),
      handler: { OriginResponse($0.path == "/none" ? .notFound : .ok) }
    ) { fixture in
      let unknown = await fixture.fetch([fixture.url()])
      #expect(unknown.status == 2 && unknown.errors.contains("--cacert"))
      let known = await fixture.fetch(["--cacert", file.path, "-iv", fixture.url()])
      #expect(known.status == 0 && known.output.hasPrefix("HTTP/2 200\r\n"))
      for line in ["SSL connection using TLS", "Server certificate:", "subject: ", "SSL certificate verif"] {
        #expect(known.errors.contains("\n* TLS: \(line)"), "\(known.errors)")
      }
      let none = await fixture.fetch(["--cacert", file.path, "-f", fixture.url("/none")])
      #expect(none.errors == "dnsctl: \(fixture.url("/none")) answered 404.\n")
      let old = await fixture.fetch(["--cacert", file.path, "--http1.1", "-i", fixture.url()])
      #expect(old.output.hasPrefix("HTTP/1.1 200 OK\r\n"))
      let wrong = await fixture.fetch(["--cacert", file.path, fixture.url(host: "other.example")])
      #expect(wrong.status == 2)
      #expect(await fixture.fetch(["--cacert", "/nowhere", fixture.url()]).status == 78)
    }
  }

  // MARK: Cookies

  @Test func `keeps cookies in a file that curl can read`() async throws {
    try await FetchFixture.with(handler: { request in
      OriginResponse(fields: [.setCookie: "seen=\(request.number); Path=/"], body: request.field("Cookie") ?? "none")
    }) { fixture in
      let jar = fixture.path("jar")
      #expect(await fixture.fetch(["-b", jar, "-c", jar, fixture.url(), fixture.url()]).output == "noneseen=1")
      #expect(fixture.read("jar")?.hasSuffix("\nshop.example\tFALSE\t/\tFALSE\t0\tseen\t2\n") == true)
      var inner = CommandFixture()
      inner.files = [jar: "there"]
      #expect(await fixture.fetch(["-b", jar, fixture.url()], in: inner).output == "seen=2")
      try fixture.write(fixture.read("jar") ?? "", to: "a=jar")
      #expect(await fixture.fetch(["-b", "@" + fixture.path("a=jar"), fixture.url()]).output == "seen=2")
      #expect(await fixture.fetch([fixture.url(), fixture.url()]).output == "nonenone")
      #expect(await fixture.fetch(["-c", "/nowhere/jar", fixture.url()]).status == 74)
    }
  }

  @Test func `a name of any length that a folder has is enough for a jar`() async throws {
    try await FetchFixture.with(handler: { _ in OriginResponse(fields: [.setCookie: "a=b"]) }) { fixture in
      let name = String(repeating: "j", count: 255)
      for _ in 0..<2 { #expect(await fixture.fetch(["-c", fixture.path(name), fixture.url()]).status == 0) }
      #expect(fixture.files == [name] && fixture.read(name)?.contains("\ta\tb") == true)
    }
  }
}
