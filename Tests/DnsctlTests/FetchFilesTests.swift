// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import HTTPTypes
import Testing

@testable import DirectDNS
@testable import DnsctlCommands

@Suite(.timeLimit(.minutes(2))) struct `Files that are fetched` {
  private static let whole = "0123456789"

  /// Answers like a server of files: `/whole`, `/cut` in middle of the body, `/shifted` with another range, `/plain` without ranges.
  private static func answer(_ request: RecordedRequest) -> OriginResponse { answer(request, at: request.path) }

  private static func answer(_ request: RecordedRequest, at path: String) -> OriginResponse {
    var start = 0
    var response = OriginResponse()
    if let range = request.field("Range"), path != "/plain" {
      start = Int(range.dropFirst("bytes=".count).dropLast()) ?? 0
      guard start < whole.count else {
        return OriginResponse(.rangeNotSatisfiable, fields: [.contentRange: "bytes */\(whole.count)"])
      }
      let first = path == "/shifted" ? start + 1 : start
      response.status = .partialContent
      response.fields[.contentRange] = "bytes \(first)-\(whole.count - 1)/\(whole.count)"
    }
    response.body = Array(whole.utf8.dropFirst(start))
    if path == "/cut" {
      response.fields[.contentLength] = "\(response.body.count)"
      response.fields[.connection] = "close"
      response.body.removeLast(3)
    }
    return path == "/none" ? OriginResponse(.notFound, body: "not found") : response
  }

  @Test func `are written where -o and -O say, one a URL`() async throws {
    try await FetchFixture.with(handler: Self.answer) { fixture in
      let outcome = await fixture.fetch([
        "-o", fixture.path("a"), "-o", fixture.path("b"), fixture.url(), fixture.url(), fixture.url(),
      ])
      #expect(outcome.status == 0 && outcome.output == Self.whole)
      #expect(fixture.read("a") == Self.whole && fixture.read("b") == Self.whole)
      #expect(await fixture.fetch(["-o", fixture.path("no/folder"), fixture.url()]).status == 74)
      let twice = await fixture.fetch(["-o", fixture.path("a"), "-o", fixture.path("a"), fixture.url(), fixture.url()])
      #expect(twice.status == 64)
    }
  }

  @Test(arguments: [[], ["-Z"]]) func `of several URLs a failure says which it is about`(_ more: [String]) async throws
  {
    try await FetchFixture.with(handler: Self.answer) { fixture in
      let url = fixture.url("/none")
      let outcome = await fixture.fetch(["-f"] + more + [fixture.url(), url, fixture.url(host: "gone.example")])
      #expect(outcome.errors.contains("dnsctl: URL 2 of 3: \(url) answered 404 Not Found.\n"), "\(outcome)")
      #expect(outcome.errors.contains("dnsctl: URL 3 of 3: gone.example does not exist."), "\(outcome)")
      #expect(await fixture.fetch(["-f", url]).errors == "dnsctl: \(url) answered 404 Not Found.\n")
    }
  }

  @Test(
    arguments: [
      ("http://a.example/x/y.tgz?z=/w", "y.tgz"), ("http://a.example/a%2Fb", "a%2Fb"), ("http://a.example/é", "%C3%A9"),
      ("http://a.example/x/..%2f", "..%2f"), ("http://a.example/...", nil), ("http://a.example/x/", nil),
      ("http://a.example", nil), ("http://a.example/%2e%2e", nil),
    ] as [(String, String?)])
  func `are named as the URL's path ends, if that is a name`(_ url: String, _ name: String?) throws {
    let url = try WebURL(url)
    let found = try? OutputFlags.remoteName(of: url)
    #expect(found == name)
  }

  @Test func `stay as they are where the server has nothing newer, and do not begin there`() async throws {
    try await FetchFixture.with(handler: { request in
      request.field("If-None-Match") == "\"1\"" ? OriginResponse(.notModified) : OriginResponse(body: "new")
    }) { fixture in
      let condition = ["-H", "If-None-Match: \"1\""]
      try fixture.write("old", to: "a")
      for name in ["a", "b"] {
        let outcome = await fixture.fetch(condition + ["-f", "-o", fixture.path(name), fixture.url()])
        #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome)")
      }
      #expect(fixture.read("a") == "old" && fixture.files == ["a"])
      // What was asked for is written: the head.
      #expect(await fixture.fetch(condition + ["-i", "-o", fixture.path("b"), fixture.url()]).status == 0)
      #expect(fixture.read("b")?.hasPrefix("HTTP/1.1 304 Not Modified\r\n") == true)
      #expect(await fixture.fetch(["-o", fixture.path("a"), fixture.url()]).status == 0)
      #expect(fixture.read("a") == "new")
    }
  }

  @Test func `that are new keep what came, and go on there`() async throws {
    try await FetchFixture.with(handler: Self.answer) { fixture in
      let file = ["-o", fixture.path("new")]
      #expect(await fixture.fetch(file + [fixture.url("/cut")]).status == 2)
      #expect(fixture.files == ["new"] && fixture.read("new") == "0123456")
      #expect(await fixture.fetch(["-C", "-"] + file + [fixture.url("/whole")]).status == 0)
      #expect(fixture.read("new") == Self.whole)
      #expect(fixture.origin.requests.last?.field("Range") == "bytes=7-")
    }
  }

  @Test func `that were there stay until the new ones are whole`() async throws {
    try await FetchFixture.with(handler: Self.answer) { fixture in
      try fixture.write("old", to: "file")
      let file = ["-o", fixture.path("file")]
      #expect(await fixture.fetch(file + [fixture.url("/cut")]).status == 2)
      #expect(fixture.read("file") == "old" && fixture.read("file.dnsctl-part") == "0123456")
      #expect(await fixture.fetch(["-C-"] + file + [fixture.url("/whole")]).status == 0)
      #expect(fixture.files == ["file"] && fixture.read("file") == Self.whole)
      #expect(await fixture.fetch(["-f"] + file + [fixture.url("/none")]).status == 22)
      #expect(await fixture.fetch(file + ["http://gone.example/"]).status == 1)
      #expect(fixture.read("file") == Self.whole)
      try fixture.write("old again", to: "file")
      #expect(await fixture.fetch(file + [fixture.url("/whole")]).status == 0)
      #expect(fixture.files == ["file"] && fixture.read("file") == Self.whole)
    }
  }

  @Test(arguments: [
    ("0123", "/whole", 0, "0123456789"), ("0123456789", "/whole", 0, "0123456789"), ("012", "/plain", 0, "0123456789"),
    ("", "/whole", 0, "0123456789"), ("012", "/shifted", 22, "012"), ("0123456789+", "/whole", 22, "0123456789+"),
    ("012", "/none", 22, "012"), ("01", "/cut", 2, "0123456"),
  ])
  func `that are continued are never made of halves that do not match`(
    _ there: String, _ path: String, _ status: Int32, _ result: String
  ) async throws {
    try await FetchFixture.with(handler: Self.answer) { fixture in
      try fixture.write(there, to: "file")
      let outcome = await fixture.fetch(["-C", "-", "-o", fixture.path("file"), fixture.url(path)])
      #expect(outcome.status == status, "\(outcome)")
      #expect(fixture.read("file") == result && fixture.files == ["file"])
    }
  }

  @Test func `that are tried again begin again, or go on`() async throws {
    try await FetchFixture.with(handler: { request in
      Self.answer(request, at: request.number == 1 ? "/cut" : request.path)
    }) { fixture in
      #expect(await fixture.fetch(["--retry", "1", "-o", fixture.path("a"), fixture.url("/whole")]).status == 0)
      #expect(fixture.read("a") == Self.whole && fixture.files == ["a"])
    }
    try await FetchFixture.with(handler: { request in
      Self.answer(request, at: request.number == 1 ? "/cut" : request.path)
    }) { fixture in
      #expect(await fixture.fetch(["--retry", "1", "-C-", "-o", fixture.path("a"), fixture.url("/whole")]).status == 0)
      #expect(fixture.read("a") == Self.whole && fixture.origin.requests.last?.field("Range") == "bytes=7-")
    }
  }

  @Test func `come all at once with -Z, and in order on standard output`() async throws {
    let (arrived, feed) = AsyncStream.makeStream(of: Void.self)
    try await FetchFixture.with(handler: { request in
      // The first one is answered last.
      if request.path == "/1" {
        for await _ in arrived { break }
      } else if request.path == "/3" {
        feed.yield()
      }
      return OriginResponse(body: request.path)
    }) { fixture in
      let outcome = await fixture.fetch(
        ["-Z", "-o", "-", "-o", fixture.path("two"), fixture.url("/1"), fixture.url("/2"), fixture.url("/3")])
      #expect(outcome.status == 0 && outcome.output == "/1/3")
      #expect(fixture.read("two") == "/2")
    }
  }

  @Test(arguments: [
    "9223372036854775807", "9223372036854775806", "9223372036854775757", "9223372036854775800", "4294967296",
    "99999999999999999999999", "-1", "18446744073709551615",
  ])
  func `may be announced with any length on a terminal, and others come meanwhile`(_ length: String) async throws {
    try await FetchFixture.with(handler: { request in
      if request.path == "/other" { return OriginResponse(body: "other") }
      let isRest = request.field("Range") != nil
      let range = "Content-Range: bytes 3-9223372036854775806/9223372036854775807\r\n"
      let head =
        "HTTP/1.1 \(isRest ? "206 Partial Content\r\n\(range)" : "200 OK\r\n")Content-Length: \(length)\r\n\r\n"
      throw OriginFault.text("\(head)begin")
    }) { fixture in
      var inner = CommandFixture()
      inner.isErrorsTerminal = true
      let outcome = await fixture.fetch(
        ["-Z", "-o", fixture.path("new"), "-o", fixture.path("other"), fixture.url("/long"), fixture.url("/other")],
        in: inner)
      // No body is that long: it ends before, or the length is none.
      #expect(outcome.status == 2 && fixture.read("other") == "other", "\(outcome)")
      try fixture.write("abc", to: "rest")
      inner = CommandFixture()
      inner.isErrorsTerminal = true
      let rest = await fixture.fetch(["-C", "-", "-o", fixture.path("rest"), fixture.url("/long")], in: inner)
      // Or it contradicts the range.
      #expect([2, 22].contains(rest.status) && fixture.read("rest")?.hasPrefix("abc") == true, "\(rest)")
    }
  }

  @Test func `show their progress on a terminal`() async throws {
    try await FetchFixture.with(handler: Self.answer) { fixture in
      let file = ["-o", fixture.path("file"), fixture.url("/whole")]
      var inner = CommandFixture()
      inner.isErrorsTerminal = true
      let shown = await fixture.fetch(file, in: inner)
      #expect(
        shown.errors.hasSuffix("file  100%  [\(String(repeating: "#", count: 20))]  10 B  0 B/s  in 0:00\n"),
        "\(shown.errors)")
      for flags in [["-s"] + file, ["-v"] + file, [fixture.url("/whole")]] {
        var inner = CommandFixture()
        inner.isErrorsTerminal = true
        #expect(await !fixture.fetch(flags, in: inner).errors.contains("100%"))
      }
      #expect(await fixture.fetch(file).errors == "")
      var dumb = CommandFixture()
      (dumb.isErrorsTerminal, dumb.environment) = (true, ["TERM": "dumb"])
      #expect(await fixture.fetch(file, in: dumb).errors == "")
    }
  }

  @Test(
    arguments: [
      ("a\0b", [], true, 74), ("\0", ["-i"], true, 74), ("a\0b", ["-o", "-"], true, 0), ("a\0b", [], false, 0),
      ("plain", [], true, 0), (String(repeating: "x", count: 2000) + "\0", ["-o", "-"], true, 0),
      ("a\0b", ["-I"], true, 0),
    ] as [(String, [String], Bool, Int32)])
  func `a binary body is kept from a terminal, unless it is asked for`(
    _ body: String, _ options: [String], _ isTerminal: Bool, _ status: Int32
  ) async throws {
    try await FetchFixture.with(handler: { _ in OriginResponse(body: body) }) { fixture in
      var inner = CommandFixture()
      inner.isTerminal = isTerminal
      let outcome = await fixture.fetch(options + [fixture.url()], in: inner)
      #expect(
        outcome.status == status
          && outcome.output.contains("\0") == (status == 0 && body.contains("\0") && options != ["-I"]))
      #expect(outcome.errors.contains("-o - shows it all the same") == (status != 0), "\(outcome.errors)")
    }
  }
}
