// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DnsctlCommands

struct ServerArgumentTests {
  @Test(arguments: [
    ("1.1.1.1", "doh+https://1.1.1.1/dns-query"), ("2001:db8::53", "doh+https://[2001:db8::53]/dns-query"),
    ("[2001:db8::53]", "doh+https://[2001:db8::53]/dns-query"), ("google", "google"), ("my-own", "my-own"),
    ("dns.example", "doh+https://dns.example/dns-query"),
    ("dns.example:8443", "doh+https://dns.example:8443/dns-query"),
    ("dns.example/q", "doh+https://dns.example/q"), ("https://dns.example", "doh+https://dns.example/dns-query"),
    ("https://dns.example/", "doh+https://dns.example/dns-query"),
    ("https://dns.example/q?a=b", "doh+https://dns.example/q?a=b"),
    ("http://127.0.0.1:8053/q", "doh+http://127.0.0.1:8053/q"),
    ("json+https://dns.example/r", "json+https://dns.example/r"),
    ("tls://dns.example", "tls://dns.example"),
  ])
  func `a server is a provider: an address or a host by DNS messages, a word by its name`(
    _ server: String, _ provider: String
  ) {
    #expect(ServerArgument.provider(server) == provider)
  }

  @Test func `the server is asked, in place of those that are configured`() async {
    let fixture = CommandFixture(zone: ["www.example.com": .addresses(["192.0.2.10"])])
    let outcome = await fixture.resolve(["www.example.com", "@google", "--short"])
    #expect(outcome == .init(status: 0, output: "192.0.2.10\n", errors: ""))
    let asked = fixture.transport.asked.withLock(\.self)
    #expect(!asked.isEmpty && asked.allSatisfy { $0.hasPrefix("https://dns.google/") }, "\(asked)")
  }

  @Test(arguments: [
    (["@google"], "192.0.2.20\n"), ([], "192.0.2.10\n"), (["--provider", "google"], "192.0.2.10\n"),
    (["@google", "--store", "redis://cache"], "192.0.2.10\n"),
  ])
  func `the server is asked whatever a configured store has, unless --store names it`(
    _ arguments: [String], _ output: String
  ) async {
    let store = MemoryAnswerStore(clock: StillClock())
    let name = "www.example.com"
    let before = CommandFixture(zone: [name: .addresses(["192.0.2.10"])], store: store)
    _ = await before.resolve(["--store", "redis://cache", name])
    let fixture = CommandFixture(
      zone: [name: .addresses(["192.0.2.20"])], environment: ["DIRECTDNS_STORE": "redis://cache"], store: store)
    #expect(await fixture.resolve(arguments + ["--short", name]).output == output)
  }

  @Test func `one that is configured by that name is meant, be there a dot in it`() async throws {
    var fixture = CommandFixture(zone: ["www.example.com": .addresses(["192.0.2.10"])])
    let file =
      "{ providers: [{ name: 'dns.lan', provider: 'json+https://dns.google/resolve', bootstrap: ['8.8.8.8'] }] }"
    fixture.files["c.json5"] = file
    let outcome = await fixture.resolve(["--config", "c.json5", "www.example.com", "@dns.lan", "--short"])
    #expect(outcome == .init(status: 0, output: "192.0.2.10\n", errors: ""))
    let asked = fixture.transport.asked.withLock(\.self)
    #expect(!asked.isEmpty && asked.allSatisfy { $0.hasPrefix("https://dns.google/") }, "\(asked)")
  }

  @Test(arguments: [["@iner"], ["--provider", "iner"], []])
  func `who names one that there is not is told those of the file`(_ arguments: [String]) async {
    var environment = ["DIRECTDNS_EMAS_SECRET": "00"]
    if arguments.isEmpty { environment["DIRECTDNS_PROVIDERS"] = "iner" }
    var fixture = CommandFixture(environment: environment)
    let signed = "{ name: 'signed', provider: 'emas+https://192.0.2.1/1001/sign_d' }"
    fixture.files["c.json5"] = "{ providers: [{ name: 'inner', provider: 'google' }, 'cloudflare', \(signed)] }"
    let outcome = await fixture.resolve(arguments + ["--config", "c.json5", "a.example"])
    #expect(outcome.status == (arguments.isEmpty ? 78 : 64))
    #expect(outcome.errors.contains(" The file c.json5 has inner, cloudflare, signed."), "\(outcome)")
  }

  @Test(arguments: [
    (["@", "a.example"], "@ wants a server"), (["@google"], "Give a name to look up"),
    (["@nobody", "a.example"], "dnsctl: @SERVER: \"nobody\" is not a provider"),
    (["@tls://dns.example", "a.example"], "dns.example"),
    (["--provider", "nobody", "a.example"], "dnsctl: --provider: \"nobody\" is not a provider"),
    (["@127.0.0.1:0", "a.example"], "port 0"), (["@https://dns.example/q{?name}", "a.example"], "{?dns}"),
  ])
  func `a server that is none is a wrong command line`(_ arguments: [String], _ text: String) async {
    let outcome = await CommandFixture().resolve(arguments)
    #expect(outcome.status == 64 && outcome.errors.contains(text), "\(outcome)")
  }
}
