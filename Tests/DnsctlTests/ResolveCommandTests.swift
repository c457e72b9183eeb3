// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DnsctlCommands

@Suite struct `dnsctl resolve` {
  private let zone: [String: Zone.Entry] = [
    // One address each: several that are equally good come in an order that differs from process to process.
    "www.example.com": .addresses(["192.0.2.10"]),
    "alias.example.com": .addresses(["192.0.2.10"], ttl: 60, alias: "web.example.net"),
    "six.example.com": .addresses(["2001:db8::6"], ttl: 120),
    "broken.example.com": .code(2),
    "down.example.com": .failure(.connect("refused")),
    "late.example.com": .failure(.timedOut),
  ]

  private func run(_ arguments: String..., edit: (inout CommandFixture) -> Void = { _ in }) async
    -> CommandFixture.Outcome
  {
    var fixture = CommandFixture(zone: zone)
    edit(&fixture)
    return await fixture.resolve(["--provider", "google"] + arguments)
  }

  // MARK: Formats

  @Test func `text aligns a name, its addresses and what is known of them`() async {
    let outcome = await run("www.example.com", "alias.example.com", "127.1", "localhost", "--family", "ipv4")
    #expect(
      outcome.output == """
        www.example.com    192.0.2.10       ttl 300 s  fresh  google  0.0 ms
        alias.example.com  192.0.2.10       ttl 60 s  fresh  google  0.0 ms
                           alias of web.example.net
        127.1              127.0.0.1        fresh  literal  0.0 ms
        localhost          127.0.0.1        fresh  local  0.0 ms

        """)
    #expect(outcome.errors == "")
    #expect(outcome.status == 0)
  }

  @Test func `short is addresses alone, one a line`() async {
    let outcome = await run("--format", "short", "www.example.com", "six.example.com")
    #expect(outcome == CommandFixture.Outcome(status: 0, output: "192.0.2.10\n2001:db8::6\n", errors: ""))
  }

  @Test(arguments: ["A", "AAAA"]) func `both families are printed, every time, whichever comes last`(
    _ slow: String
  ) async {
    for store in [nil, MemoryAnswerStore()] as [MemoryAnswerStore?] {
      for _ in 0..<40 {
        let outcome = await run("--format", "short", "both.example.com") { fixture in
          fixture.zone["both.example.com"] = .addresses(["192.0.2.66", "2001:db8::66"])
          fixture.store = store
          fixture.transport.slowType.withLock { $0 = slow }
        }
        #expect(Set(outcome.output.split(separator: "\n")) == ["192.0.2.66", "2001:db8::66"])
      }
    }
  }

  @Test(arguments: [
    (
      "WWW.Example.COM.",
      #"{"host":"WWW.Example.COM.","canonicalName":null,"addresses":["192.0.2.10"],"ttl":300,"age":0,"freshness":"fresh","source":"provider","provider":"google","elapsedMs":0,"error":null}"#
    ),
    (
      "alias.example.com",
      #"{"host":"alias.example.com","canonicalName":"web.example.net","addresses":["192.0.2.10"],"ttl":60,"age":0,"freshness":"fresh","source":"provider","provider":"google","elapsedMs":0,"error":null}"#
    ),
    (
      "0x7f.1",
      #"{"host":"0x7f.1","canonicalName":null,"addresses":["127.0.0.1"],"ttl":null,"age":0,"freshness":"fresh","source":"literal","provider":null,"elapsedMs":0,"error":null}"#
    ),
    (
      "none.example.com",
      #"{"host":"none.example.com","canonicalName":null,"addresses":null,"ttl":null,"age":null,"freshness":null,"source":null,"provider":null,"elapsedMs":0,"error":{"code":"nameNotFound","message":"none.example.com does not exist. Check its spelling."}}"#
    ),
  ])
  func `json is one compact object a line, every key there and in order`(host: String, line: String) async {
    let outcome = await run("--format", "json", host)
    #expect(outcome.output == line + "\n")
    #expect(outcome.errors == "")
  }

  // MARK: Errors and statuses

  @Test(
    arguments: [
      ("www.example.com", 0, nil), ("none.example.com", 1, "nameNotFound"),
      ("six.example.com", 1, "noAddress"),
      ("a b", 1, "invalidName"), ("x.invalid", 1, "nameNotFound"),
      ("broken.example.com", 2, "upstreamFailed"),
      ("down.example.com", 2, "upstreamFailed"), ("late.example.com", 2, "timedOut"),
      ("hidden.onion", 3, "refused"), ("printer.local", 3, "refused"),
    ] as [(String, Int32, String?)])
  func `each kind of outcome has its code and its status`(host: String, status: Int32, code: String?) async {
    let arguments = ["--provider", "google", "--no-system", "--family", "ipv4", host]
    let json = await CommandFixture(zone: zone).resolve(["--format", "json"] + arguments)
    #expect(json.status == status)
    #expect(json.errors == "")
    #expect(json.output.contains(code.map { #""error":{"code":"\#($0)","message":""# } ?? #""error":null"#))
    for format in ["text", "short"] {
      let outcome = await CommandFixture(zone: zone).resolve(["--format", format] + arguments)
      #expect(outcome.status == status)
      #expect(outcome.output.isEmpty == (status != 0))
      #expect(outcome.errors.isEmpty == (status == 0))
      #expect(status == 0 || outcome.errors.hasPrefix("dnsctl: "))
      #expect(status == 0 || outcome.errors.contains(host))
    }
  }

  @Test(
    arguments: [
      (["www.example.com", "none.example.com"], 1), (["none.example.com", "down.example.com"], 2),
      (["hidden.onion", "down.example.com", "none.example.com"], 3),
    ] as [([String], Int32)])
  func `of several names the highest status counts`(hosts: [String], status: Int32) async {
    #expect(await CommandFixture(zone: zone).resolve(["--provider", "google"] + hosts).status == status)
  }

  @Test func `an error names every provider that was asked`() async {
    let arguments = ["--provider", "google", "--provider", "cloudflare", "down.example.com"]
    let text = await CommandFixture(zone: zone).resolve(arguments).errors
    #expect(text.contains("\n  google: no connection: refused\n"))
    #expect(text.contains("\n  cloudflare: no connection: refused\n"))
    #expect(text.contains("\n  system: the fake system's DNS is out of order\n"))
    let json = await CommandFixture(zone: zone).resolve(["--format", "json"] + arguments).output
    #expect(
      json.contains("Tried google: no connection: refused; cloudflare: no connection: refused; system: "))
    #expect(json.split(separator: "\n").count == 1)
  }

  @Test func `the system's DNS answers when no provider does, unless it is off`() async {
    let edit = { (fixture: inout CommandFixture) in
      fixture.systemZone = ["down.example.com": .addresses(["192.0.2.99"])]
    }
    let allowed = await run("--format", "json", "down.example.com", edit: edit)
    #expect(allowed.output.contains(#""addresses":["192.0.2.99"],"ttl":60,"#))
    #expect(allowed.output.contains(#""source":"system","provider":null"#))
    let refused = await run("--no-system", "--format", "short", "down.example.com", edit: edit)
    #expect(refused.status == 2)
    #expect(refused.output == "")
  }

  // MARK: Traces and colours

  @Test func `a trace tells each query with its address, status and time, on standard error`() async {
    let outcome = await run("--trace", "--format", "short", "--family", "ipv4", "www.example.com")
    #expect(outcome.output == "192.0.2.10\n")
    #expect(
      outcome.errors
        == "+0.0 ms  google  www.example.com A  https://dns.google (192.0.2.53)  HTTP 200  1 address, TTL 300 s  in 0.0 ms\n"
    )
  }

  @Test(
    arguments: [
      (true, [:], true), (false, [:], false), (true, ["NO_COLOR": "1"], false),
      (true, ["NO_COLOR": ""], true),
      (true, ["TERM": "dumb"], false),
    ] as [(Bool, [String: String], Bool)])
  func `colours are for terminals whose user did not decline them`(
    isTerminal: Bool, environment: [String: String], isColoured: Bool
  ) async {
    let outcome = await run("www.example.com") {
      $0.isTerminal = isTerminal
      $0.environment = environment
    }
    #expect(outcome.output.contains("\u{1b}[") == isColoured)
  }

  @Test(arguments: ["short", "json"])
  func `only text is ever coloured`(format: String) async {
    let outcome = await run("--format", format, "www.example.com") { $0.isTerminal = true }
    #expect(!outcome.output.contains("\u{1b}"))
  }

  @Test func `names from outside run no escape codes on a terminal`() async {
    let outcome = await run("\u{1b}[31mred", "a\u{202e}b") { $0.isTerminal = true }
    #expect(outcome.status == 1)
    #expect(!outcome.errors.contains("\u{1b}"))
    #expect(!outcome.errors.contains("\u{202e}"))
  }
}
