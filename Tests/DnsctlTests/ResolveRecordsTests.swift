// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DnsctlCommands

@Suite struct `dnsctl resolve --type` {
  private let zone: [String: Zone.Entry] = [
    "www.example.com": .addresses(["192.0.2.10", "2001:db8::6"]),
    "alias.example.com": .addresses(["192.0.2.10"], ttl: 60, alias: "web.example.net"),
    "example.com": .records([
      15: ["10 mail.example.com.", "20 backup.example.com."], 16: [#""v=spf1 -all""#], 65280: [##"\# 2 abcd"##],
      257: [#"0 issue "letsencrypt.org""#],
    ]),
    "signed.example.com": .records([2: ["ns.example.com."]], isAuthenticated: true),
    "1.2.0.192.in-addr.arpa": .records([12: ["www.example.com."]]),
    "broken.example.com": .code(2),
  ]

  private func run(_ arguments: String..., edit: (inout CommandFixture) -> Void = { _ in }) async
    -> CommandFixture.Outcome
  {
    var fixture = CommandFixture(zone: zone)
    edit(&fixture)
    return await fixture.resolve(["--provider", "google"] + arguments)
  }

  @Test func `text has a line a record, and below them where they came from`() async {
    let outcome = await run("-t", "MX,TXT", "example.com")
    #expect(
      outcome.output == """
        example.com  MX  300 s  10 mail.example.com.
                     MX  300 s  20 backup.example.com.
                     fresh  google  0.0 ms
        example.com  TXT  300 s  "v=spf1 -all"
                     fresh  google  0.0 ms

        """)
    #expect(outcome.status == 0 && outcome.errors == "")
  }

  @Test func `what does not expire has no TTL`() async {
    let pins = { (fixture: inout CommandFixture) in
      fixture.files["c.json5"] = #"{ pins: { "pin.example.com": ["192.0.2.99"] } }"#
    }
    let words = ["--config", "c.json5", "-t", "A", "pin.example.com"]
    #expect(
      await run(words[0], words[1], words[2], words[3], words[4], "-f", "tsv", edit: pins).output
        == "pin.example.com\tA\t\t192.0.2.99\tfresh\tpin\n")
    #expect(
      await run(words[0], words[1], words[2], words[3], words[4], "--json", edit: pins).output.contains(#""ttl":null"#))
  }

  @Test func `an alias and an authenticated answer say so`() async {
    #expect(await run("-t", "NS", "signed.example.com").output.contains("fresh  google  authenticated  0.0 ms"))
    #expect(await run("-t", "A", "alias.example.com").output.contains("0.0 ms  alias of web.example.net."))
  }

  @Test(arguments: [
    (["-t", "MX"], "10 mail.example.com.\n20 backup.example.com.\n"),
    (["-tMX"], "10 mail.example.com.\n20 backup.example.com.\n"),
    (["--type", "mx", "-t", "TXT", "-t", "MX"], "10 mail.example.com.\n20 backup.example.com.\n\"v=spf1 -all\"\n"),
    (["--type=TYPE65280,65280"], "\\# 2 ABCD\n"), (["-t", "CAA"], "0 issue \"letsencrypt.org\"\n"),
  ])
  func `types are names or numbers, several at once, each asked once`(_ arguments: [String], _ output: String) async {
    let fixture = CommandFixture(zone: zone)
    let outcome = await fixture.resolve(["--provider", "google", "--short"] + arguments + ["example.com"])
    #expect(outcome == .init(status: 0, output: output, errors: ""))
    #expect(fixture.transport.asked.withLock { Set($0).count == $0.count })
  }

  @Test func `an address's names are asked for in reverse`() async {
    let outcome = await run("-x", "192.0.2.1", "--short")
    #expect(outcome == .init(status: 0, output: "www.example.com.\n", errors: ""))
    let none = await run("-x", "192.0.2.9")
    #expect(none.status == 1 && none.errors.hasPrefix("dnsctl: 192.0.2.9 stands for no name: "), "\(none)")
    // Its reverse name was made of the address.
    #expect(!none.errors.contains("spelling"), "\(none)")
    // That an address has no MX record says nothing of its names.
    let other = await run("-x", "192.0.2.9", "-t", "MX")
    #expect(other.status == 1 && !other.errors.contains("stands for no name"), "\(other)")
    #expect(await run("-x", "10.0.0.1").status == 3)
    let lines = await run("-x", "--json", "-") { $0.input = ScriptedInput(["192.0.2.1\nexample.com\n"]) }
    #expect(lines.output.hasPrefix(#"{"host":"192.0.2.1","type":"PTR","#) && lines.status == 1)
    #expect(lines.output.contains("This is not an address"))
  }

  @Test func `json has every key, and data as text`() async {
    #expect(
      await run("--json", "-t", "TXT", "example.com").output
        == #"{"host":"example.com","type":"TXT","canonicalName":null,"records":[{"name":"example.com.","type":"TXT","ttl":300,"data":"\"v=spf1 -all\""}],"age":0,"freshness":"fresh","source":"provider","provider":"google","authenticated":false,"elapsedMs":0,"error":null}"#
        + "\n")
    #expect(
      await run("--json", "-t", "SRV", "example.com").output
        == #"{"host":"example.com","type":"SRV","canonicalName":null,"records":null,"age":null,"freshness":null,"source":null,"provider":null,"authenticated":null,"elapsedMs":0,"error":{"code":"noRecord","message":"example.com exists and has no SRV record."}}"#
        + "\n")
  }

  @Test func `addresses have a type of their own, and come by lookups of addresses`() async {
    #expect(await run("--short", "-t", "A,AAAA", "www.example.com").output == "192.0.2.10\n2001:db8::6\n")
    #expect(
      await run("-t", "AAAA", "-f", "tsv", "www.example.com").output
        == "www.example.com\tAAAA\t300\t2001:db8::6\tfresh\tgoogle\n")
    #expect(await run("-t", "A", "-f", "hosts", "www.example.com").output == "192.0.2.10 www.example.com\n")
  }

  @Test(arguments: [
    ("none.example.com", 1, "none.example.com does not exist"), ("www.example.com", 1, "has no MX record"),
    ("broken.example.com", 2, "could not be looked up"), ("printer", 3, "a name of this network"),
    ("a..b", 1, "a..b"), ("192.0.2.1", 1, "by PTR of 1.2.0.192.in-addr.arpa"), ("x.onion", 3, "Tor"),
  ])
  func `an error stands on standard error, its status is that of addresses`(
    _ name: String, _ status: Int32, _ text: String
  ) async {
    let outcome = await run("-t", "MX", name)
    #expect(outcome.status == status && outcome.output == "" && outcome.errors.contains(text), "\(outcome)")
  }

  @Test(arguments: [
    (["-t", "LOCK", "a.example"], "is not a record type that is known by name"),
    (["-t", "", "a.example"], "is not a record type"), (["-t", "MX,,A", "a.example"], "is not a record type"),
    (["-t", "OPT", "a.example"], "not a type that records"),
    (["-t", "MX", "-f", "hosts", "a.example"], "addresses alone"),
    (["-x", "-f", "hosts", "192.0.2.1"], "addresses alone"),
    (["-t", "A", "-4", "a.example"], "one of --type and --family"), (["-x"], "Missing expected argument"),
  ])
  func `what cannot be meant is a wrong command line`(_ arguments: [String], _ text: String) async {
    let outcome = await CommandFixture(zone: zone).resolve(arguments)
    #expect(outcome.status == 64 && outcome.errors.contains(text), "\(outcome)")
  }

  @Test func `a provider that carries addresses alone is named`() async {
    let outcome = await CommandFixture(zone: zone).resolve(["@dnspod+https://192.0.2.1/d", "-t", "MX", "example.com"])
    #expect(outcome.status == 78 && outcome.errors.contains("192.0.2.1 carries addresses alone"), "\(outcome)")
  }

  @Test func `a trace shows each query`() async {
    let outcome = await run("-t", "TXT", "--trace", "example.com")
    #expect(outcome.errors.contains("google  example.com TXT  https://dns.google (192.0.2.53)  HTTP 200  1 record"))
  }

  @Test func `what a record holds cannot act on a terminal`() async {
    let outcome = await run("-t", "TXT,DS", "evil.example.com") {
      $0.zone["evil.example.com"] = .records([16: ["\u{1b}[31m\u{202e}"], 43: ["1 \u{1b}[31m\u{9b}"]])
    }
    #expect(!outcome.output.unicodeScalars.contains { $0 != "\n" && $0.isUnprintable }, "\(outcome)")
    #expect(outcome.output.contains(#"\027[31m"#) && outcome.output.contains(#"\u{1B}[31m"#))
  }
}
