// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct SecretTests {
  private static let text = "hunter2-7f3a"

  /// Everything that a value can be printed as.
  private func prints(of value: some Any) -> String {
    var dumped = ""
    dump(value, to: &dumped)
    let mirrored = Mirror(reflecting: value).children.map { "\($0.label ?? ""): \($0.value)" }.joined()
    return [
      "\(value)", String(describing: value), String(reflecting: value), dumped, mirrored,
      "\(Optional(value) as Any)", "\([value])",
      "\(["key": value])",
    ].joined(separator: "\n")
  }

  @Test func `a secret shows nothing of itself, however it is printed`() {
    let printed = prints(of: Secret(Self.text))
    #expect(!printed.contains("hunter2") && printed.contains("<redacted>"))
    #expect(
      Secret(Self.text).description == "<redacted>" && Secret(Self.text).debugDescription == "<redacted>")
  }

  @Test func `credentials hide their secrets and show who asks`() {
    let credentials = ProviderCredentials(
      account: "100", keyID: "AKID", secret: Secret(Self.text), token: Secret(Self.text))
    let printed = prints(of: credentials)
    #expect(!printed.contains("hunter2") && printed.contains("AKID"))
  }

  @Test func `a provider hides its secrets`() throws {
    let secret = Secret(Self.text)
    let signature = JSONProvider.Signature(account: "100", keyID: "AKID", secret: secret)
    let json = JSONProvider(name: "a", url: try WebURL("https://a.test/"), signature: signature)
    let dnspod = try DNSPodProvider(name: "a", url: WebURL("https://a.test/d"), token: secret)
    let emas = try EMASProvider(
      name: "a", url: WebURL("https://a.test/1/sign_d"), credentials: ProviderCredentials(secret: secret))
    for printed in [prints(of: json), prints(of: dnspod), prints(of: emas), prints(of: signature)] {
      #expect(!printed.contains("hunter2"))
    }
  }

  @Test func `a request hides its URL, which may hold a token`() throws {
    let dnspod = try DNSPodProvider(name: "a", url: WebURL("https://a.test/d"), token: Secret(Self.text))
    let message = dnspod.request(for: .init("www.shop.test"), at: 0)
    #expect(message.url.contains(Self.text), "the wire needs it")
    let printed = prints(of: message)
    #expect(!printed.contains("hunter2") && !printed.contains("a.test") && printed.contains("GET"))
  }

  @Test(arguments: [
    "json+htp://u:hunter2@a.test/?key=hunter2", "json+https://a b.test/?key=hunter2",
    "json+https://u:hunter2@/",
    "https://a.test/d?key=hunter2", "x+https://a.test/d?key=hunter2",
    "dnspod+https://a.test/d?id=1&key=hunter2",
    "emas+https://a.test/?key=hunter2", "doh+http://a.test/?key=hunter2",
    "emas+https://a.test/v2/d?m=1&key=hunter2",
    "doh+ws://a.test/?key=hunter2", "https://u:hunter2@a.test/", "json+https://u:hunter2@a.test/",
    "doh+https://a.test:99999/?key=hunter2",
  ])
  func `an error about a provider's URL shows no part of its query or user info`(_ text: String) {
    let error = #expect(throws: DirectDNSError.self) { try ProviderConfiguration(text) }
    #expect(
      error.map { "\($0) \($0.underlying.map { "\($0)" } ?? "")" }?.contains("hunter2") == false,
      "\(error?.message ?? "")")
  }

  @Test func `secrets are equal when their texts are`() {
    #expect(Secret("a") == "a" && Secret("a") != "b")
    #expect(ProviderCredentials().isEmpty && !ProviderCredentials(token: "x").isEmpty)
  }
}
