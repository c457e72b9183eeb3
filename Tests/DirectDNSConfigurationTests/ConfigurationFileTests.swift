// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import Testing

@testable import DirectDNS
@testable import DirectDNSConfiguration

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite struct `The configuration file` {
  private func file(_ text: String) throws -> ConfigurationFile {
    try ConfigurationFile(Array(text.utf8), name: "c.json5")
  }

  @Test(arguments: [
    (#"{ addressPolicy: "some" }"#, #"addressPolicy is "some". Give "publicOnly", "any", or an object with base"#),
    (#"{ addressPolicy: ["10.0.0.0/8"] }"#, #"addressPolicy is a list. Give "publicOnly", "any", or an object"#),
    (#"{ addressPolicy: { base: "some" } }"#, #"is "some". Give "publicOnly", "any", or a list of networks."#),
    (#"{ addressPolicy: { base: ["10.1.2.3/8"] } }"#, #"addressPolicy.base[0] is "10.1.2.3/8""#),
    (#"{ addressPolicy: { base: ["a.example"] } }"#, #"is "a.example". Give a network such as 10.0.0.0/8."#),
    (#"{ addressPolicy: { deny: ["::1", "10.1.2.3/8"] } }"#, #"has bits beyond its prefix. Write 10.0.0.0/8"#),
    (#"{ addressPolicy: { deny: ["evil.example.."] } }"#, "has an empty label: leave out a dot"),
    (#"{ addressPolicy: { nat64: ["2001:db8::/33"] } }"#, #"addressPolicy.nat64[0] is "2001:db8::/33""#),
    (
      #"{ direct: ["bank.example"] }"#,
      #"direct is a list. Give "on", "off", or { off: […] } with the names for which it is off."#
    ),
    (#"{ proxy: { upstream: "https://ann:geheim@a" } }"#, "proxy.upstream: the proxy speaks no TLS"),
    (#"{ proxy: { upstream: 3 } }"#, "proxy.upstream has a value that cannot be used (it is not shown)"),
    (#"{ proxy: { upstreamResolves: true } }"#, "proxy.upstreamResolves is there without upstream"),
    (#"{ proxy: { routes: { "a b": "direct" } } }"#, "the key is not NAME, =NAME or *"),
    (#"{ proxy: { routes: { a: "somehow" } } }"#, #"Give one of "direct", "system", "upstream", "refuse"."#),
    (#"{ proxy: { routes: { "a.example": "direct", "A.example.": "refuse" } } }"#, "is there twice"),
    (#"{ direct: "of" }"#, #"direct is "of". Give "on", "off""#), (#"{ direct: 0 }"#, "direct is 0. Give"),
    (#"{ direct: {} }"#, "direct.off is missing. Give"), (#"{ direct: { on: ["a"] } }"#, "direct.on is not a key"),
    (#"{ direct: { off: "bank.example" } }"#, #"direct.off is "bank.example". Give a list of names."#),
    (#"{ direct: { off: ["a b"] } }"#, #"direct.off[0] is "a b". Give a host name"#),
    (#"{ direct: { off: ["*.a"] } }"#, #"direct.off[0] is "*.a". Give a host name: a name stands for itself"#),
    (#"{ proxy: { routes: { "*.a": "direct" } } }"#, #"and for all names below it: write "a"."#),
    (#"{ timeuot: 5 }"#, "timeuot is not a key that is known here. Known are: providers, system,"),
    (#"{ cache: { grce: 1 } }"#, "cache.grce is not a key that is known here. Known are: minimumTTL,"),
    (#"{ providers: [{ provider: "google", url: "x" }] }"#, "providers[0].url is not a key"),
    (
      #"{ providers: ["google", { provider: "alidns", rateLimit: { perMinute: 1 } }] }"#,
      "providers[1].rateLimit.perMinute"
    ),
    (#"{ timeout: "5" }"#, #"timeout is "5". Give a number of seconds, more than 0"#),
    (#"{ timeout: 0 }"#, "timeout is 0. Give"), (#"{ timeout: -1.5 }"#, "timeout is -1.5. Give"),
    (#"{ timeout: Infinity }"#, "timeout is inf"), (#"{ cache: { grace: -1 } }"#, "cache.grace is -1. Give"),
    (#"{ cache: { clientResponseTimeout: true } }"#, "cache.clientResponseTimeout is true"),
    (#"{ cache: [] }"#, "cache is a list"),
    (
      #"{ cache: { minimumTTL: 100, maximumTTL: 50 } }"#,
      "cache.minimumTTL is 100. minimumTTL may not be greater"
    ),
    (#"{ cache: { maximumNegativeTTL: 0.5 } }"#, "cache.maximumNegativeTTL is 0.5."),
    (
      "{ cache: { minimumFailureTTL: 31 } }",
      "cache.minimumFailureTTL is 31. minimumFailureTTL may not be greater than maximumFailureTTL."
    ),
    ("{ cache: { maximumFailureTTL: 0.5 } }", "cache.maximumFailureTTL is 0.5. minimumFailureTTL may not be greater"),
    (
      "{ cache: { maximumFailureTTL: 300.5 } }", "cache.maximumFailureTTL is 300.5. Give at most 300: RFC 9520 allows"
    ),
    (#"{ capacity: 1.5 }"#, "capacity is 1.5. Give a whole number"), (#"{ capacity: 0 }"#, "capacity is 0"),
    (#"{ hedging: "yes" }"#, #"hedging is "yes". Give true or false."#),
    (#"{ connectionsPerServer: 0 }"#, "connectionsPerServer is 0. Give a whole number of connections, from 1 to 1000."),
    (#"{ connectionsPerServer: 2.5 }"#, "connectionsPerServer is 2.5."),
    (#"{ families: "ipv5" }"#, #"families is "ipv5". Give one of "any", "ipv4", "ipv6"."#),
    (#"{ expired: 1 }"#, #"expired is 1. Give one of "allowed", "refused", "preferred"."#),
    (#"{ keepAlive: ["a b"] }"#, #"keepAlive[0] is "a b". Give a host name"#),
    (#"{ localZones: "corp" }"#, #"localZones is "corp". Give a list"#),
    (
      #"{ pins: { "a.example": "192.0.2.1" } }"#,
      #"pins.a.example is "192.0.2.1". Give a list of IP addresses."#
    ),
    (
      #"{ pins: { "a.example": ["192.0.2.1", "192.0.2"] } }"#,
      #"pins.a.example[1] is "192.0.2". Give an IP address"#
    ),
    (#"{ pins: { "a.example": [] } }"#, "pins.a.example is a list. Give at least one"),
    (#"{ pins: { "a b": ["192.0.2.1"] } }"#, "pins.a b: the key is not a host name"),
    (#"{ system: "off" }"#, #"system is "off". Give true, false, or an object"#),
    (#"{ system: { servers: ["dns.example"] } }"#, #"system.servers[0] is "dns.example""#),
    (#"{ system: { servers: ["192.0.2.1:0"] } }"#, #"system.servers[0] is "192.0.2.1:0""#),
    (#"{ system: { servers: ["192.0.2.1:+53"] } }"#, #"system.servers[0] is "192.0.2.1:+53""#),
    (#"{ system: { servers: ["[2001:db8::1]:-0"] } }"#, #"system.servers[0] is "[2001:db8::1]:-0""#),
    (#"{ providers: "google" }"#, #"providers is "google". Give a list of providers."#),
    (#"{ providers: [7] }"#, "providers[0] is 7. Give a preset's name"),
    (#"{ providers: [{ name: "x" }] }"#, "providers[0].provider is missing"),
    (#"{ providers: [{ provider: "google", bootstrap: ["x"] }] }"#, #"providers[0].bootstrap[0] is "x""#),
    (
      #"{ providers: [{ provider: "google", clientSubnet: "10.0.0.0" }] }"#,
      #"providers[0].clientSubnet is "10.0.0.0""#
    ),
    (
      #"{ providers: [{ provider: "google", plainHTTP: "yes" }] }"#,
      #"providers[0].plainHTTP is "yes". Give one of "#
    ),
    (
      #"{ providers: [{ provider: "google", rateLimit: { perSecond: 0 } }] }"#,
      "providers[0].rateLimit.perSecond is 0"
    ),
    (
      #"{ providers: [{ provider: "google", rateLimit: { perSecond: 1e10 } }] }"#,
      "perSecond is 10000000000. Give a number of requests a second, more than 0 and at most 1000000000."
    ),
    (
      #"{ providers: [{ provider: "google", rateLimit: { perSecond: 1, burst: 1e10 } }] }"#,
      "burst is 10000000000. Give a number of requests, at least 1 and at most 1000000000."
    ),
    (
      #"{ providers: [{ provider: "google", rateLimit: {} }] }"#,
      "providers[0].rateLimit.perSecond is missing"
    ),
    (#"{ ca: ["a.pem", ""] }"#, #"ca[1] is "". Give a file's path."#), ("[]", "the whole file is a list"),
    ("", "line 1, column 1: this is not JSON"),
    ("{\n  timeout: 5\n  capacity: 7\n}", "line 3, column 3: this is not JSON"),
    ("{ timeout: 5, // five\n  hedging: yes }", "line 2, column 12: this is not JSON"),
    ("{ ca: [\"a.pem }", "line 1, column 8: this is not JSON"),
    ("{} {}", "line 1, column 4: this is not JSON"),
    (
      "{ timeout: 5,\n  'timeout': 6 }",
      "line 2, column 3: the key timeout is there for the second time, first in line 1."
    ),
    (#"{ pins: {}, "p\u0069ns": {} }"#, "line 1, column 13: the key pins is there for the second time. Keep one"),
    ("{ cache: { grace: 1, // one\n grace: 2 } }", "line 2, column 2: the key grace is there for the second time"),
    (#"{ pins: { "B.example": ["192.0.2.1"], "b.example.": ["192.0.2.2"] } }"#, "b.example is there twice"),
    ("{ timeout: 86401 }", "timeout is 86401. Give a number of seconds, more than 0 and at most 86400."),
    ("{ timeout: 0 }", "timeout is 0. Give a number of seconds, more than 0 and at most 86400."),
  ])
  func `is wrong with the file, the key, the value and what to do`(text: String, message: String) throws {
    let error = try #require(throws: DirectDNSError.self) { try file(text) }
    #expect(error.code == .invalidConfiguration)
    #expect(error.message.hasPrefix("c.json5: "))
    #expect(error.message.contains(message))
  }

  @Test func `may have one key in two objects`() throws {
    let text =
      #"{ cache: { grace: 1 }, pins: { "grace": ["192.0.2.1"] }, providers: [{ provider: "google" }, { provider: "quad9" }] }"#
    #expect(try file(text).providers?.count == 2)
  }

  @Test func `that names a wrong provider is named with the key path`() throws {
    let file = try file(#"{ providers: ["google", { provider: "nobody" }] }"#)
    let error = try #require(throws: DirectDNSError.self) { try DirectSettings(file) }
    #expect(error.code == .invalidConfiguration)
    #expect(error.message.hasPrefix(#"c.json5: providers[1].provider: "nobody" is not a provider."#))
  }

  @Test(
    arguments: [
      ("doh.example", [8443]), ("corp", [8443]), ("cloudflare,doh.example", [443, 8443]), ("two.example", nil),
      ("two.example:444", [444]), ("two.example:443", [443]), ("other.example", nil), ("named.example", nil),
    ] as [(String, [UInt16]?)])
  func `has providers that go by the names that answers show`(_ names: String, _ ports: [UInt16]?) throws {
    let file = try file(
      """
      { providers: [{ provider: "doh+https://doh.example:8443/q", rateLimit: { perSecond: 3 } },
        { provider: "doh+https://named.example:8443/q", name: "corp" }, "cloudflare",
        "doh+https://two.example/q", "json+https://two.example:444/q", "emas+https://unusable.example/x"] }
      """)
    let settings = try? DirectSettings(file, environment: ["DIRECTDNS_PROVIDERS": names])
    #expect(settings?.resolver.providers.map(\.provider.url.effectivePort) == ports)
    if names == "doh.example" { #expect(settings?.resolver.providers.first?.rateLimit?.perSecond == 3) }
  }

  @Test(arguments: [("c.json5", "a.pem"), ("/etc/d/c.json5", "/etc/d/a.pem"), ("d/c.json5", "d/a.pem")])
  func `has paths that go from its own folder`(name: String, path: String) throws {
    let file = try ConfigurationFile(Array("{ ca: ['a.pem', '/b.pem'] }".utf8), name: name)
    #expect(file.authorities == [path, "/b.pem"])
    let origins = [path: "\(name): ca[0]", "/b.pem": "\(name): ca[1]"]
    #expect(try DirectSettings(file).resolver.trust.origins == origins)
    let variable = "/b.pem:/c.pem"
    #expect(
      try DirectSettings(file, environment: ["DIRECTDNS_CA": variable]).resolver.trust.origins
        == ["/b.pem": "DIRECTDNS_CA", "/c.pem": "DIRECTDNS_CA"])
  }

  @Test func `keys have their former names as well, and only one of both`() throws {
    let cache = try file(
      "{ cache: { patience: 0.05, minimumFailureMemory: 2, maximumFailureMemory: 3, staleRecheck: 4 } }"
    ).cache
    #expect(cache.clientResponseTimeout == .milliseconds(50))
    #expect(cache.minimumFailureTTL == .seconds(2) && cache.maximumFailureTTL == .seconds(3))
    #expect(cache.failureRecheck == .seconds(4))
    let error = #expect(throws: DirectDNSError.self) {
      try file("{ cache: { patience: 1, clientResponseTimeout: 1 } }")
    }
    #expect(
      error?.message.contains(
        "cache.patience is what clientResponseTimeout was called before, and both are there. Keep clientResponseTimeout."
      )
        == true)
  }

  @Test func `knows every setting`() throws {
    let file = try file(
      """
      {
        providers: [{
          provider: "json+http://192.0.2.1/resolve", name: "lab", rateLimit: { perSecond: 2.5, burst: 7 },
          clientSubnet: "198.51.100.0/24", plainHTTP: "anywhere",
        }],
        system: { enabled: false, servers: ["192.0.2.2", "192.0.2.3:5353", "2001:db8::1", "[2001:db8::2]:53"] },
        cache: { grace: 0, clientResponseTimeout: 0.05, negativeTTLWithoutSOA: 5, refreshesAhead: false },
        capacity: 50, keepAlive: ["a.example"], localZones: [".corp.example"], hedging: false,
        connectionsPerServer: 8,
        pins: { "B.example.": ["192.0.2.4", "2001:db8::4"] },
      }
      """)
    #expect(file.systemServers == ["192.0.2.2", "192.0.2.3:5353", "[2001:db8::1]:53", "[2001:db8::2]:53"])
    #expect(file.usesSystemDNS == false)
    #expect(file.cache.grace == .zero)
    #expect(file.cache.clientResponseTimeout == .milliseconds(50))
    #expect(file.cache.negativeTTLWithoutSOA == .seconds(5))
    #expect(file.cache.refreshesAhead == false)
    #expect(file.cache.maximumTTL == .seconds(3600))
    #expect(file.capacity == 50)
    #expect(file.keepAlive == [try HostName("a.example")])
    #expect(file.localZones.suffixes == [try HostName("corp.example")])
    #expect(
      file.localZones.pins == [
        try HostName("b.example"): ["192.0.2.4", "2001:db8::4"].compactMap(IPAddress.init)
      ])
    #expect(file.hedges == false)
    #expect(file.connectionsPerServer == 8)
    let entry = try #require(file.providers?.first)
    let provider = try entry.configuration()
    #expect(provider.provider.name == "lab")
    // Its name takes nothing of what it can do.
    #expect(provider.provider is any RecordProvider)
    #expect(provider.rateLimit == RateLimit(perSecond: 2.5, burst: 7))
    let message = provider.provider.request(
      for: AddressQuestion(try HostName("a.example"), .ipv4), at: 0)
    #expect(message.url.contains("edns_client_subnet=198.51.100.0"))
  }

  /// Otherwise the system's DNS would be off for the sake of one of its servers.
  @Test(arguments: ["::1", "[::1]:53", "127.0.0.2", "127.0.0.2:53"])
  func `whatever a server of the system's DNS is written like, c-ares takes the list`(_ other: String) async throws {
    let server = try await FakeNameServer.start(records: RecordTable { $0.add("www.shop.test", "192.0.2.1", ttl: 60) })
    let file = try file(#"{ system: { servers: ["\#(server.serverAddress)", "\#(other)"] } }"#)
    let answer = try await SystemDNS(servers: file.systemServers.joined(separator: ",")).answer(
      to: HostName("www.shop.test"), family: .ipv4, timeout: .seconds(20))
    #expect(answer.addresses.map(\.description) == ["192.0.2.1"])
    await server.stop()
  }

  @Test func `a system that is true or false needs no object`() throws {
    #expect(try file("{ system: false }").usesSystemDNS == false)
    #expect(try file("{ system: true }").usesSystemDNS == true)
    #expect(try file("{ system: null, timeout: null }").usesSystemDNS == nil)
  }

  @Test(arguments: [
    ("'on'", DirectSwitch.on), ("'off'", .off), ("true", .on), ("false", .off), ("null", .on), ("{ off: [] }", .on),
  ])
  func `direct is a word`(text: String, direct: DirectSwitch) throws {
    #expect(try file("{ direct: \(text) }").direct == direct)
    #expect(try DirectSettings(file("{ direct: \(text) }")).direct == direct)
  }

  @Test func `a proxy's routes are another proxy, and rules for names`() throws {
    let proxy = try file(
      "{ proxy: { upstream: 'http://a', upstreamResolves: true, routes: { '=b.example': 'direct', '*': 'system' } } }"
    ).proxy
    #expect(proxy.upstream?.description == "http://a:3128" && proxy.upstream?.resolvesNames == true)
    #expect(proxy.routes.rules.map(\.description) == ["=b.example=direct", "*=system"])
  }

  @Test func `or the names for which it is off, in any spelling`() throws {
    let direct = try file("{ direct: { off: ['Bank.example', '.pay.example.', 'bücher.example'] } }").direct
    #expect(direct == .offUnder(try ["bank.example", "pay.example", "xn--bcher-kva.example"].map { try HostName($0) }))
  }

  @Test func `an address policy is a word, or a base with lists`() throws {
    #expect(try file("{ addressPolicy: 'any' }").addressPolicy == .any)
    let policy = try file(
      """
      { addressPolicy: {
        base: ['192.0.2.0/24'], allow: ['10.0.0.0/8', '127.0.0.1', 'corp.example'], deny: ['.evil.example.', '::1'],
        nat64: ['2001:db8:64::/96'] } }
      """
    ).addressPolicy
    #expect(policy.base == .networks([try #require(IPNetwork("192.0.2.0/24"))]))
    #expect(policy.allowedNetworks.map(\.description) == ["10.0.0.0/8", "127.0.0.1/32"])
    #expect(policy.allowedSuffixes.map(\.text) == ["corp.example"])
    #expect(policy.deniedNetworks.map(\.description) == ["::1/128"])
    #expect(policy.deniedSuffixes.map(\.text) == ["evil.example"])
    #expect(policy.nat64Prefixes.map(\.description) == ["2001:db8:64::/96"])
  }
}
