// SPDX-License-Identifier: Apache-2.0
import CoreMetrics
import DirectDNSTesting
import Foundation
import HTTPTypes
import Testing

@testable import DirectDNS
@testable import DirectDNSConfiguration
@testable import DirectDNSPrometheus
@testable import DnsctlCommands

/// Text from outside on every way to a terminal, a log or another program.
@Suite(.timeLimit(.minutes(2))) struct `Text from outside` {
  /// What a terminal acts on: ESC, the same in C1, BEL, CR, LF, BS, DEL, marks of direction, and what is invisible.
  static let hostile =
    "\u{1b}[2J\u{1b}]0;T\u{7}\u{9b}31mRED\u{85}\u{9d}x\u{9c}\r\nFORGED\u{8}\u{7f}\u{202e}\u{2066}\u{200f}\u{200b}\u{2028}\u{feff}\u{e0001}"

  /// Those of them that a line of HTTP can hold.
  static let hostileValue = String(
    String.UnicodeScalarView(hostile.unicodeScalars.filter { !["\r", "\n"].contains($0) }))

  /// What is there of them, apart from line ends and the escape codes that are ours.
  static func left(in text: String, isColoured: Bool = false) -> [Unicode.Scalar] {
    var text = text
    if isColoured {
      for code in ["0", "1", "2", "31", "32", "33"] { text = text.replacing("\u{1b}[\(code)m", with: "") }
      for code in ["\u{1b}[H", "\u{1b}[K", "\u{1b}[J", "\u{1b}[1A", "\r\u{1b}[J", "\r\n", "\r"] {
        text = text.replacing(code, with: "")
      }
    }
    return text.unicodeScalars.filter { $0 != "\n" && $0.isUnprintable }
  }

  // MARK: Servers

  private static func answer(_ status: String, _ more: String = "") -> OriginFault {
    .text(
      "HTTP/1.1 \(status) \(hostileValue)\r\nX-Evil: \(hostileValue)\r\nServer: \(hostileValue)\r\n\(more)Content-Length: 2\r\n\r\nhi"
    )
  }

  @Test(arguments: [
    ["-f"], ["-f", "-v"], ["-v"], ["-f", "--retry", "1"], ["-v", "-b", "a=b", "--compressed"], ["-f", "-Z"],
  ])
  func `of a response's head leaves standard error clean`(_ flags: [String]) async throws {
    try await FetchFixture.with(handler: { request in
      throw Self.answer("404", "Set-Cookie: a=\(Self.hostileValue)\r\nContent-Type: \(Self.hostileValue)\r\n")
    }) { fixture in
      let outcome = await fixture.fetch(flags + [fixture.url("/\(Self.hostile)")])
      #expect(Self.left(in: outcome.errors) == [], "\(outcome)")
      #expect(!outcome.errors.contains("\nFORGED"))
      if flags.contains("-f") { #expect(outcome.status == 22 && outcome.errors.contains("answered 404")) }
    }
  }

  @Test func `of a response's head leaves a terminal alone, and comes as it is to a pipe`() async throws {
    try await FetchFixture.with(handler: { _ in throw Self.answer("200") }) { fixture in
      for flag in ["-i", "-I"] {
        var inner = CommandFixture()
        inner.isTerminal = true
        let shown = await fixture.fetch([flag, fixture.url()], in: inner)
        #expect(Self.left(in: shown.output.replacing("\r\n", with: "\n")) == [], "\(shown)")
        // What a field may not hold at all, such as ESC, is a blank by then.
        #expect(shown.output.contains("X-Evil: ") && shown.output.contains(#"\u{009B}31m"#))
        let piped = await fixture.fetch([flag, fixture.url()])
        #expect(piped.output.contains("\u{9b}31m"))
      }
    }
  }

  @Test(arguments: [
    "Location: http://gone.example/\(hostileValue)", "Location: http://a\u{202e}b.example/",
    "Location: ftp://\u{1b}[2J/",
    "Location: http://10.0.0.1/\u{9b}", "Set-Cookie: \u{1b}[2J=x; Domain=\u{9b}.example",
  ])
  func `of a redirect leaves standard error clean`(_ field: String) async throws {
    try await FetchFixture.with(handler: { _ in throw Self.answer("302", field + "\r\n") }) { fixture in
      let outcome = await fixture.fetch(["-v", "-c", fixture.path("jar"), fixture.url()])
      #expect(Self.left(in: outcome.errors) == [], "\(outcome)")
    }
  }

  /// A certificate that signed itself, made by OpenSSL: with a hostile common name, and other names or none.
  private static func certificate(_ names: String?) throws -> TLSIdentity {
    let folder = try TestFolder()
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/openssl")
    process.arguments =
      [
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-utf8",
        "-subj", "/CN=\u{1b}[2J\u{7}\u{9b}31m\u{202e}evil", "-keyout", folder.path + "/key", "-out",
        folder.path + "/pem",
      ] + (names.map { ["-addext", "subjectAltName=\($0)"] } ?? [])
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    return TLSIdentity(
      certificates: [try String(contentsOfFile: folder.path + "/pem", encoding: .utf8)],
      privateKey: try String(contentsOfFile: folder.path + "/key", encoding: .utf8))
  }

  @Test(arguments: [nil, "DNS:other.example", "DNS:shop.example"] as [String?], [false, true])
  func `of a certificate leaves standard error clean`(_ names: String?, _ isTrusted: Bool) async throws {
    let identity = try Self.certificate(names)
    try await FetchFixture.with(.init(identity: identity)) { fixture in
      try fixture.write(identity.certificates[0], to: "ca.pem")
      let trust = isTrusted ? ["--cacert", fixture.path("ca.pem")] : []
      let outcome = await fixture.fetch(["-v"] + trust + [fixture.url()])
      #expect(Self.left(in: outcome.errors) == [], "\(outcome)")
      #expect(outcome.status == (isTrusted && names == "DNS:shop.example" ? 0 : 2))
      if names == nil, isTrusted { #expect(outcome.errors.contains("evil")) }
    }
  }

  // MARK: Names, files and providers

  @Test(arguments: [["resolve"], ["warmup"], ["rewrite"], ["fetch"], ["watch", "--count", "1"], ["cache", "show"]])
  func `that is no name leaves both streams clean`(_ command: [String]) async throws {
    for format in ["text", "json"] where command != ["fetch"] {
      for text in [Self.hostile, "a.example\u{1b}[2J", "xn--\u{9b}", "http://\u{1b}[2J/"] {
        let outcome = await CommandFixture().run(command + ["--format", format, text])
        #expect(Self.left(in: outcome.output + outcome.errors) == [], "\(command) \(outcome)")
      }
    }
    let outcome = await CommandFixture(input: ScriptedInput(["\(Self.hostile)\n"])).run(command + ["-"])
    #expect(Self.left(in: outcome.output + outcome.errors) == [], "\(command) \(outcome)")
  }

  @Test func `of files' names leaves standard error clean`() async throws {
    let file = "/no/\(Self.hostile)"
    for arguments in [
      ["resolve", "--config", file, "a.example"], ["warmup", "--hosts", file], ["fetch", "-b", file, "a.example"],
      ["fetch", "-H", "@\(file)", "a.example"], ["fetch", "-T", file, "a.example"],
      ["resolve", "--ca", file, "a.example"], ["cache", "import", file], ["cache", "stats", "--store", file],
      ["resolve", "--store", Self.hostile, "a.example"], ["resolve", "--store", "@\(file)", "a.example"],
      ["resolve", "--provider", Self.hostile, "a.example"], ["resolve", "--bootstrap", Self.hostile, "a.example"],
      ["fetch", "--allow", Self.hostile, "a.example"], ["fetch", "-X", Self.hostile, "a.example"],
      ["fetch", "--cacert", file, "https://127.0.0.1:1/"], ["fetch", "-x", Self.hostile, "a.example"],
    ] {
      let outcome = await CommandFixture().run(arguments)
      #expect(outcome.status != 0)
      // What the parser says goes out by main, which escapes it.
      let errors =
        outcome.status == 64 && outcome.errors.contains("Usage:") ? outcome.errors.printableLines : outcome.errors
      #expect(Self.left(in: errors + outcome.output) == [], "\(arguments) \(outcome)")
    }
  }

  @Test func `of a configuration file leaves both streams clean`() async throws {
    let text = JSONLine.string(Self.hostile)
    for file in [
      "{ \(text): 1 }", "{ providers: [\(text)] }", "{ providers: [{ provider: \"google\", name: \(text) }] }",
      "{ keepAlive: [\(text)] }", "{ store: \(text) }", "{ ca: [\(text)] }", "{ pins: { \(text): [\"1.2.3.4\"] } }",
    ] {
      var fixture = CommandFixture(zone: [
        "a.example": .failure(.tls(Self.hostile)), "b.example": .addresses(["192.0.2.1"]),
      ])
      fixture.files = ["/c.json5": file]
      for arguments in [
        ["resolve", "--trace", "a.example", "b.example"], ["resolve", "--format", "json", "a.example", "b.example"],
        ["watch", "--count", "1", "a.example"], ["warmup", "b.example", Self.hostile],
        ["warmup", "--format", "json", "b.example", Self.hostile],
      ] {
        let outcome = await fixture.run(arguments + ["--config", "/c.json5"])
        #expect(Self.left(in: outcome.output + outcome.errors) == [], "\(file) \(arguments)")
      }
    }
  }

  @Test(arguments: [
    HTTPTransportError.tls(hostile), .connect(hostile), .connectionLost(hostile), .malformedResponse(hostile),
    .invalidRequest(hostile),
  ])
  func `of a transport leaves both streams clean, and JSON valid`(_ error: HTTPTransportError) async throws {
    var objects = 0
    for arguments in [
      ["resolve", "--trace", "a.example"], ["resolve", "--format", "json", "a.example"],
      ["watch", "--format", "json", "--count", "1", "a.example"], ["rewrite", "--format", "json", "http://a.example/"],
    ] {
      let fixture = CommandFixture(zone: ["a.example": .failure(error)])
      let outcome = await fixture.run(arguments + ["--no-system"])
      #expect(Self.left(in: outcome.output + outcome.errors) == [], "\(arguments) \(outcome)")
      guard outcome.output.hasPrefix("{") else { continue }
      _ = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8))
      objects += 1
    }
    #expect(objects == 3)
    var fixture = CommandFixture(zone: ["a.example": .failure(error)])
    fixture.isTerminal = true
    let watched = await fixture.run(["watch", "--count", "1", "--no-system", "a.example"])
    #expect(
      Self.left(
        in: watched.output.replacing("\u{1b}[?1049h\u{1b}[?25l", with: "").replacing(
          "\u{1b}[?25h\u{1b}[?1049l", with: ""), isColoured: true) == [])
  }

  // MARK: The ways themselves

  @Test func `is escaped in errors, reasons and faults as soon as they are made`() {
    #expect(Self.left(in: DirectDNSError(.tlsFailed, Self.hostile).description) == [])
    #expect(!DirectDNSError(.tlsFailed, Self.hostile).message.contains("\n"))
    #expect(Self.left(in: DirectDNSError.Attempt(server: Self.hostile, reason: Self.hostile).description) == [])
    #expect(Self.left(in: ProviderFailure(.response, Self.hostile).reason) == [])
    #expect(Self.left(in: ConfigurationFault(Self.hostile).message) == [])
    let once = DirectDNSError(.tlsFailed, Self.hostile).message
    #expect(DirectDNSError(.tlsFailed, once).message == once)
  }

  @Test func `goes into JSON and comes out the same`() throws {
    for text in [Self.hostile, "\u{1f600}\u{10fffd}\u{e0001}", "\"\\\u{0}"] {
      let json = JSONLine.string(text)
      #expect(Self.left(in: json) == [])
      let read = try JSONDecoder().decode([String].self, from: Data("[\(json)]".utf8))
      #expect(read[0].unicodeScalars.elementsEqual(text.unicodeScalars))
      let encoded = String(decoding: try JSONEncoder().encode([text]), as: UTF8.self)
      #expect(Self.left(in: JSONLine.escaped(encoded)) == [])
      let again = try JSONDecoder().decode([String].self, from: Data(JSONLine.escaped(encoded).utf8))
      #expect(again[0].unicodeScalars.elementsEqual(text.unicodeScalars))
    }
  }

  @Test func `stands in tables, bars, findings and complaints as text`() {
    var table = ColumnTable()
    table.add([TableCell(Self.hostile) { "\u{1b}[1m\($0)\u{1b}[0m" }, TableCell(Self.hostile)])
    var fitted = FittedTable(columns: [.init(title: "A", minimum: 5), .init(title: "B", rank: 1)])
    fitted.rows = [[TableCell(Self.hostile), TableCell(Self.hostile)]]
    let now = ResolverInstant(nanoseconds: 0)
    let finding = Finding.warn(Self.hostile, Self.hostile, Self.hostile)
    for text in [
      table.text, fitted.lines(width: 300).joined(),
      ProgressBar(label: Self.hostile, now: now).line(now: now, width: 400),
      FindingsText(style: TextStyle(isOn: true)).text([finding]), JSONLine(finding).text,
    ] {
      #expect(Self.left(in: text, isColoured: true) == [])
      #expect(text.contains(#"\u{1B}[2J"#) || text.contains(#"\u001b[2J"#))
    }
    let fixture = CommandFixture()
    fixture.context.reportError(Self.hostile)
    #expect(Self.left(in: fixture.errors.text) == [])
  }

  @Test func `stands in metrics as text`() {
    let registry = PrometheusRegistry()
    registry.makeCounter(label: "x", dimensions: [("provider", Self.hostile)]).increment(by: Int64(1))
    let text = registry.text()
    #expect(Self.left(in: text) == [])
    #expect(text.contains(#"x{provider="\\u{1B}[2J"#))
  }
}
