// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Testing

@testable import DirectDNS
@testable import DirectDNSConfiguration
@testable import DnsctlCommands

@Suite struct `A wrong command line` {
  @Test(arguments: [
    (["--timeout", "0", "a.example"], "--timeout"), (["--timeout", "-1", "a.example"], "--timeout"),
    (["--timeout", "nan", "a.example"], "--timeout"), (["--timeout", "1e3", "a.example"], "--timeout"),
    (["--timeout", "86401", "a.example"], "--timeout"), (["--timeout", ".", "a.example"], "--timeout"),
    (["--family", "ipv5", "a.example"], "--family"), (["--expired", "maybe", "a.example"], "--expired"),
    (["--format", "xml", "a.example"], "--format"), (["--nonsense", "a.example"], "--nonsense"),
    (["--bootstrap", "dns.google", "a.example"], "has no \"=\""),
    (["--bootstrap", "a b=192.0.2.1", "a.example"], "before the \"=\""),
    (["--bootstrap", "=192.0.2.1", "a.example"], "before the \"=\""),
    (["--bootstrap", "dns.google=here", "a.example"], "behind the \"=\""),
    (["--bootstrap", "dns.google=", "a.example"], "behind the \"=\""),
    (["--provider", "nobody", "a.example"], "--provider"), (["--provider", "", "a.example"], "--provider"),
    (["--provider", "gopher+https://x.example/", "a.example"], "--provider"),
    (["--provider", "doh+ftp://x.example/", "a.example"], "--provider"),
    (["--provider", "doh+https://", "a.example"], "--provider"), (["--config"], "--config"), ([], "<host>"),
  ])
  func `ends with 64 and names the option`(arguments: [String], part: String) async {
    let outcome = await CommandFixture().resolve(arguments)
    #expect(outcome.status == 64)
    #expect(outcome.output == "")
    #expect(outcome.errors.contains(part))
    #expect(outcome.errors.contains("dnsctl resolve --help"))
  }

  @Test(arguments: [
    (
      ["--bootstrap", "dns.example=192.0.2.1"],
      "--bootstrap dns.example=192.0.2.1: no provider's URL has that name"
    ),
    (["--provider", "doh+http://192.0.2.1/dns-query"], "plain http"),
    (["--provider", "emas+https://203.107.1.1/100000/sign_d"], "needs a secret"),
    (["--provider", "dnspod+http://119.29.29.99/d?alg=aes"], "encrypted"),
    (["--provider", "doh+https://dns.example/q", "--no-system"], "--bootstrap dns.example="),
    (["--config", "/missing.json5"], "/missing.json5: there is no such configuration file. Check --config."),
    (
      ["--config", "/unreadable/file"],
      "/unreadable/file: the configuration file cannot be read: Permission denied"
    ),
  ])
  func `and what cannot be used although it is well written are told apart`(arguments: [String], part: String)
    async
  {
    let outcome = await CommandFixture().resolve(arguments + ["a.example"])
    #expect(outcome.errors.contains(part))
    #expect(outcome.output == "")
    // DNSPod's encrypted forms are never spoken: that is a slip of the command line.
    #expect(outcome.status == (part == "encrypted" ? 64 : 78))
  }
}

@Suite struct `Numbers of a command line` {
  @Test(arguments: [
    ["resolve", "--timeout"], ["resolve", "--connections"], ["watch", "--count"], ["watch", "--interval"],
    ["warmup", "--rate"], ["warmup", "--concurrency"], ["warmup", "--deadline"], ["warmup", "--min-success"],
  ])
  func `below nothing are told as such, and not as missing`(_ words: [String]) async {
    let outcome = await CommandFixture().run(words + ["-1", "www.example.com"])
    #expect(outcome.status == 64 && outcome.errors.contains(words[1]), "\(outcome)")
    #expect(!outcome.errors.contains("Missing"), "\(outcome)")
  }
}

@Suite struct `The sources of settings` {
  private static let fileName = "/c.json5"

  /// The settings that options, environment and file come to.
  private func settings(
    _ arguments: [String] = [], environment: [String: String] = [:], file: String? = nil
  ) throws -> DirectSettings {
    var fixture = CommandFixture(environment: environment)
    fixture.files = file.map { [Self.fileName: $0] } ?? [:]
    let command = try ResolveCommand.parse(
      arguments + (file == nil ? [] : ["--config", Self.fileName]) + ["a.example"])
    return try command.lookupArguments.settings(in: fixture.context)
  }

  private func providers(_ settings: DirectSettings) -> [String] {
    settings.resolver.providers.map(\.provider.name)
  }

  @Test func `without any of them the defaults work on the internet`() throws {
    let settings = try settings()
    #expect(providers(settings) == ["alidns", "google", "cloudflare"])
    #expect(settings.resolver.usesSystemDNS)
    #expect(settings.resolver.timeout == .seconds(5))
    #expect(settings.resolver.families == .any)
    #expect(settings.lookup == LookupOptions())
    #expect(settings.systemServers == nil)
  }

  @Test(arguments: [
    (false, false, false), (false, false, true), (false, true, false), (false, true, true),
    (true, false, false),
    (true, true, true),
  ])
  func `override each other: defaults, file, environment, options`(
    hasOption: Bool, hasVariable: Bool, hasFile: Bool
  ) throws {
    let file = """
      { providers: ["quad9"], system: false, timeout: 2, families: "ipv6", expired: "refused", ca: ["file.pem"] }
      """
    let environment = [
      "DIRECTDNS_PROVIDERS": "cloudflare, dnspod", "DIRECTDNS_SYSTEM": "on", "DIRECTDNS_TIMEOUT": "3.5",
      "DIRECTDNS_FAMILY": "ipv4", "DIRECTDNS_EXPIRED": "preferred", "DIRECTDNS_CA": "a.pem:b.pem",
    ]
    let options = [
      "--provider", "google", "--no-system", "--timeout", "0.25", "--family", "any", "--expired", "allowed",
      "--ca",
      "o.pem",
    ]
    let settings = try settings(
      hasOption ? options : [], environment: hasVariable ? environment : [:], file: hasFile ? file : nil)
    func pick<Value>(_ option: Value, _ variable: Value, _ file: Value, _ standard: Value) -> Value {
      hasOption ? option : hasVariable ? variable : hasFile ? file : standard
    }
    let configuration = settings.resolver
    #expect(
      providers(settings)
        == pick(["google"], ["cloudflare", "dnspod"], ["quad9"], ["alidns", "google", "cloudflare"]))
    #expect(configuration.usesSystemDNS == pick(false, true, false, true))
    #expect(configuration.timeout == pick(.milliseconds(250), .milliseconds(3500), .seconds(2), .seconds(5)))
    #expect(configuration.families == pick(.any, .ipv4, .ipv6, .any))
    #expect(settings.lookup.expired == pick(.allowed, .preferred, .refused, .allowed))
    #expect(
      configuration.trust.privateAuthorities == pick(["o.pem"], ["a.pem", "b.pem"], ["/file.pem"], []))
  }

  @Test(arguments: [
    ("DIRECTDNS_TIMEOUT", "soon"), ("DIRECTDNS_FAMILY", "ipv5"), ("DIRECTDNS_EXPIRED", "maybe"),
    ("DIRECTDNS_SYSTEM", "perhaps"), ("DIRECTDNS_PROVIDERS", "nobody"), ("DIRECTDNS_BOOTSTRAP", "dns.google"),
    ("DIRECTDNS_CONFIG", "/missing.json5"),
  ])
  func `a wrong variable is named with its value, and ends with 78`(variable: String, value: String) async {
    let outcome = await CommandFixture(environment: [variable: value]).resolve(["a.example"])
    #expect(outcome.status == 78)
    #expect(outcome.errors.contains(variable))
    #expect(outcome.errors.contains(value))
  }

  @Test func `an empty variable is none`() throws {
    let variables = ["PROVIDERS", "TIMEOUT", "FAMILY", "EXPIRED", "SYSTEM", "CONFIG", "BOOTSTRAP", "CA"]
    let environment = Dictionary(uniqueKeysWithValues: variables.map { ("DIRECTDNS_\($0)", "") })
    #expect(providers(try settings(environment: environment)) == ["alidns", "google", "cloudflare"])
  }

  @Test func `given bootstrap addresses take the place of a preset's own`() throws {
    let settings = try settings([
      "--bootstrap", "dns.google=192.0.2.1", "--bootstrap", "DNS.google=[2001:db8::1]",
    ])
    let google = try #require(settings.resolver.providers.first { $0.provider.name == "google" })
    #expect(google.bootstrap == [IPAddress("192.0.2.1"), IPAddress("2001:db8::1")])
    #expect(settings.resolver.providers[0].bootstrap.count == 4)
  }

  @Test func `a wrong provider of the file is named with the key path, and ends with 78`() async {
    var fixture = CommandFixture()
    fixture.files = ["/c.json5": #"{ providers: ["google", { provider: "nobody" }] }"#]
    let outcome = await fixture.resolve(["--config", "/c.json5", "a.example"])
    #expect(outcome.status == 78)
    #expect(outcome.errors.hasPrefix(#"dnsctl: /c.json5: providers[1].provider: "nobody" is not a provider."#))
  }

  @Test func `a bootstrap variable that suits no provider of this call is not in the way`() throws {
    let environment = ["DIRECTDNS_BOOTSTRAP": "dns.google=192.0.2.1,dns.quad9.net=192.0.2.9"]
    let settings = try settings(["--provider", "google"], environment: environment)
    #expect(settings.resolver.providers[0].bootstrap == [IPAddress("192.0.2.1")])
  }

  @Test func `an option may name a provider of the file, with all that the file says of it`() throws {
    let file = """
      { providers: ["google", { provider: "doh+https://dns.example/q", name: "home", bootstrap: ["192.0.2.7"] }] }
      """
    for name in ["home", "doh+https://dns.example/q"] {
      let settings = try settings(["--provider", name], file: file)
      #expect(providers(settings) == ["home"])
      #expect(settings.resolver.providers[0].bootstrap == [IPAddress("192.0.2.7")])
    }
  }

  @Test(arguments: [
    (["XDG_CONFIG_HOME": "/x", "HOME": "/h"], "/x/directdns/config.json5"),
    (["HOME": "/h"], "/h/.config/directdns/config.json5"),
    (["XDG_CONFIG_HOME": "relative", "HOME": "/h"], "/h/.config/directdns/config.json5"),
  ])
  func `a file in the default place is read if it is there`(environment: [String: String], path: String) async {
    var fixture = CommandFixture(environment: environment)
    fixture.files = [path: #"{ pins: { "a.example": ["192.0.2.44"] } }"#]
    #expect(await fixture.resolve(["--format", "short", "a.example"]).output == "192.0.2.44\n")
  }

  @Test func `an error says which variable leads to a file that nobody has named and that cannot be read`() async {
    let outcome = await CommandFixture(environment: ["HOME": "/unreadable"]).resolve(["a.example"])
    #expect(outcome.status == 78)
    #expect(outcome.errors.contains("Permission denied. HOME leads there: --config names another file."))
  }

  @Test func `names are not kept alive by a process that ends with its answer`() async {
    var fixture = CommandFixture(zone: ["a.example": .addresses(["192.0.2.1"])])
    fixture.files = ["/c.json5": #"{ keepAlive: ["kept.example"] }"#]
    _ = await fixture.resolve(["--config", "/c.json5", "--provider", "google", "a.example"])
    #expect(!fixture.transport.asked.withLock { $0 }.contains { $0.contains("kept.example") })
  }
}
