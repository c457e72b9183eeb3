// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import Testing

@testable import DirectDNSConfiguration

struct ProviderEntryTests {
  @Test(arguments: [
    #""doh+https://dns.example/s3cret""#, #""json+https://dns.example/resolve?key=s3cret""#,
    #"{ provider: "doh+https://dns.example/s3cret", name: "corp" }"#,
  ])
  func `a file and settings that are printed show nothing of a provider's key`(_ provider: String) throws {
    let file = try ConfigurationFile(Array("{ providers: [\(provider)] }".utf8), name: "c.json5")
    let settings = try DirectSettings(file)
    #expect(settings.resolver.providers.first?.provider.url.href.contains("s3cret") == true)
    for value in [file, settings] as [Any] {
      var dumped = ""
      dump(value, to: &dumped)
      #expect(!"\(value) \(dumped)".contains("s3cret"))
    }
  }

  @Test(arguments: [
    (#"provider: "dnspod", credentials: { secret: "s3cret" }"#, "dnspod: it takes no secret. Give token"),
    (#"provider: "google", credentials: { account: "1" }"#, "google: it takes no account. Leave"),
    (
      #"provider: "doh+https://dns.example/dns-query", name: "corp", credentials: { token: "s3cret" }"#,
      "dns.example: it takes no token. Leave"
    ),
    (
      #"provider: "emas+https://192.0.2.1/1001/d", credentials: { keyID: "1" }"#,
      "192.0.2.1: it takes no keyID. Give account, secret alone"
    ),
  ])
  func `credentials that a provider has no use for are refused, and not shown`(
    _ entry: String, _ message: String
  ) throws {
    let file = try ConfigurationFile(Array("{ providers: [{ \(entry) }] }".utf8), name: "c.json5")
    let error = #expect(throws: DirectDNSError.self) { try DirectSettings(file) }
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    #expect(error?.message.hasPrefix("c.json5: providers[0].provider: ") == true)
    #expect(error?.message.contains("s3cret") == false)
  }

  @Test(arguments: [
    #"provider: "alidns", credentials: { account: "1", keyID: "2", secret: "3" }"#,
    #"provider: "json+https://dns.example/resolve", credentials: { account: "1", keyID: "2", secret: "3" }"#,
    #"provider: "dnspod", credentials: { token: "1", secret: null }"#,
    #"provider: "emas+https://192.0.2.1/v2/d", credentials: { account: "1", secret: "00" }"#,
    #"provider: "emas+https://192.0.2.1/1001/d", credentials: { account: "1001", secret: "00" }"#,
    #"provider: "google", credentials: {}"#,
  ])
  func `credentials that a provider has a use for are taken`(_ entry: String) throws {
    let file = try ConfigurationFile(Array("{ providers: [{ \(entry) }] }".utf8), name: "c.json5")
    #expect(try DirectSettings(file).resolver.providers.count == 1)
  }
}
