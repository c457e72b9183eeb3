// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DirectDNSConfiguration

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite struct `The example configuration` {
  private static func bytes() throws -> [UInt8] {
    let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    return try Array(Data(contentsOf: URL(filePath: "/\(root)/Config/dnsctl.example.json5")))
  }

  @Test func `holds every key`() throws {
    let whole = try JSON5Reader.read(Self.bytes())
    func keys(_ value: ConfigurationValue?) -> Set<String> {
      if case .object(let values) = value { Set(values.keys) } else { [] }
    }
    func at(_ value: ConfigurationValue?, _ key: String) -> ConfigurationValue? {
      if case .object(let values) = value { values[key] } else { nil }
    }
    func all<Key: ConfigurationKey>(_: Key.Type) -> Set<String> { Set(Key.allCases.map(\.rawValue)) }
    var provider: ConfigurationValue?
    if case .list(let providers) = at(whole, "providers") { provider = providers.first }
    #expect(keys(whole) == all(ConfigurationFile.Key.self))
    #expect(keys(at(whole, "system")) == all(ConfigurationFile.SystemKey.self))
    #expect(keys(at(whole, "cache")) == all(ConfigurationFile.CacheKey.self))
    #expect(keys(at(whole, "addressPolicy")) == all(AddressPolicy.Key.self))
    #expect(keys(provider) == all(ProviderEntry.Key.self))
    #expect(keys(at(provider, "rateLimit")) == all(ProviderEntry.RateLimitKey.self))
    #expect(keys(at(provider, "credentials")) == all(ProviderEntry.CredentialsKey.self))
  }

  @Test func `names every variable of the environment, which the manual page has from here`() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let source = try String(
      contentsOf: root.appending(path: "Sources/DirectDNSConfiguration/EnvironmentSettings.swift"), encoding: .utf8)
    let read = source.matches(of: #/reader\.(?:text|words|paths|value)\(\s*"([A-Z_]+)"/#).map { "DIRECTDNS_\($0.1)" }
    let text = String(decoding: try Self.bytes(), as: UTF8.self)
    let named = text.matches(of: #/^// (DIRECTDNS_[A-Z_]+) {2,}/#.anchorsMatchLineEndings()).map { String($0.1) }
    #expect(read.count > 10)
    #expect(Set(read) == Set(named))
    #expect(Set(read) == Set(EnvironmentSettings.names))
  }

  @Test func `holds the defaults`() throws {
    let example = try DirectSettings(ConfigurationFile(Self.bytes(), name: "/c.json5"))
    let standard = try DirectSettings()
    #expect(example.lookup == standard.lookup)
    #expect(example.systemServers == standard.systemServers)
    #expect(example.addressPolicy == standard.addressPolicy)
    #expect(example.direct == standard.direct)
    let (left, right) = (example.resolver, standard.resolver)
    #expect(left.usesSystemDNS == right.usesSystemDNS)
    #expect(left.cache == right.cache)
    #expect(left.capacity == right.capacity)
    #expect(left.keepAlive == right.keepAlive)
    #expect(left.localZones == right.localZones)
    #expect(left.timeout == right.timeout)
    #expect(left.hedges == right.hedges)
    #expect(left.connectionsPerServer == right.connectionsPerServer)
    #expect(left.families == right.families)
    #expect(left.trust == right.trust)
    #expect(left.providers.map(\.provider.name) == right.providers.map(\.provider.name))
    #expect(left.providers.map(\.provider.url) == right.providers.map(\.provider.url))
    #expect(left.providers.map(\.bootstrap) == right.providers.map(\.bootstrap))
    #expect(left.providers.map(\.rateLimit) == right.providers.map(\.rateLimit))
    // Not every default is the example's own: those of the library must be the same.
    let library = ResolverConfiguration()
    #expect(library.cache == left.cache)
    #expect(library.timeout == left.timeout)
    #expect(library.capacity == left.capacity)
    #expect(library.hedges == left.hedges)
    #expect(library.connectionsPerServer == left.connectionsPerServer)
    #expect(library.families == left.families)
    #expect(library.usesSystemDNS == left.usesSystemDNS)
    #expect(library.providers.map(\.bootstrap) == left.providers.map(\.bootstrap))
    #expect(library.providers.map(\.rateLimit) == left.providers.map(\.rateLimit))
  }

  @Test func `says what each key means right above it`() throws {
    let lines = String(decoding: try Self.bytes(), as: UTF8.self).split(separator: "\n").map {
      $0.drop { $0 == " " }
    }
    let bare = zip(lines, lines.dropFirst()).filter { before, line in
      guard let colon = line.firstIndex(of: ":"), line.first?.isLetter == true else { return false }
      // The two bounds of negative answers share a comment; enabled is explained with the object around it.
      let key = line[..<colon]
      return !before.hasPrefix("//") && key != "maximumNegativeTTL" && key != "enabled"
    }
    #expect(bare.map(\.1).isEmpty)
  }
}
