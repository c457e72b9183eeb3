// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct ProxyRuleTests {
  private func proxy(_ url: String, _ environment: [String: String], _ choice: ProxyChoice = .environment) throws
    -> String?
  {
    try ProxyRule(choice, environment: environment).proxy(for: WebURL(url))?.href
  }

  @Test func `without a choice the environment is ignored`() throws {
    #expect(try proxy("http://a.test/", ["http_proxy": "http://p.test:1"], .none) == nil)
  }

  @Test(
    arguments: [
      ("http://a.test/", ["http_proxy": "http://p.test:1"], "http://p.test:1/"),
      ("http://a.test/", ["http_proxy": "p.test:1"], "http://p.test:1/"),
      ("https://a.test/", ["http_proxy": "p.test:1"], nil),
      ("https://a.test/", ["HTTPS_PROXY": "p.test:1"], "http://p.test:1/"),
      ("https://a.test/", ["https_proxy": "low:1", "HTTPS_PROXY": "up:1"], "http://low:1/"),
      ("http://a.test/", ["HTTP_PROXY": "evil:1"], nil),
      ("http://a.test/", ["all_proxy": "p:1"], "http://p:1/"),
      ("https://a.test/", ["ALL_PROXY": "p:1", "https_proxy": ""], "http://p:1/"),
    ] as [(String, [String: String], String?)])
  func `the environment is read as curl reads it`(_ url: String, _ environment: [String: String], _ expected: String?)
    throws
  {
    #expect(try proxy(url, environment) == expected)
  }

  @Test(arguments: [
    ("http://a.test/", "a.test", true), ("http://b.a.test/", "a.test", true), ("http://b.a.test/", ".a.test", true),
    ("http://ba.test/", "a.test", false), ("http://a.test./", "a.test", true),
    ("http://a.test/", "b.test, A.TEST", true), ("http://a.test/", "b.test\ta.test.", true),
    ("http://b.a.test./", ".a.test.", true), ("http://a.test/", ".", false),
    ("http://a.test/", "*", true), ("http://192.0.2.9/", "192.0.2.0/24", true),
    ("http://192.0.3.9/", "192.0.2.0/24", false),
    ("http://[2001:db8::1]/", "2001:db8::1", true), ("http://192.0.2.9/", "192.0.2.9", true),
    ("http://a.test/", "", false),
  ])
  func `hosts of no_proxy are asked directly`(_ url: String, _ list: String, _ isDirect: Bool) throws {
    #expect(try (proxy(url, ["http_proxy": "p:1", "no_proxy": list]) == nil) == isDirect)
    #expect(try (proxy(url, [:], .url(WebURL("http://p:1"), except: list)) == nil) == isDirect)
  }

  @Test(arguments: ["socks5://p.test:1", "ftp://p.test", "http://", "ws://p.test"])
  func `a proxy that cannot be used is refused by its variable's name`(_ text: String) {
    let error = #expect(throws: DirectDNSError.self) { try proxy("http://a.test/", ["http_proxy": text]) }
    #expect(error?.code == .invalidConfiguration && error?.message.contains("http_proxy") == true)
  }
}
