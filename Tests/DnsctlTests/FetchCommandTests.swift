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

  // MARK: Statuses

  @Test(arguments: [
    (["/missing"], 0, "gone", ""),
    (["-f", "/missing"], 22, "", "dnsctl: http://shop.example:PORT/missing answered 404 Not Found.\n"),
    (["-fs", "/missing"], 22, "", ""),
    (["-fsS", "/missing"], 22, "", "dnsctl: http://shop.example:PORT/missing answered 404 Not Found.\n"),
    (["/loop"], 47, "", "the limit is 20"), (["--max-redirs", "0", "/loop"], 47, "", "the limit is 0"),
    (["/elsewhere"], 3, "", "10.0.0.1"), (["/ftp"], 3, "", "ftp"),
    (["--deny", "shop.example", "/"], 3, "", "shop.example"),
    (["--deny", "evil.test", "-HHost: evil.test..", "/"], 3, "", "evil.test"),
  ])
  func `end with a number that says what happened`(
    _ arguments: [String], _ status: Int32, _ output: String, _ errors: String
  ) async throws {
    try await FetchFixture.with(handler: { request in
      switch request.path {
      case "/loop": OriginResponse(.found, fields: [.location: "/loop"])
      case "/elsewhere": OriginResponse(.found, fields: [.location: "http://10.0.0.1/"])
      case "/ftp": OriginResponse(.found, fields: [.location: "ftp://shop.example/"])
      case "/missing": OriginResponse(.notFound, body: "gone")
      default: OriginResponse()
      }
    }) { fixture in
      let outcome = await fixture.fetch(arguments.dropLast() + [fixture.url(arguments.last ?? "/")])
      #expect(outcome.status == status && outcome.output == output)
      let expected = errors.replacing("PORT", with: "\(fixture.origin.port)")
      #expect(errors.hasSuffix("\n") || errors.isEmpty ? outcome.errors == expected : outcome.errors.contains(expected))
    }
  }

  @Test(arguments: ["0.0.0.0", "0", "[::]", "[::ffff:0.0.0.0]", "[64:ff9b::]", "four.example", "six.example"])
  func `takes the unspecified address for loopback, which a list denies`(_ host: String) async throws {
    try await FetchFixture.with { fixture in
      var inner = CommandFixture()
      inner.zone = ["four.example": .addresses(["0.0.0.0"]), "six.example": .addresses(["::"])]
      let outcome = await fixture.fetch(
        ["--address-policy", "any", "--deny", "127.0.0.0/8", "--deny", "::1/128", fixture.url(host: host)], in: inner)
      #expect(outcome.status == 3 && outcome.errors.contains(" stands for "), "\(outcome.errors)")
      #expect(fixture.origin.connectionCount == 0)
    }
  }

  @Test(arguments: ["", " ", " \t "], [302, 303, 307, 308])
  func `a blank Location leads nowhere, and a body is sent once`(_ location: String, _ status: Int) async throws {
    try await FetchFixture.with(handler: { _ in
      OriginResponse(HTTPResponse.Status(code: status), fields: [.location: location], body: "here")
    }) { fixture in
      let outcome = await fixture.fetch(["-d", "order", fixture.url("/pay")])
      #expect(outcome.status == 0 && outcome.output == "here", "\(outcome.errors)")
      #expect(fixture.origin.requests.map(\.method) == [.post])
    }
  }

  @Test func `counts names, connections and addresses as resolve does`() async throws {
    try await FetchFixture.with { fixture in
      #expect(await fixture.fetch(["http://gone.example/"]).status == 1)
      #expect(await fixture.fetch(["http://a..b/"]).status == 1)
      let refused = await fixture.fetch(["http://127.0.0.1:1/"])
      #expect(refused.status == 2 && refused.errors.contains("127.0.0.1"))
      #expect(await fixture.fetch(["--address-policy", "publicOnly", "http://10.0.0.1/"]).status == 3)
      // Of several the highest counts, and the others are fetched all the same.
      let both = await fixture.fetch(["-f", "http://gone.example/", fixture.url()])
      #expect(both.status == 1 && both.output.hasPrefix("GET / "))
    }
  }

  @Test(arguments: [
    (["-k"], "dnsctl: certificates are always checked; add --cacert\n"),
    (["-d", "a", "-T", "-"], "-d and -T"), (["-I", "-d", "a"], "-I"), (["-o", "a", "-O"], "-o or -O"),
    (["-o", "a", "-o", "b"], "more -o than URLs"), (["-C", "-"], "-C needs a file"),
    (["-C-", "-o", "f", "-I"], "-C and -I"),
    (["-C-", "-o", "f", "--compressed"], "-C and --compressed"), (["-C-", "-o", "f", "-i"], "-C and -i"),
    (["-C", "5"], "Only -C -"),
    (["-O"], "does not end in a file's name"), (["-u", "name"], "USER:PASSWORD"), (["-H", "Host:"], "-H Host"),
    (["-H", "s3cret"], "'Name: value'"), (["-x", "ftp://u:s3cret@p"], "proxy"), (["--key", "k"], "--key needs --cert"),
    (["-d", "a", "--json", "b"], "one of them"), (["--max-redirs", "-2"], "-1 for any"),
    (["-X", "A B"], "not an HTTP method"),
    (["-m", "0"], "number of seconds"), (["-us3cret"], "USER:PASSWORD"),
  ])
  func `says what is wrong with a command line, and no secret`(_ flags: [String], _ error: String) async throws {
    try await FetchFixture.with { fixture in
      let outcome = await fixture.fetch(flags + [fixture.url()])
      #expect(outcome.status == 64 && outcome.errors.contains(error), "\(outcome)")
      #expect(!outcome.errors.contains("s3cret"))
      #expect(fixture.origin.requests.isEmpty)
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
      #expect(known.errors.contains("\n* TLS: "))
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

  // MARK: Telling

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

  // MARK: Trying again

  @Test func `--retry waits as it is told, and gives up in the end`() async throws {
    try await FetchFixture.with(handler: { request in
      switch request.number {
      case 1: OriginResponse(.serviceUnavailable, fields: [.retryAfter: "7"])
      case 2: OriginResponse(.tooManyRequests)
      case 3: throw CancellationError()
      default: OriginResponse(body: "at last")
      }
    }) { fixture in
      let inner = CommandFixture()
      let outcome = await fixture.fetch(["--retry", "5", "-f", fixture.url()], in: inner)
      #expect(outcome.status == 0 && outcome.output == "at last")
      #expect(inner.pauses.withLock { $0 }.prefix(2) == [.seconds(7), .seconds(2)])
      #expect(outcome.errors.contains("answered 503") && outcome.errors.contains("The next try is in 7 s."))
    }
  }

  @Test func `--retry sends nothing twice that may do harm`() async throws {
    try await FetchFixture.with(handler: { _ in OriginResponse(.serviceUnavailable, body: "busy") }) { fixture in
      #expect(await fixture.fetch(["--retry", "2", "-d", "a", fixture.url()]).output == "busy")
      #expect(await fixture.fetch(["--retry", "2", "-T", "-", fixture.url()], input: ["x"]).output == "busy")
      #expect(fixture.origin.requests.count == 2)
      #expect(await fixture.fetch(["--retry", "2", "-f", fixture.url()]).status == 22)
      #expect(fixture.origin.requests.count == 5)
    }
  }
}
