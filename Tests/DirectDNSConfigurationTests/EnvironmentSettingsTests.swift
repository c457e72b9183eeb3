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

  @Test(arguments: [
    (["https://a.test/x", "https://b.test/x"], ["a.test", "b.test"]),
    (["https://a.test:1/x", "https://a.test:2/x", "https://b.test/x"], ["a.test:1", "a.test:2", "b.test"]),
    (["https://127.0.0.1/x", "https://127.0.0.1:8443/x"], ["127.0.0.1:443", "127.0.0.1:8443"]),
    (["https://[::1]/x", "https://[::1]/y?key=s", "https://[::1]:2/x"], ["[::1]:443", "[::1]:443#2", "[::1]:2"]),
  ])
  func `providers of one host are told apart by their ports, and those by numbers: a path may be a secret`(
    _ urls: [String], _ names: [String]
  ) throws {
    let settings = try settings(["DIRECTDNS_PROVIDERS": urls.map { "doh+" + $0 }.joined(separator: ",")])
    #expect(settings.resolver.providers.map(\.provider.name) == names)
  }

  @Test(arguments: [
    ("{ provider: 'doh+https://a.test/x', name: 'one' }, 'doh+https://a.test:2/x'", ["one", "a.test"]),
    ("{ provider: 'doh+https://a.test/x', name: 'a.test' }, 'doh+https://a.test/y'", ["a.test", "a.test:443"]),
    ("'doh+https://a.test/y', { provider: 'doh+https://a.test/x', name: 'a.test' }", ["a.test:443", "a.test"]),
  ])
  func `a name that the file gives a provider stays`(_ providers: String, _ names: [String]) throws {
    let file = try ConfigurationFile(Array("{ providers: [\(providers)] }".utf8), name: "c.json5")
    let settings = try DirectSettings(file)
    #expect(settings.resolver.providers.map(\.provider.name) == names)
  }

  @Test func `a preset that is there again is told apart by a number`() throws {
    let twice = "{ providers: ['google', { provider: 'google', rateLimit: { perSecond: 5 } }, 'google'] }"
    let settings = try DirectSettings(ConfigurationFile(Array(twice.utf8), name: "c.json5"))
    #expect(settings.resolver.providers.map(\.provider.name) == ["google", "google#2", "google#3"])
  }

  @Test(arguments: [
    "{ provider: 'doh+https://a.test/x', name: 'one' }, { provider: 'doh+https://b.test/x', name: 'one' }",
    "'google', { provider: 'doh+https://b.test/x', name: 'google' }",
    "{ provider: 'doh+https://b.test/x', name: 'google' }, 'google'",
  ])
  func `a given name that another provider has is refused`(_ providers: String) throws {
    let file = try ConfigurationFile(Array("{ providers: [\(providers)] }".utf8), name: "c.json5")
    let error = #expect(throws: DirectDNSError.self) { try DirectSettings(file) }
    let message = error?.message ?? ""
    #expect(message.hasPrefix("c.json5: providers[1]") && message.contains(": Provider "), "\(message)")
    #expect(message.hasSuffix(": another provider has that name, too. Give it a name of its own."), "\(message)")
  }

  @Test(arguments: ["{ provider: 'doh+https://a.test/x', name: 'system' }", "'doh+https://system/x'"])
  func `a name that the system's DNS has is refused`(_ provider: String) throws {
    let file = try ConfigurationFile(Array("{ providers: ['google', \(provider)] }".utf8), name: "c.json5")
    let error = #expect(throws: DirectDNSError.self) { try DirectSettings(file) }
    let message = error?.message ?? ""
    let reason = ": Provider system: the system's DNS has that name, too. Give it a name of its own."
    #expect(message.hasPrefix("c.json5: providers[1]") && message.hasSuffix(reason), "\(message)")
  }

  @Test func `a name that the file gives one provider may be asked for twice`() throws {
    let named = "{ providers: [{ provider: 'doh+https://a.test/x', name: 'one' }] }"
    let file = try ConfigurationFile(Array(named.utf8), name: "c.json5")
    let settings = try DirectSettings(file, environment: ["DIRECTDNS_PROVIDERS": "one,one"])
    #expect(settings.resolver.providers.map(\.provider.name) == ["one", "one"])
  }

  @Test(arguments: [
    ("PROVIDERS", "google quad9", 1), ("PROVIDERS", "google,doh+https://a.test/?key=s3cret doh+https://b.test/", 2),
    ("PROVIDERS", "google\tquad9", 1), ("BOOTSTRAP", "a.test=192.0.2.1 b.test=192.0.2.2", 1),
  ])
  func `entries with spaces in place of commas are refused, and not joined`(
    _ name: String, _ text: String, _ number: Int
  ) {
    let error = #expect(throws: DirectDNSError.self) { try settings(["DIRECTDNS_\(name)": text]) }
    #expect(
      error?.message == "DIRECTDNS_\(name): entry \(number) has a space in it. Separate entries by commas.", "\(error)")
  }

  @Test(arguments: ["DIRECTDNS_STORE", "DIRECTDNS_PROVIDERS", "DIRECTDNS_CONFIG"])
  func `a variable that was not UTF-8 is refused, since the text leads elsewhere`(_ name: String) {
    let text = String(decoding: Array("/tmp/".utf8) + [0xff], as: UTF8.self)
    let error = #expect(throws: DirectDNSError.self) { try settings([name: text]) }
    #expect(error?.message.hasPrefix("\(name) is not UTF-8") == true, "\(error)")
  }

  @Test func `entries may have spaces around them, and none between them`() throws {
    let settings = try settings(["DIRECTDNS_PROVIDERS": "\n google, quad9 ,", "DIRECTDNS_CA": "/a b.pem::/c.pem"])
    #expect(settings.resolver.providers.map(\.provider.name) == ["google", "quad9"])
    #expect(settings.resolver.trust.privateAuthorities == ["/a b.pem", "/c.pem"])
  }
}
