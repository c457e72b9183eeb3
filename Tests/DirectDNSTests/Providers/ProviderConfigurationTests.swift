// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing

@testable import DirectDNS

struct ProviderConfigurationTests {
  private func request(_ text: String, _ credentials: ProviderCredentials = .init()) throws -> HTTPMessage {
    try ProviderConfiguration(text, credentials: credentials).provider.request(for: .init("a.test"), at: 0)
  }

  private static let query = "AAABAAABAAAAAAAAAWEEdGVzdAAAAQAB"

  @Test(arguments: [
    ("doh+https://doh.test/q", "https://doh.test/q?dns=\(query)"),
    ("doh+https://doh.test/q{?dns}", "https://doh.test/q?dns=\(query)"),
    ("doh+https://doh.test/q?x=1{&dns}", "https://doh.test/q?x=1&dns=\(query)"),
    ("doh+https://doh.test/q?x=1", "https://doh.test/q?x=1&dns=\(query)"),
    ("doh-post+https://doh.test/q{?dns}", "https://doh.test/q"),
    ("json+https://json.test/r?cd=0", "https://json.test/r?cd=0&name=a.test&type=A"),
    ("dnspod+http://192.0.2.98/d", "http://192.0.2.98/d?dn=a.test&ttl=1"),
    ("dnspod+https://pod.test/d", "https://pod.test/d?dn=a.test&ttl=1"),
    ("emas+http://192.0.2.1/7/d", "http://192.0.2.1/7/d?host=a.test&query=4"),
    ("emas+https://192.0.2.1/v2/d?id=7", "https://192.0.2.1/v2/d?dn=a.test&id=7&m=0&q=4&v=1.0"),
    ("doh+http://127.0.0.1:8053/q", "http://127.0.0.1:8053/q?dns=\(query)"),
    ("json+http://[::1]:1/r", "http://[::1]:1/r?name=a.test&type=A"),
    ("json+http://localhost/r", "http://localhost/r?name=a.test&type=A"),
    ("json+http://127.9.9.9/r", "http://127.9.9.9/r?name=a.test&type=A"),
    ("json+http://0x7f.1/r", "http://127.0.0.1/r?name=a.test&type=A"),
  ])
  func `a format and a URL make a provider`(_ text: String, _ url: String) throws {
    #expect(try request(text).url == url)
    let configuration = try ProviderConfiguration(text)
    #expect(configuration.bootstrap.isEmpty && configuration.rateLimit == nil)
    #expect(configuration.provider.name == "\(configuration.provider.url.host)")
  }

  @Test(arguments: ["doh+https://doh.test/q", "google"])
  func `addresses that are given are those of the host, in place of a preset's own`(_ text: String) throws {
    let address = try IPAddress(parsing: "192.0.2.53")
    #expect(try ProviderConfiguration(text, bootstrap: [address]).bootstrap == [address])
    #expect(try ProviderConfiguration(text, bootstrap: []).bootstrap.isEmpty)
    #expect(try ProviderConfiguration(text).bootstrap.isEmpty == (text != "google"))
  }

  @Test func `doh-post sends a POST, doh a GET`() throws {
    #expect(try request("doh-post+https://doh.test/q").method == .post)
    #expect(try request("doh+https://doh.test/q").method == .get)
  }

  @Test func `credentials reach the format that wants them`() throws {
    let all = ProviderCredentials(account: "1", keyID: "2", secret: "00", token: "t")
    #expect(try request("json+https://json.test/r", all).url.contains("&uid=1&ak=2&"))
    #expect(try request("dnspod+https://pod.test/d", all).url.hasSuffix("&token=t"))
    #expect(try request("emas+https://192.0.2.1/v2/d", all).url.contains("&id=1&"))
    #expect(try request("emas+https://192.0.2.1/1/sign_d", all).url.contains("&s="))
  }

  @Test(arguments: [
    ("", "not a provider"), ("nobody", "\"nobody\""), ("AliDNS", "\"AliDNS\""),
    ("https://doh.test/q", "that is doh+https://"), ("http://127.0.0.1/dns-query/x", "that is doh+https://"),
    ("ftp://doh.test/dns-query", "FORMAT+https"), ("http://doh.test/dns-query", "plain http"),
    ("dot+https://doh.test/", "\"dot+https://doh.test/\""), ("+https://doh.test/", "not a provider"),
    ("google,cloudflare", "\"google,cloudflare\" has a comma. Give each provider by itself."),
    ("google,doh+https://doh.test/q", "has a comma"), ("dot+https://doh.test/a,b", "FORMAT+https"),
    ("doh+", "Provider doh+"),
    ("doh+doh.test", "Provider doh+"), ("doh+ftp://doh.test/", "\"ftp\""),
    ("doh+wss://doh.test/", "http or https only"),
    ("doh+https://", "Provider doh+"), ("doh+https://a b/", "Provider doh+"),
    ("doh+https://doh.test:99999/", "Provider doh+"),
    ("doh+http://doh.test/", "plain http"), ("doh-post+http://192.0.2.1/", "plain http"),
    ("json+http://json.test/r", "plain http"),
    ("json+http://localhost.evil.test/r", "plain http"), ("json+http://[::ffff:192.0.2.1]/r", "plain http"),
    ("json+https://user:pw@json.test/r", "user name or password"), ("doh+https://user@doh.test/q", "before the @"),
    ("doh+https://doh.test/q{?foo}", "{?dns}"), ("doh+https://doh.test/{?dns}q", "{?dns}"),
    ("https://doh.test/dns-query{?dns,ct}", "{?dns}"), ("doh+https://doh.test:0/q", "at port 0"),
    ("dnspod+https://pod.test/d?alg=aes", "encrypted"), ("emas+https://emas.test/x", "not a path"),
  ])
  func `what is no provider is refused, and the error names the part`(_ text: String, _ part: String) {
    let error = #expect(throws: DirectDNSError.self) { try ProviderConfiguration(text) }
    #expect(error?.code == .invalidConfiguration)
    #expect(error?.message.contains(part) == true, "\(error?.message ?? "")")
  }

  @Test(arguments: [
    "https://doh.test/dns-query", "https://doh.test/dns-query{?dns}", "https://doh.test:8443/a/dns-query?key=1",
    "HTTPS://doh.test/dns-query", "http://127.0.0.1:8053/dns-query",
  ])
  func `the path of every example in RFC 8484 says what is asked there`(_ text: String) throws {
    let question = AddressQuestion(Sample.name("a.example"), .ipv4)
    let urls = try [text, "doh+\(text)"].map {
      try ProviderConfiguration($0).provider.request(for: question, at: 0).url
    }
    #expect(urls[0] == urls[1] && urls[0].contains("dns="))
  }

  @Test(arguments: ["doh+http://192.0.2.1/q", "doh-post+http://doh.test/q", "json+http://json.test/r"])
  func `plain http goes anywhere only when told so`(_ text: String) throws {
    #expect(throws: DirectDNSError.self) { try ProviderConfiguration(text) }
    _ = try ProviderConfiguration(text, plainHTTP: .anywhere)
  }

  @Test func `a token is never sent over plain http, told so or not`() {
    #expect(throws: DirectDNSError.self) {
      try ProviderConfiguration(
        "dnspod+http://192.0.2.98/d", credentials: .init(token: "t"), plainHTTP: .anywhere)
    }
  }
}

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
    for (partial, missing) in [
      (ProviderCredentials(account: "1"), "keyID and secret"), (.init(keyID: "2"), "account and secret"),
      (.init(secret: "3"), "account and keyID"), (.init(account: "1", keyID: "2"), "secret"),
      (.init(account: "1", secret: "3"), "keyID"),
    ] as [(ProviderCredentials, String)] {
      let error = #expect(throws: DirectDNSError.self) {
        try ProviderConfiguration("alidns", credentials: partial)
      }
      #expect(
        error?.code == .invalidConfiguration && error?.message.hasSuffix(" Give \(missing) too.") == true)
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
