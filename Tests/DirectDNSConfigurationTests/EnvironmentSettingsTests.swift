// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import Testing

@testable import DirectDNSConfiguration

struct EnvironmentSettingsTests {
  private static let file = "{ providers: ['cloudflare'], ca: ['/file.pem'] }"

  private func settings(_ environment: [String: String]) throws(DirectDNSError) -> DirectSettings {
    try DirectSettings(ConfigurationFile(Array(Self.file.utf8), name: "c.json5"), environment: environment)
  }

  @Test(arguments: [
    ("PROVIDERS", ","), ("PROVIDERS", " , ,"), ("BOOTSTRAP", ","), ("CA", ":"), ("CA", ":: :"),
  ])
  func `a list without an entry is refused, and not taken for nothing at all`(_ name: String, _ text: String) {
    let error = #expect(throws: DirectDNSError.self) { try settings(["DIRECTDNS_\(name)": text]) }
    #expect(error?.code == .invalidConfiguration)
    #expect(error?.message.hasPrefix("DIRECTDNS_\(name) is \"\(text)\": a list of nothing.") == true)
  }

  @Test(arguments: ["", " ", "   "]) func `an empty list, or one of spaces, is none`(_ text: String) throws {
    let settings = try settings(["DIRECTDNS_PROVIDERS": text, "DIRECTDNS_BOOTSTRAP": text, "DIRECTDNS_CA": text])
    #expect(settings.resolver.providers.map(\.provider.name) == ["cloudflare"])
    #expect(settings.resolver.trust.privateAuthorities == ["/file.pem"])
  }

  @Test func `entries may have spaces around them, and none between them`() throws {
    let settings = try settings(["DIRECTDNS_PROVIDERS": "google, quad9,", "DIRECTDNS_CA": "/a b.pem::/c.pem"])
    #expect(settings.resolver.providers.map(\.provider.name) == ["google", "quad9"])
    #expect(settings.resolver.trust.privateAuthorities == ["/a b.pem", "/c.pem"])
  }
}
