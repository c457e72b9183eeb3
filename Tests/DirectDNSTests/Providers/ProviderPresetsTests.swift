// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct ProviderPresetsTests {
  @Test(arguments: [
    ("alidns", "https://dns.alidns.com/resolve", 4), ("google", "https://dns.google/resolve", 4),
    ("cloudflare", "https://cloudflare-dns.com/dns-query", 4),
    ("quad9", "https://dns.quad9.net/dns-query", 4),
    ("dnspod", "https://doh.pub/dns-query", 2),
  ])
  func `a preset is a name for an endpoint and its addresses`(_ name: String, _ url: String, _ count: Int)
    throws
  {
    let configuration = try ProviderConfiguration(name)
    #expect(configuration.provider.name == name)
    #expect(try configuration.provider.url == WebURL(url))
    #expect(configuration.bootstrap.count == count)
    #expect(Preset.names.contains(name))
  }

  @Test func `AliDNS without credentials is limited to twenty a second, and nobody else`() throws {
    #expect(try ProviderConfiguration("alidns").rateLimit == RateLimit(perSecond: 20))
    let credentials = ProviderCredentials(account: "1", keyID: "2", secret: "3")
    #expect(try ProviderConfiguration("alidns", credentials: credentials).rateLimit == nil)
    for name in ["google", "cloudflare", "quad9", "dnspod"] {
      #expect(try ProviderConfiguration(name).rateLimit == nil)
    }
  }

  @Test func `AliDNS signs with all of its credentials or not at all`() throws {
    let credentials = ProviderCredentials(account: "1", keyID: "2", secret: "3")
    let provider = try ProviderConfiguration("alidns", credentials: credentials).provider
    #expect(provider.request(for: .init("a.test"), at: 9).url.contains("&uid=1&ak=2&ts=9&key="))
    for partial in [
      ProviderCredentials(account: "1"), .init(keyID: "2"), .init(secret: "3"),
      .init(account: "1", keyID: "2"),
      .init(account: "1", secret: "3"),
    ] {
      let error = #expect(throws: DirectDNSError.self) {
        try ProviderConfiguration("alidns", credentials: partial)
      }
      #expect(
        error?.code == .invalidConfiguration && error?.message.contains("one of them is missing") == true)
    }
  }

  @Test func `DNSPod with a token is its text API over https by address`() throws {
    let configuration = try ProviderConfiguration("dnspod", credentials: ProviderCredentials(token: "t"))
    #expect(configuration.provider is DNSPodProvider)
    #expect(
      try configuration.provider.url == WebURL("https://119.29.29.99/d") && configuration.bootstrap.isEmpty)
  }

  @Test func `a preset passes the client's network on`() throws {
    let subnet = try #require(IPNetwork("198.51.100.0/24"))
    for name in ["alidns", "google", "cloudflare", "quad9", "dnspod"] {
      let provider = try ProviderConfiguration(name, clientSubnet: subnet).provider
      let plain = try ProviderConfiguration(name).provider
      #expect(
        provider.request(for: .init("a.test"), at: 0).url != plain.request(for: .init("a.test"), at: 0).url)
    }
  }

  @Test func `the default providers are all there`() {
    #expect(
      ResolverConfiguration().providers.map(\.provider.name) == ResolverConfiguration.defaultProviderNames)
  }
}
