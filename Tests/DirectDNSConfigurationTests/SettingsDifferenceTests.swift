// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DirectDNSConfiguration

/// What a log says about a change.
@Suite struct `A difference of configurations` {
  private static func settings(_ text: String) throws -> DirectSettings {
    try DirectSettings(ConfigurationFile(Array(text.utf8), name: "c.json5"))
  }

  private func changes(_ old: String, _ new: String) throws -> [String] {
    SettingsDifference(from: try Self.settings(old), to: try Self.settings(new)).changes
  }

  /// Another value of each key than its default's.
  private static let others: [ConfigurationFile.Key: (text: String, change: String)] = [
    .providers: ("['quad9', 'alidns']", "providers: +quad9 -google -cloudflare"),
    .system: ("false", "system: on → off"),
    .cache: ("{ grace: 5 }", "cache.grace: 30.0 seconds → 5.0 seconds"),
    .capacity: ("50", "capacity: 10000 → 50 (from the next start on)"),
    .keepAlive: ("['a.example']", "keepAlive: +a.example"),
    .pins: ("{ 'www.example.com': ['192.0.2.1', '2001:db8::1'] }", "pins: +www.example.com 192.0.2.1 2001:db8::1"),
    .localZones: ("['corp.example']", "localZones: +corp.example"),
    .timeout: ("2.5", "timeout: 5.0 seconds → 2.5 seconds"),
    .hedging: ("false", "hedging: true → false"),
    .connectionsPerServer: ("4", "connectionsPerServer: 32 → 4"),
    .families: ("'ipv4'", "families: any → ipv4"),
    .expired: ("'refused'", "expired: allowed → refused"),
    .ca: ("['/ca.pem']", "ca: +/ca.pem"),
    .addressPolicy: ("'any'", "addressPolicy.base: publicOnly → any"),
    .store: ("'/var/a.sqlite'", "store: memory → /var/a.sqlite (from the next start on)"),
    .proxy: ("{ routes: { 'a.example': 'system', '*': 'refuse' } }", "proxy.routes: +a.example=system +*=refuse"),
    .direct: ("{ off: ['bank.example', 'pay.example'] }", "direct: on → off for bank.example, pay.example"),
  ]

  @Test func `another proxy is named without its password, of which it is said that it changed`() throws {
    let old = "{ proxy: { upstream: 'http://ann:old@proxy.example' } }"
    #expect(
      try changes("{}", old) == ["proxy.upstream: none → http://proxy.example:3128"])
    #expect(
      try changes(old, "{ proxy: { upstream: 'http://ann:new@proxy.example' } }")
        == ["proxy.upstream: http://proxy.example:3128 → http://proxy.example:3128, credentials or options changed"])
  }

  @Test(arguments: ConfigurationFile.Key.allCases)
  func `names each key that changed, and what it was and is`(key: ConfigurationFile.Key) throws {
    let other = try #require(Self.others[key])
    #expect(try changes("{}", "{ \(key.rawValue): \(other.text) }") == [other.change])
    #expect(try changes("{ \(key.rawValue): \(other.text) }", "{ \(key.rawValue): \(other.text) }") == [])
  }

  @Test func `names what a program made of the file's providers, and shows no secret of it`() throws {
    func changes(_ old: [ProviderConfiguration], _ new: [ProviderConfiguration]) throws -> [String] {
      var (before, after) = (try Self.settings("{}"), try Self.settings("{}"))
      before.resolver.providers = old
      after.resolver.providers = new
      return SettingsDifference(from: before, to: after).changes
    }
    func provider(_ text: String, token: Secret? = nil) throws -> ProviderConfiguration {
      try ProviderConfiguration(text, credentials: ProviderCredentials(token: token))
    }
    let (one, two) = (try provider("doh+https://one.example/q"), try provider("doh+https://two.example/q"))
    #expect(try changes([one], [one]) == [])
    #expect(try changes([one], [two, one]) == ["providers: +two.example"])
    #expect(try changes([one], [provider("doh+https://one.example/p")]) == ["providers.one.example: URL changed"])
    #expect(
      try changes([provider("dnspod", token: "1,old")], [provider("dnspod", token: "1,hush")])
        == ["providers.dnspod: request changed"])
    var slow = one
    slow.rateLimit = RateLimit(perSecond: 5)
    slow.bootstrap = [.ipv4(0xc000_0201)]
    #expect(
      try changes([one], [slow]) == [
        "providers.one.example.bootstrap:  → 192.0.2.1",
        "providers.one.example.rateLimit: its own → 5.0/s, 5.0 at once",
      ])
  }

  @Test func `says of no change that there is none`() throws {
    let same = SettingsDifference(from: try Self.settings("{}"), to: try Self.settings("{ timeout: 5 }"))
    #expect(same.isEmpty && same.description == "no change")
  }

  @Test(arguments: [
    (
      "{ pins: { 'a.example': ['192.0.2.1'], 'b.example': ['192.0.2.2'] } }",
      "{ pins: { 'a.example': ['192.0.2.9'] } }",
      ["pins: a.example 192.0.2.1 → 192.0.2.9, -b.example"]
    ),
    ("{ providers: ['google', 'quad9'] }", "{ providers: ['quad9', 'google'] }", ["providers: quad9, google"]),
    (
      "{ providers: ['google'] }", "{ providers: [{ provider: 'google', rateLimit: { perSecond: 5 } }] }",
      ["providers.google.rateLimit: its own → 5.0/s, 5.0 at once"]
    ),
    (
      "{ providers: ['google'] }", "{ providers: [{ provider: 'google', bootstrap: ['192.0.2.1'] }] }",
      ["providers.google.bootstrap: its own → 192.0.2.1"]
    ),
    (
      "{ providers: ['doh+https://192.0.2.1/one', 'doh+https://192.0.2.1/two'] }",
      "{ providers: ['doh+https://192.0.2.1/one', 'doh+https://192.0.2.1/two'] }", []
    ),
    (
      "{ providers: ['doh+https://192.0.2.1/one', 'doh+https://192.0.2.1/two'] }",
      "{ providers: ['doh+https://192.0.2.1/one', 'doh+https://192.0.2.1/one'] }", ["providers.192.0.2.1: URL changed"]
    ),
    ("{ providers: ['google', 'google'] }", "{ providers: ['google'] }", ["providers: -google"]),
    ("{ providers: ['google'] }", "{ providers: ['google', 'google'] }", ["providers: +google"]),
    ("{ system: { servers: ['192.0.2.1'] } }", "{}", ["system.servers: 192.0.2.1 → resolv.conf"]),
    (
      "{ addressPolicy: { allow: ['10.0.0.0/8'] } }",
      "{ addressPolicy: { base: ['192.0.2.0/24'], allow: ['corp.example'], deny: ['192.0.2.1'] } }",
      [
        "addressPolicy.base: publicOnly → 192.0.2.0/24", "addressPolicy.allow: +corp.example -10.0.0.0/8",
        "addressPolicy.deny: +192.0.2.1/32",
      ]
    ),
    ("{ cache: { negativeTTLWithoutSOA: 5 } }", "{}", ["cache.negativeTTLWithoutSOA: 5.0 seconds → none"]),
    (
      "{ direct: 'off' }", "{ direct: { off: ['a.example'] }, hedging: false }",
      [
        "direct: off → off for a.example", "hedging: true → false",
      ]
    ),
  ])
  func `tells parts apart`(old: String, new: String, expected: [String]) throws {
    #expect(try changes(old, new) == expected)
  }

  @Test func `holds no secret, and says that one changed`() throws {
    func text(_ secret: String) -> String {
      """
      { providers: [
        { provider: "alidns", credentials: { account: "1001", keyID: "k", secret: "\(secret)" } },
        "json+https://192.0.2.1/resolve?key=\(secret)", "doh+https://192.0.2.2/\(secret)/q",
      ] }
      """
    }
    let changes = try changes(text("deadbeef00"), text("deadbeef11"))
    #expect(
      changes == [
        "providers.alidns: credentials changed", "providers.192.0.2.1: URL changed", "providers.192.0.2.2: URL changed",
      ])
    #expect(try !self.changes("{}", text("deadbeef22")).joined().contains("deadbeef"))
  }

  @Test func `counts what is too much for a line`() throws {
    let names = (10..<99).map { "'n\($0).example'" }.joined(separator: ", ")
    let change = try #require(try changes("{}", "{ keepAlive: [\(names)] }").first)
    #expect(change.hasPrefix("keepAlive: +n10.example +n11.example") && change.hasSuffix("+n29.example and 69 more"))
  }
}
