// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import HTTPTypes
import Testing

@testable import DirectDNS
@testable import DnsctlCommands

/// Statuses, what leads nowhere, and trying again.
extension `dnsctl fetch` {
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

  @Test(arguments: [
    (["-fI"], "HEAD"), (["-fi"], "GET"), (["-fsI"], "HEAD"), (["-f", "-X", "HEAD"], "HEAD"), (["-fZi"], "GET"),
  ])
  func `-f ends with 22, and keeps back no head that is asked for`(_ flags: [String], _ method: String) async throws {
    try await FetchFixture.with(handler: { _ in OriginResponse(.notFound, fields: [.server: "x"], body: "gone") }) {
      fixture in
      let outcome = await fixture.fetch(flags + [fixture.url("/missing")])
      #expect(outcome.status == 22 && outcome.errors.contains("404") == !flags.contains("-fsI"), "\(outcome)")
      #expect(outcome.output == "HTTP/1.1 404 Not Found\r\nServer: x\r\ncontent-length: 4\r\n\r\n")
      #expect(fixture.origin.requests.map(\.method.rawValue) == [method])
    }
  }

  @Test(
    arguments: [
      ([], "gone"), (["-I"], "HTTP/1.1 404 Not Found\r\ncontent-length: 4\r\n\r\n"), (["-Z"], "gone"),
      (["-i"], "HTTP/1.1 404 Not Found\r\ncontent-length: 4\r\n\r\ngone"), (["-w", " %{exitcode}"], "gone 22"),
    ] as [([String], String)])
  func `--fail-with-body ends with 22, and writes all that is asked for`(
    _ flags: [String], _ text: String
  ) async throws {
    try await FetchFixture.with(handler: { _ in OriginResponse(.notFound, body: "gone") }) { fixture in
      let outcome = await fixture.fetch(flags + ["--fail-with-body", fixture.url("/missing")])
      #expect(outcome.status == 22 && outcome.output == text, "\(outcome)")
      #expect(outcome.errors == "dnsctl: http://shop.example:\(fixture.origin.port)/missing answered 404 Not Found.\n")
      #expect(fixture.origin.requests.count == 1)
    }
  }

  @Test func `--fail-with-body puts into a file what the last try brought, behind a redirect, too`() async throws {
    try await FetchFixture.with(handler: { request in
      switch request.number {
      case 1: OriginResponse(.found, fields: [.location: "/next"])
      case 2: OriginResponse(.serviceUnavailable, body: "first")
      default: OriginResponse(.serviceUnavailable, body: "last")
      }
    }) { fixture in
      try fixture.write("old", to: "page")
      let outcome = await fixture.fetch(
        ["--fail-with-body", "--retry", "1", "-o", fixture.path("page"), fixture.url()])
      #expect(outcome.status == 22 && fixture.read("page") == "last" && fixture.files == ["page"], "\(outcome)")
    }
  }

  @Test func `-f leaves a file that is to have a body, and writes one that is to have the head alone`() async throws {
    try await FetchFixture.with(handler: { _ in OriginResponse(.notFound, body: "gone") }) { fixture in
      for (flags, text) in [("-fi", "old"), ("-fI", "HTTP/1.1 404 Not Found\r\ncontent-length: 4\r\n\r\n")] {
        try fixture.write("old", to: "page")
        #expect(await fixture.fetch([flags, "-o", fixture.path("page"), fixture.url()]).status == 22)
        #expect(fixture.read("page") == text && fixture.files == ["page"])
      }
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

  @Test func `a file of authorities that cannot be read is told with what names it`() async throws {
    try await FetchFixture.with { fixture in
      func fetch(_ options: [String] = [], environment: [String: String] = [:]) async -> CommandFixture.Outcome {
        var inner = CommandFixture()
        inner.files["/c.json5"] = "{ ca: ['nowhere.pem'] }"
        inner.environment.merge(environment) { $1 }
        return await fixture.fetch(options + ["--config", "/c.json5", fixture.url()], in: inner)
      }
      let file = await fetch()
      #expect(file.status == 78)
      #expect(file.errors.hasPrefix("dnsctl: /c.json5: ca[0]: the CA file /nowhere.pem cannot be read: "), "\(file)")
      let variable = await fetch(environment: ["DIRECTDNS_CA": "/nowhere.pem"])
      #expect(variable.errors.hasPrefix("dnsctl: DIRECTDNS_CA: the CA file /nowhere.pem cannot be read: "))
      let option = await fetch(["--ca", "/nowhere.pem"])
      #expect(option.errors.hasPrefix("dnsctl: The CA file /nowhere.pem cannot be read: "))
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
    (["-k"], "dnsctl: Certificates are always checked: add the authority by --cacert.\n"),
    (["-d", "a", "-T", "-"], "-d and -T"), (["-I", "-d", "a"], "-I"), (["-o", "a", "-O"], "-o or -O"),
    (["-o", "a", "-o", "b"], "more -o than URLs"), (["-C", "-"], "-C needs a file"),
    (["-C-", "-o", "f", "-I"], "-C and -I"),
    (["-C-", "-o", "f", "--compressed"], "-C and --compressed"), (["-C-", "-o", "f", "-i"], "-C and -i"),
    (["-C", "5"], "Only -C -"), (["-C-", "-o", "f", "--fail-with-body"], "-C and --fail-with-body"),
    (["-O"], "does not end in a file's name"), (["-u", "name"], "USER:PASSWORD"), (["-H", "Host:"], "-H Host"),
    (["--compressed", "-H", "accept-encoding:"], "-H Accept-Encoding"), (["-f", "--fail-with-body"], "do not go"),
    (["-H", "s3cret"], "'Name: value'"), (["-x", "ftp://u:s3cret@p"], "proxy"), (["--key", "k"], "--key needs --cert"),
    (["-d", "a", "--json", "b"], "one of them"), (["--max-redirs", "-2"], "-1 for any"),
    (["-X", "A B"], "not an HTTP method"),
    (["-m", "-1"], "number of seconds"), (["-us3cret"], "USER:PASSWORD"),
  ])
  func `says what is wrong with a command line, and no secret`(_ flags: [String], _ error: String) async throws {
    try await FetchFixture.with { fixture in
      let outcome = await fixture.fetch(flags + [fixture.url()])
      #expect(outcome.status == 64 && outcome.errors.contains(error), "\(outcome)")
      #expect(!outcome.errors.contains("s3cret"))
      #expect(fixture.origin.requests.isEmpty)
    }
  }

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

  @Test(arguments: [("3601", true), ("86400", true), ("3600", false)])
  func `--retry gives up where the server asks for more than an hour, and shows what it answered`(
    _ asked: String, _ isLast: Bool
  ) async throws {
    try await FetchFixture.with(handler: { request in
      request.number == 1
        ? OriginResponse(.tooManyRequests, fields: [.retryAfter: asked], body: "later") : OriginResponse(body: "now")
    }) { fixture in
      let inner = CommandFixture()
      let outcome = await fixture.fetch(["--retry", "1", fixture.url()], in: inner)
      #expect(outcome.status == 0 && outcome.output == (isLast ? "later" : "now"), "\(outcome)")
      #expect(inner.pauses.withLock { $0 } == (isLast ? [] : [.seconds(3600)]))
      #expect(outcome.errors.contains("asks to wait \(asked) s, and --retry waits an hour at most.") == isLast)
    }
  }

  @Test(arguments: [(1, 0), (2, 22)] as [(Int, Int32)])
  func `--retry tells with -sS of the last try alone`(_ failures: Int, _ status: Int32) async throws {
    try await FetchFixture.with(handler: { request in
      OriginResponse(request.number <= failures ? .serviceUnavailable : .ok)
    }) { fixture in
      let outcome = await fixture.fetch(["-fsS", "--retry", "1", fixture.url()])
      #expect(outcome.status == status && fixture.origin.requests.count == 2, "\(outcome)")
      #expect(outcome.errors.split(separator: "\n").count == (status == 0 ? 0 : 1), "\(outcome)")
    }
  }

  @Test(arguments: [
    "nonsense\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nnope",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nmany\r\n",
  ])
  func `--retry does not ask again for what cannot be read`(_ response: String) async throws {
    try await FetchFixture.with(handler: { _ in throw OriginFault.text(response) }) { fixture in
      let outcome = await fixture.fetch(["--retry", "2", "--compressed", fixture.url()])
      #expect(outcome.status == 2 && outcome.errors.contains("cannot be read"), "\(outcome.errors)")
      #expect(fixture.origin.requests.count == 1)
    }
  }

  @Test(arguments: [303, 307])
  func `--retry does not send a POST again whose redirect leads nowhere`(_ status: Int) async throws {
    try await FetchFixture.with(handler: { _ in
      OriginResponse(.init(code: status), fields: [.location: "http://127.0.0.1:1/done"])
    }) { fixture in
      let outcome = await fixture.fetch(["--retry", "2", "-d", "amount=5", fixture.url("/order")])
      #expect(outcome.status == 2 && outcome.errors.contains("could be connected to"), "\(outcome)")
      #expect(fixture.origin.requests.count == 1)
    }
  }

  @Test func `--retry sends a POST again that was not sent`() async throws {
    try await FetchFixture.with { fixture in
      let inner = CommandFixture()
      let outcome = await fixture.fetch(["--retry", "2", "-d", "a", "http://shop.example:1/"], in: inner)
      #expect(outcome.status == 2 && inner.pauses.withLock { $0 } == [.seconds(1), .seconds(2)], "\(outcome)")
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
