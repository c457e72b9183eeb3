// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import HTTPTypes
import Testing

@testable import DirectDNS
@testable import DnsctlCommands

@Suite(.timeLimit(.minutes(1))) struct `Forms and data of dnsctl fetch` {
  private static let files = ["a.txt": "one\ntwo", "b.png": "PNG", "dir/c.HTML": "<p>", "d.bin": "bits", "-": "in"]

  private func body(_ parts: [DataPart]) throws -> String {
    let data = try FormData(parts, boundary: "B") { path, option throws(CommandError) in
      guard let text = Self.files[path] else { throw CommandError(.streams, "\(option): no \(path)") }
      return Array(text.utf8)
    }
    return String(decoding: data.bytes, as: UTF8.self)
  }

  @Test(arguments: [
    ("a=b", "name=\"a\"\r\n\r\nb"),
    ("a=", "name=\"a\"\r\n\r\n"),
    ("a=x;type=text/plain", "name=\"a\"\r\nContent-Type: text/plain\r\n\r\nx"),
    ("a=x;type=text/plain;charset=utf-8", "name=\"a\"\r\nContent-Type: text/plain;charset=utf-8\r\n\r\nx"),
    (#"a="x;y \"z\"";type=t/u"#, "name=\"a\"\r\nContent-Type: t/u\r\n\r\nx;y \"z\""),
    ("a\"\r\n=x", "name=\"a%22%0D%0A\"\r\n\r\nx"),
    ("f=@a.txt", "name=\"f\"; filename=\"a.txt\"\r\nContent-Type: text/plain\r\n\r\none\ntwo"),
    ("f=@dir/c.HTML", "name=\"f\"; filename=\"c.HTML\"\r\nContent-Type: text/html\r\n\r\n<p>"),
    (
      "f=@b.png;type=x/y;filename=n\"o",
      "name=\"f\"; filename=\"n%22o\"\r\nContent-Type: x/y\r\n\r\nPNG"
    ),
    ("f=@b.png;filename=x.bin", "name=\"f\"; filename=\"x.bin\"\r\nContent-Type: image/png\r\n\r\nPNG"),
    ("f=@d.bin", "name=\"f\"; filename=\"d.bin\"\r\nContent-Type: application/octet-stream\r\n\r\nbits"),
    ("f=@-", "name=\"f\"; filename=\"-\"\r\n\r\nin"),
    ("f=@-;filename=x.txt", "name=\"f\"; filename=\"x.txt\"\r\nContent-Type: text/plain\r\n\r\nin"),
    ("f=<a.txt", "name=\"f\"\r\n\r\none\ntwo"),
    ("f=<a.txt;filename=q.txt", "name=\"f\"\r\n\r\none\ntwo"),
    ("a= x y \n", "name=\"a\"\r\n\r\nx y"),
    (#"a= " x" ;type= t/u "#, "name=\"a\"\r\nContent-Type: t/u\r\n\r\n x"),
    ("f=@ a.txt ; filename= n.gif ", "name=\"f\"; filename=\"n.gif\"\r\nContent-Type: image/gif\r\n\r\none\ntwo"),
    ("a=x;type=text/plain; charset=utf-8", "name=\"a\"\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nx"),
  ])
  func `a part is sent as curl sends it`(_ text: String, _ part: String) async throws {
    #expect(
      try body([DataPart(.formPart, text)])
        == "--B\r\nContent-Disposition: form-data; \(part)\r\n--B--\r\n")
  }

  @Test func `--form-string takes everything as it is`() async throws {
    let sent = try body([DataPart(.formText, "a=@x;type=y")])
    #expect(sent == "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n@x;type=y\r\n--B--\r\n")
  }

  @Test(arguments: [
    ("s3cret", "has no ="), ("a=b;encoder=base64", ";encoder="), ("a=@x;headers=y", ";headers="),
    ("a=@x,y", "several files"), ("a=\"b", "not closed"), ("a=\"b\"c", "--form-string"), ("a=b;filename=c", "@FILE"),
    ("a=b;c", "--form-string"), ("a=b;type=x\u{1b}", "type"), ("a=b;type=", "media type"),
    ("a=@b;type=text;filename=c", "media type"),
  ])
  func `what is no part is an error, without its content`(_ text: String, _ words: String) {
    #expect {
      try FormPart(DataPart(.formPart, text))
    } throws: { error in
      let error = error as? CommandError
      return error?.status == .usage && error?.message.contains(words) ?? false
        && !(error?.message.contains("s3cret") ?? true)
    }
  }

  @Test(arguments: [
    ("a b&=", "a+b%26%3D"), ("=a b=", "a+b%3D"), ("n=a b+ü~-._", "n=a+b%2B%C3%BC~-._"), ("n=", "n="), ("=", ""),
    ("@a.txt", "one%0Atwo"), ("n@a.txt", "n=one%0Atwo"), ("n=@a.txt", "n=%40a.txt"),
    // A sign of a file is none where there is an equals sign, also behind it.
    ("me@x.org=1", "me@x.org=1"), ("n@a.txt=", "n@a.txt="), ("@a.txt=b c", "@a.txt=b+c"),
  ])
  func `--data-urlencode has curl's five forms`(_ text: String, _ sent: String) async throws {
    // "a b&=" has its sign at the end: what is in front of it is a name, as for curl.
    let expected = text == "a b&=" ? "a b&=" : sent
    #expect(try body([DataPart(.urlEncoded, text)]) == expected)
  }

  @Test func `options of several names keep their order`() async throws {
    try await FetchFixture.with { fixture in
      let outcome = await fixture.fetch([
        "--data-urlencode", "a=1 2", "-d", "b=3", "--data-raw", "@c", "-dd=4", fixture.url(),
      ])
      #expect(outcome.output.hasSuffix("\r\n\r\na=1+2&b=3&@c&d=4"), "\(outcome)")
      let form = await fixture.fetch([
        "--form-string", "a=;", "-F", "b=c", "-H", "Content-Type: multipart/x", fixture.url(),
      ])
      #expect(form.output.contains(#/Content-Type: multipart\/x; boundary=-{24}[0-9a-f]{32}\r\n/#), "\(form)")
      #expect(form.output.contains(#/name="a"\r\n\r\n;\r\n[-0-9a-f]+\r\nContent-Disposition: form-data; name="b"/#))
    }
  }

  @Test(arguments: [
    (["-d", "a=b", "-d", "c=d"], "/p", "GET /p?a=b&c=d "), (["-d", "a=b"], "/p?x=y#z", "GET /p?x=y&a=b "),
    (["-d", "a=b"], "/p?", "GET /p?a=b "), (["-d", "a=b"], "/p?x&", "GET /p?x&a=b "), ([], "/p", "GET /p "),
    (["--data-urlencode", "q=dead DNS"], "/p", "GET /p?q=dead+DNS "),
    (["-X", "DELETE", "-d", "a"], "/p", "DELETE /p?a "), (["-d", ""], "/p", "GET /p "),
    (["-d", ""], "/p?x", "GET /p?x& "),
  ])
  func `-G puts data behind the query`(_ options: [String], _ path: String, _ line: String) async throws {
    try await FetchFixture.with { fixture in
      let outcome = await fixture.fetch(["-G"] + options + [fixture.url(path)])
      #expect(outcome.output.hasPrefix(line) && !outcome.output.contains("Content-"), "\(outcome)")
    }
  }

  @Test(arguments: ["-d", "-T"])
  func `-H 'Transfer-Encoding: chunked' has data sent in chunks, also behind a redirect`(_ option: String) async throws
  {
    try await FetchFixture.with(handler: { request in
      request.path == "/old" ? OriginResponse(.temporaryRedirect, fields: [.location: "/new"]) : OriginResponse()
    }) { fixture in
      try fixture.write("data", to: "file")
      let value = option == "-T" ? fixture.path("file") : "data"
      let outcome = await fixture.fetch([
        "-H", "Transfer-Encoding: chunked", option, value, "-w", "%{size_upload}", fixture.url("/old"),
      ])
      #expect(outcome.status == 0 && outcome.output == "4", "\(outcome)")
      let requests = fixture.origin.requests
      #expect(requests.map(\.path) == ["/old", "/new"])
      for request in requests {
        #expect(request.fields[.transferEncoding] == "chunked" && request.fields[.contentLength] == nil)
        #expect(request.body == Array("data".utf8))
      }
    }
  }

  @Test func `-H 'Authorization:' leaves out what the URL has for it, too`() async throws {
    try await FetchFixture.with { fixture in
      let url = fixture.url().replacing("http://", with: "http://user:word@")
      #expect(await fixture.fetch([url]).output.contains("Authorization: Basic dXNlcjp3b3Jk\r\n"))
      let outcome = await fixture.fetch(["-H", "Authorization:", "-u", "a:b", url])
      #expect(outcome.status == 0 && !outcome.output.contains("Authorization"), "\(outcome)")
    }
  }

  @Test(arguments: [
    (["-A", "me"], "User-Agent: me\r\n"), (["-A", "me", "-H", "User-Agent: you"], "User-Agent: you\r\n"),
    (["-r", "0-4"], "Range: bytes=0-4\r\n"), (["-r5"], "Range: bytes=5-\r\n"), (["-r", "-5"], "Range: bytes=-5\r\n"),
  ])
  func `-A and -r are fields`(_ options: [String], _ field: String) async throws {
    try await FetchFixture.with { fixture in
      #expect(await fixture.fetch(options + [fixture.url()]).output.contains("\r\n\(field)"))
      #expect(!(await fixture.fetch(["-A", "", fixture.url()]).output.contains("User-Agent")))
    }
  }

  @Test(arguments: [
    (["-F", "a=b", "-d", "c"], "one of them"), (["-F", "a=b", "-T", "-"], "-F and -T"), (["-I", "-F", "a=b"], "-F"),
    (["-G", "-F", "a=b"], "-G and -F"), (["-r", "0-x"], "not a range"), (["-r", "0-", "-C-", "-o", "f"], "-r and -C"),
    (["--resolve", "shop.example:1"], "HOST:PORT:ADDRESS"), (["--resolve", "*:80:192.0.2.1"], "Name each host"),
    (["--resolve", "-shop.example:80:192.0.2.1"], "cannot be removed"),
    (["--resolve", "shop.example:80:x"], "not an address"),
    (["-G", "-T", "-"], "-G and -T"), (["-D", "/tmp/one", "-c", "/tmp/one"], "-D and -c"),
    (["-w", "@/none"], "-w: there is no file"), (["-d", "@/none"], "-d: there is no file"),
    (["-d", "a", "--data-urlencode", "@/none"], "--data-urlencode: there is no file"),
    (["--data-binary", "@/none"], "--data-binary: there is no file"), (["-F", "a=@/none"], "-F: there is no file"),
    (["-F", "a=b", "-H", "Content-Type: multipart/form-data; boundary=zz"], "Leave the boundary out"),
    (["--form-string", "a=b", "-H", "content-type: multipart/x;Boundary=zz"], "Leave the boundary out"),
    (["-o", ""], "-o: the name of the file is empty"), (["-c", ""], "-c: the name"), (["-D", ""], "-D: the name"),
    (["-T", ""], "-T: the name"), (["-d", "@"], "-d: the name"), (["-H", "@"], "-H: the name"),
    (["--cacert", ""], "--cacert: the name"), (["--cert", ""], "--cert: the name"),
    (["--cert", "a", "--key", ""], "--key: the name"), (["--config", ""], "--config: the name"),
    (["--ca", ""], "--ca: the name"),
    (["-x", "ftp://192.0.2.1"], "-x: a proxy of scheme ftp"), (["-x", "SOCKS5://192.0.2.1:1080"], "--upstream"),
  ])
  func `what cannot be done is said`(_ flags: [String], _ words: String) async throws {
    try await FetchFixture.with { fixture in
      let outcome = await fixture.fetch(flags + [fixture.url()])
      #expect([64, 74].contains(outcome.status) && outcome.errors.contains(words), "\(outcome)")
      #expect(fixture.origin.requests.isEmpty)
    }
  }

  @Test(arguments: [
    (["-H", "@/fields"], "-H @/fields, line 3: this is not a field"), (["-H", "s3cret"], "-H: this is not a field"),
    (["-H", "A: b", "-H", "s3cret"], "-H number 2 of 2: this is not a field"),
    (["-F", "a=b", "-F", "s3cret"], "-F (part 2 of 2) has no ="), (["-F", "s3cret"], "-F has no ="),
  ])
  func `what is no field or part is found by its place, and not repeated`(
    _ flags: [String], _ words: String
  ) async throws {
    var fixture = CommandFixture()
    fixture.files = ["/fields": "A: b\n\ns3cret\n"]
    let outcome = await fixture.run(["fetch", "--no-system"] + flags + ["http://a.example/"])
    #expect(outcome.status == 64 && outcome.errors.contains(words) && !outcome.errors.contains("s3cret"), "\(outcome)")
  }

  @Test(arguments: ["-N", "--no-buffer", "-g", "--globoff", "-L", "--location", "--http2", "-gNL"])
  func `what is done anyway may be asked for`(_ flag: String) async throws {
    try await FetchFixture.with(handler: { _ in OriginResponse(body: "x") }) { fixture in
      #expect(await fixture.fetch([flag, fixture.url("/[1-3]")]) == .init(status: 0, output: "x", errors: ""))
    }
  }

  @Test func `--resolve is in place of a lookup, and the policy holds`() async throws {
    try await FetchFixture.with { fixture in
      let port = fixture.origin.port
      let url = fixture.url(host: "pinned.example")
      let outcome = await fixture.fetch(["--resolve", "+pinned.example:\(port):[::1],127.0.0.1", "--allow", "::1", url])
      #expect(outcome.status == 0 && outcome.output.contains("Host: pinned.example:\(port)"), "\(outcome)")
      let refused = await fixture.fetch(["--resolve", "pinned.example:\(port):10.0.0.1", url])
      #expect(refused.status == 3 && refused.errors.contains("10.0.0.1"), "\(refused)")
    }
  }

  @Test func `--resolve holds for its port alone, as curl's does`() async throws {
    try await FetchFixture.with { fixture in
      // Nobody listens at that port of that address, and the name is not there: it was looked up.
      let other = await fixture.fetch(["--resolve", "pinned.example:1:127.0.0.1", fixture.url(host: "pinned.example")])
      #expect(other.status == 1 && other.errors.contains("pinned.example"), "\(other)")
      #expect(fixture.origin.requests.isEmpty)
      let port = fixture.origin.port
      let entries = ["--resolve", "pinned.example:1:10.0.0.1", "--resolve", "pinned.example:\(port):127.0.0.1"]
      #expect(await fixture.fetch(entries + [fixture.url(host: "pinned.example")]).status == 0)
    }
  }

  @Test func `-D has the heads of every hop and URL`() async throws {
    try await FetchFixture.with(handler: { request in
      request.path == "/old" ? OriginResponse(.found, fields: [.location: "/new"]) : OriginResponse(body: "x")
    }) { fixture in
      try fixture.write("before", to: "heads")
      let outcome = await fixture.fetch(["-D", fixture.path("heads"), fixture.url("/old"), fixture.url("/b")])
      let lines = try #require(fixture.read("heads")).split(separator: "\r\n").filter { $0.hasPrefix("HTTP/") }
      #expect(outcome.output == "xx" && lines == ["HTTP/1.1 302 Found", "HTTP/1.1 200 OK", "HTTP/1.1 200 OK"])
      #expect(await fixture.fetch(["-D-", fixture.url("/b")]).output.hasSuffix("\r\n\r\nx"))
      let lost = await fixture.fetch(["-D", "/nowhere/heads", fixture.url("/b")])
      #expect(lost.status == 74 && lost.errors.contains("-D"), "\(lost)")
    }
  }
}
