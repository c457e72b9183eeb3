// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import Foundation
import HTTPTypes
import Testing

@testable import DirectDNS
@testable import DnsctlCommands

/// What `dnsctl fetch` does with servers that lie, files that are odd, and bytes that are no text.
@Suite(.timeLimit(.minutes(2))) struct `Odd servers and odd files` {
  @Test func `a URL's password is in no head that is shown`() async throws {
    try await FetchFixture.with(handler: { request in
      request.path == "/old"
        ? OriginResponse(.found, fields: [.location: "/new", .contentLocation: "x"]) : OriginResponse(body: "new")
    }) { fixture in
      let url = fixture.url("/old").replacing("http://", with: "http://user:secretpw@")
      let shown = await fixture.fetch(["-i", "-v", "--no-location", "-w", "%header{location}", url])
      #expect(shown.output.contains("Location: \(fixture.url("/new"))\r\n"))
      #expect(!shown.output.contains("secretpw") && !shown.errors.contains("secretpw"))
      // Within its origin it goes along all the same.
      #expect(await fixture.fetch([url]).output == "new")
      #expect(fixture.origin.requests.last?.field("Authorization") == "Basic dXNlcjpzZWNyZXRwdw==")
    }
  }

  @Test func `a file that is put into a folder keeps the query: it may be a signature`() async throws {
    try await FetchFixture.with { fixture in
      try fixture.write("x", to: "a b.txt")
      #expect(await fixture.fetch(["-T", fixture.path("a b.txt"), fixture.url("/d/?sig=1&n=%2F")]).status == 0)
      #expect(fixture.origin.requests.last?.target == "/d/a%20b.txt?sig=1&n=%2F")
    }
  }

  @Test(arguments: [(204, ""), (201, "other")]) func `a file is replaced by no answer that is not the whole of it`(
    _ status: Int, _ body: String
  ) async throws {
    try await FetchFixture.with(handler: { _ in OriginResponse(.init(code: status), body: body) }) { fixture in
      try fixture.write("01234", to: "file")
      #expect(await fixture.fetch(["-C", "-", "-o", fixture.path("file"), fixture.url()]).status == 22)
      #expect(fixture.read("file") == "01234")
    }
  }

  @Test(arguments: ["56", "5678901"]) func `a part of another length than was announced is no end of a file`(
    _ part: String
  ) async throws {
    try await FetchFixture.with(handler: { _ in
      let head = "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 5-9/10\r\nTransfer-Encoding: chunked\r\n\r\n"
      throw OriginFault.text("\(head)\(part.count)\r\n\(part)\r\n0\r\n\r\n")
    }) { fixture in
      try fixture.write("01234", to: "file")
      let outcome = await fixture.fetch(["-C", "-", "-o", fixture.path("file"), fixture.url()])
      #expect(outcome.status == 2 && outcome.errors.contains("than the 5 bytes that it announced"), "\(outcome)")
    }
  }

  @Test(arguments: ["5\r\nContent-Length: 3", "+5", "5, 5", "", "99999999999999999999"])
  func `a length that is none, or is two, is refused`(_ length: String) async throws {
    try await FetchFixture.with(handler: { _ in
      throw OriginFault.text("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\nhello")
    }) { fixture in
      let outcome = await fixture.fetch([fixture.url()])
      #expect(outcome.status == 2 && outcome.output.isEmpty, "\(outcome)")
    }
  }

  @Test(arguments: ["HTTP/3.1 200 OK\r\n\r\n", "ICY 200 OK\r\n\r\n", "hello"])
  func `an answer that is not an HTTP response is called that`(_ text: String) async throws {
    try await FetchFixture.with(handler: { _ in throw OriginFault.text(text) }) { fixture in
      let outcome = await fixture.fetch([fixture.url()])
      #expect(outcome.status == 2 && outcome.errors.contains("it is not one of HTTP 1.0, 1.1 or 2"), "\(outcome)")
    }
  }

  @Test(arguments: [407, 502]) func `a proxy that opens no tunnel is named, with its status`(_ status: Int) async throws
  {
    try await FetchFixture.with(handler: { _ in OriginResponse(.init(code: status)) }) { proxy in
      let outcome = await proxy.fetch(["-x", "http://127.0.0.1:\(proxy.origin.port)", "https://shop.example/"])
      #expect(outcome.status == 2)
      #expect(outcome.errors.contains("The proxy http://127.0.0.1:\(proxy.origin.port) opens no tunnel to"))
      #expect(outcome.errors.contains("it answered \(status)"))
    }
  }

  @Test func `what came before a hop that fails is told`() async throws {
    try await FetchFixture.with(handler: { _ in
      OriginResponse(.found, fields: [.location: "http://gone.example/x"])
    }) { fixture in
      let outcome = await fixture.fetch([
        "-D", fixture.path("heads"), "-w", "%{http_code} %{num_redirects} %{redirect_url}", fixture.url("/old"),
      ])
      #expect(outcome.status != 0 && outcome.output == "302 1 ")
      #expect(fixture.read("heads")?.hasPrefix("HTTP/1.1 302 Found\r\n") == true)
    }
  }

  @Test(arguments: [["-I"], ["-i"], ["-i", "-Z"], ["-i", "--retry", "1"], ["-i", "-L", "--max-redirs", "0"]])
  func `heads of redirects are shown once, also if the last hop fails`(_ flags: [String]) async throws {
    try await FetchFixture.with(handler: { _ in
      OriginResponse(.found, fields: [.location: "http://127.0.0.1:1/x"])
    }) { fixture in
      let outcome = await fixture.fetch(flags + [fixture.url("/old")])
      #expect(outcome.status != 0 && outcome.output.hasPrefix("HTTP/1.1 302 Found\r\n"), "\(outcome)")
      #expect(outcome.output.components(separatedBy: "HTTP/1.1").count == 2 && outcome.output.hasSuffix("\r\n\r\n"))
      try fixture.write("old", to: "file")
      _ = await fixture.fetch(flags + ["-o", fixture.path("file"), fixture.url("/old")])
      #expect(fixture.read("file") == "old")
    }
  }

  @Test func `a file of the longest name is written again`() async throws {
    try await FetchFixture.with { fixture in
      let file = ["-o", fixture.path(String(repeating: "a", count: 250)), fixture.url()]
      for _ in 0..<2 { #expect(await fixture.fetch(file).status == 0) }
    }
  }

  @Test func `the reader of one FIFO that goes does not stop the other transfers`() async throws {
    try await FetchFixture.with(handler: { request in
      request.path == "/big" ? OriginResponse(generating: 4 << 20) : OriginResponse(body: "small")
    }) { fixture in
      #expect(unsafe mkfifo(fixture.path("fifo"), 0o600) == 0)
      let path = fixture.path("fifo")
      // It takes a piece and goes.
      let reader = Thread { _ = try? FileHandle(forReadingAtPath: path)?.read(upToCount: 5) }
      reader.start()
      let outcome = await fixture.fetch([
        "-o", path, "-o", fixture.path("other"), fixture.url("/big"), fixture.url("/small"),
      ])
      #expect(outcome.status == 74 && outcome.errors.contains("fifo cannot be written: its reader has gone"))
      #expect(fixture.read("other") == "small")
    }
  }

  @Test func `bytes that are no text are refused, not changed`() async throws {
    try await FetchFixture.with { fixture in
      try Data([0x58, 0x3A, 0x20, 0xE9, 0x0A]).write(to: URL(fileURLWithPath: fixture.path("fields")))
      let outcome = await fixture.fetch(["-H", "@\(fixture.path("fields"))", fixture.url()])
      #expect(outcome.status == 64 && outcome.errors.contains("not UTF-8"), "\(outcome)")
      #expect(fixture.origin.requests.isEmpty)
    }
  }

  @Test(arguments: [("q=C#&page=2", "/?q=C%23&page=2"), ("q=a\nb\tc", "/?q=a%0Ab%09c"), ("q=a%20b+c", "/?q=a%20b+c")])
  func `-G loses nothing of the data`(_ data: String, _ target: String) async throws {
    try await FetchFixture.with { fixture in
      #expect(await fixture.fetch(["-G", "--data-raw", data, fixture.url()]).status == 0)
      #expect(fixture.origin.requests.last?.target == target)
    }
  }

  @Test(arguments: ["id=\u{301}x", "id=\u{FE0F}x"]) func `a cookie may begin with a mark that combines`(
    _ cookie: String
  ) async throws {
    try await FetchFixture.with { fixture in
      #expect(await fixture.fetch(["-b", cookie, fixture.url()]).status == 0)
      #expect(fixture.origin.requests.last?.field("Cookie") == cookie)
    }
  }

  @Test func `what a FIFO brings is sent in chunks`() async throws {
    try await FetchFixture.with { fixture in
      #expect(unsafe mkfifo(fixture.path("fifo"), 0o600) == 0)
      let path = fixture.path("fifo")
      let writer = Thread { FileHandle(forWritingAtPath: path)?.write(Data("brought".utf8)) }
      writer.start()
      #expect(await fixture.fetch(["-T", path, fixture.url("/x")]).status == 0)
      let request = try #require(fixture.origin.requests.last)
      #expect(request.body == Array("brought".utf8) && request.field("Transfer-Encoding") == "chunked")
    }
  }

  @Test func `what cannot be opened to be sent is named`() async throws {
    try await FetchFixture.with { fixture in
      let path = fixture.path("socket")
      #expect(unsafe mknod(path, S_IFSOCK | 0o600, 0) == 0)
      let outcome = await fixture.fetch(["-T", path, fixture.url("/x")])
      #expect(outcome.status == 74 && fixture.origin.requests.isEmpty)
      #expect(outcome.errors == "dnsctl: The file \(path) is not a regular file. Check its path and permissions.\n")
      // A device may lead nowhere, such as /dev/tty without a terminal.
      await #expect(throws: StreamError.failed("\(path) cannot be read: No such device or address")) {
        try await PipeInput(path).read()
      }
    }
  }

  @Test func `cookies are read of a FIFO`() async throws {
    try await FetchFixture.with { fixture in
      #expect(unsafe mkfifo(fixture.path("jar"), 0o600) == 0)
      let path = fixture.path("jar")
      let line = "shop.example\tFALSE\t/\tFALSE\t0\ta\t1\n"
      let writer = Thread { FileHandle(forWritingAtPath: path)?.write(Data(line.utf8)) }
      writer.start()
      #expect(await fixture.fetch(["-b", path, fixture.url()]).status == 0)
      #expect(fixture.origin.requests.last?.field("Cookie") == "a=1")
    }
  }

  @Test func `-w writes its own text as it is on standard error too`() async throws {
    try await FetchFixture.with { fixture in
      let outcome = await fixture.fetch([
        "-o", "/dev/null", "-w", "%{stderr}%{http_code}\\t%{method}\\n", fixture.url(),
      ])
      #expect(outcome.errors == "200\tGET\n")
    }
  }

  @Test func `what was not sent does not count as sent`() async throws {
    try await FetchFixture.with { fixture in
      let port = fixture.origin.port
      await fixture.origin.stop()
      let outcome = await fixture.fetch([
        "--data-raw", String(repeating: "x", count: 1_000), "-w", "%{size_upload} %{speed_upload}",
        "http://shop.example:\(port)/",
      ])
      #expect(outcome.status == 2 && outcome.output == "0 0")
    }
  }

  @Test func `a URL that is none is found among many by its number`() async throws {
    try await FetchFixture.with { fixture in
      let outcome = await fixture.fetch([fixture.url(), "http://a.example:99999/", fixture.url()])
      #expect(outcome.status == 1 && outcome.errors.contains("URL 2 of 3: The port is above 65535"), "\(outcome)")
      #expect(fixture.origin.requests.isEmpty)
    }
  }

  @Test(arguments: [["-o", "a", "-o", "./a"], ["-o", "a", "-D", ".//a"], ["-o", "a", "-c", "./a"]])
  func `one file by two spellings is one file`(_ flags: [String]) async throws {
    try await FetchFixture.with { fixture in
      #expect(await fixture.fetch(flags + [fixture.url(), fixture.url()]).status == 64)
    }
  }
}
