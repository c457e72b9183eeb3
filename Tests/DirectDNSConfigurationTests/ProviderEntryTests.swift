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
}
