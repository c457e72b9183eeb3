// SPDX-License-Identifier: Apache-2.0
#if ConfigReader || Everything
  import Configuration
  import DirectDNS
  import Foundation
  import Testing

  @testable import DirectDNSConfigReader
  @testable import DirectDNSConfiguration

  struct ConfigReaderTests {
    private static func reader(_ values: [AbsoluteConfigKey: ConfigValue]) -> ConfigReader {
      ConfigReader(provider: InMemoryProvider(values: values))
    }

    private static func message(_ reader: ConfigReader) -> String {
      do throws(DirectDNSError) {
        _ = try ConfigurationFile(reader)
        return ""
      } catch { return error.message }
    }

    @Test func `every key of the file is asked for`() {
      func keys(_ shapes: KeyValuePairs<String, ReaderKeys.Shape>) -> Set<String> { Set(shapes.map(\.key)) }
      func keys(below key: String, of shapes: KeyValuePairs<String, ReaderKeys.Shape>) -> Set<String> {
        switch shapes.first(where: { $0.key == key })?.value {
        case .object(let shapes), .short(_, let shapes): keys(shapes)
        default: []
        }
      }
      func all<Key: ConfigurationKey>(_: Key.Type) -> Set<String> { Set(Key.allCases.map(\.rawValue)) }
      #expect(keys(ReaderKeys.shapes).union(["providers", "pins"]) == all(ConfigurationFile.Key.self))
      #expect(keys(below: "system", of: ReaderKeys.shapes) == all(ConfigurationFile.SystemKey.self))
      #expect(keys(below: "cache", of: ReaderKeys.shapes) == all(ConfigurationFile.CacheKey.self))
      #expect(keys(below: "addressPolicy", of: ReaderKeys.shapes) == all(AddressPolicy.Key.self))
      #expect(keys(below: "direct", of: ReaderKeys.shapes) == all(DirectSwitch.Key.self))
      #expect(keys(below: "proxy", of: ReaderKeys.shapes).union(["routes"]) == all(ProxyEntry.Key.self))
      #expect(keys(ReaderKeys.provider) == all(ProviderEntry.Key.self))
      #expect(keys(below: "rateLimit", of: ReaderKeys.provider) == all(ProviderEntry.RateLimitKey.self))
      #expect(keys(below: "credentials", of: ReaderKeys.provider) == all(ProviderEntry.CredentialsKey.self))
    }

    /// A value that is not the default for each key, and the same in the file's own form.
    private static let everything: [AbsoluteConfigKey: ConfigValue] = [
      "providers": .init(.stringArray(["corp", "dnspod", "google"]), isSecret: false),
      "provider.corp.provider": "doh+https://dns.corp.example/dns-query",
      "provider.corp.bootstrap": .init(.stringArray(["192.0.2.53", "2001:db8::53"]), isSecret: false),
      "provider.corp.rateLimit.perSecond": 2.5, "provider.corp.rateLimit.burst": 7,
      "provider.corp.clientSubnet": "192.0.2.0/24", "provider.corp.plainHTTP": "anywhere",
      "provider.dnspod.name": "pod", "provider.dnspod.credentials.token": .init("1,hush", isSecret: true),
      "system.enabled": false, "system.servers": .init(.stringArray(["192.0.2.1"]), isSecret: false),
      "cache.minimumTTL": 11, "cache.maximumTTL": 3601, "cache.grace": 31, "cache.maximumStale": 86401,
      "cache.clientResponseTimeout": 0.31, "cache.minimumNegativeTTL": 2, "cache.maximumNegativeTTL": 301,
      "cache.negativeTTLWithoutSOA": 5, "cache.minimumFailureTTL": 3, "cache.maximumFailureTTL": 31,
      "cache.failureRecheck": 29, "cache.refreshesAhead": false, "capacity": 123, "timeout": 4.5, "hedging": false,
      "keepAlive": .init(.stringArray(["a.example"]), isSecret: false),
      "localZones": .init(.stringArray(["corp.example"]), isSecret: false),
      "pins": .init(
        .stringArray(["b.example=192.0.2.2", "b.example=2001:db8::2", "c.example=192.0.2.3"]), isSecret: false),
      "connectionsPerServer": 5, "families": "ipv6", "expired": "preferred",
      "ca": .init(.stringArray(["/etc/a.pem"]), isSecret: false), "store": "sqlite:/var/answers.sqlite",
      "direct.off": .init(.stringArray(["bank.example"]), isSecret: false), "addressPolicy.base": "any",
      "addressPolicy.allow": .init(.stringArray(["10.1.0.0/16"]), isSecret: false),
      "addressPolicy.deny": .init(.stringArray(["evil.example"]), isSecret: false),
      "addressPolicy.nat64": .init(.stringArray(["2001:db8:64::/96"]), isSecret: false),
      "proxy.upstream": .init("http://ada:hush@192.0.2.9:3128", isSecret: true), "proxy.upstreamResolves": true,
      "proxy.routes": .init(.stringArray(["d.example=direct", "=e.example=refuse", "*=upstream"]), isSecret: false),
    ]

    private static let file = """
      {
        providers: [
          { provider: "doh+https://dns.corp.example/dns-query", name: "corp", bootstrap: ["192.0.2.53", "2001:db8::53"],
            rateLimit: { perSecond: 2.5, burst: 7 }, clientSubnet: "192.0.2.0/24", plainHTTP: "anywhere" },
          { provider: "dnspod", name: "pod", credentials: { token: "1,hush" } },
          "google",
        ],
        system: { enabled: false, servers: ["192.0.2.1"] },
        cache: { minimumTTL: 11, maximumTTL: 3601, grace: 31, maximumStale: 86401, clientResponseTimeout: 0.31,
          minimumNegativeTTL: 2, maximumNegativeTTL: 301, negativeTTLWithoutSOA: 5, minimumFailureTTL: 3,
          maximumFailureTTL: 31, failureRecheck: 29, refreshesAhead: false },
        capacity: 123, timeout: 4.5, hedging: false, keepAlive: ["a.example"], localZones: ["corp.example"],
        pins: { "b.example": ["192.0.2.2", "2001:db8::2"], "c.example": ["192.0.2.3"] },
        proxy: { upstream: "http://ada:hush@192.0.2.9:3128", upstreamResolves: true,
          routes: { "d.example": "direct", "=e.example": "refuse", "*": "upstream" } },
        connectionsPerServer: 5, families: "ipv6", expired: "preferred", ca: ["/etc/a.pem"],
        store: "sqlite:/var/answers.sqlite", direct: { off: ["bank.example"] },
        addressPolicy: { base: "any", allow: ["10.1.0.0/16"], deny: ["evil.example"], nat64: ["2001:db8:64::/96"] },
      }
      """

    @Test func `a reader with every key says what the file says`() throws {
      var read = try ConfigurationFile(Self.reader(Self.everything))
      var written = try ConfigurationFile(Array(Self.file.utf8), name: "configuration")
      // A dictionary has no order of its own in a description.
      #expect(read.localZones.pins == written.localZones.pins && read.localZones.pins.count == 2)
      read.localZones.pins = [:]
      written.localZones.pins = [:]
      // Each provider is called by where it stands.
      #expect(
        read.providers?.map(\.origin) == ["provider.corp.provider", "provider.dnspod.provider", "providers[2]"])
      for index in (read.providers ?? []).indices {
        read.providers?[index].origin = try #require(written.providers)[index].origin
      }
      #expect("\(read)" == "\(written)")
      #expect(read.providers == written.providers && read.providers?.count == 3)
      let settings = try DirectSettings(read)
      #expect(settings.resolver.capacity == 123 && settings.store?.place == .file("/var/answers.sqlite"))
    }

    @Test func `an empty reader is no configuration`() throws {
      #expect("\(try ConfigurationFile(Self.reader([:]), name: ""))" == "\(ConfigurationFile())")
    }

    @Test func `a scoped reader, the environment, and one value for an object`() throws {
      let variables = [
        "DNS_SYSTEM": "false", "DNS_TIMEOUT": "2.5", "DNS_PROVIDERS": "google,cloudflare", "DNS_DIRECT": "off",
        "DNS_ADDRESS_POLICY": "any", "DNS_CACHE_MAXIMUM_TTL": "60", "DNS_PINS": "a.example=192.0.2.1",
      ]
      let reader = ConfigReader(provider: EnvironmentVariablesProvider(environmentVariables: variables))
      let file = try ConfigurationFile(reader.scoped(to: "dns"))
      #expect(file.usesSystemDNS == false && file.timeout == .milliseconds(2500) && file.direct == .off)
      #expect(file.providers?.map(\.text) == ["google", "cloudflare"] && file.addressPolicy.base == .any)
      #expect(file.cache.maximumTTL == .seconds(60))
      #expect(file.localZones.pins == [try HostName("a.example"): [.ipv4(0xC000_0201)]])
    }

    @Test(
      arguments: [
        (["capacity": "lots"], "capacity is \"lots\". Give a whole number"),
        (["cache.grace": -1], "cache.grace is -1. Give a number of seconds"),
        (["families": "ipv5"], "families is \"ipv5\". Give one of"), (["hedging": "perhaps"], "hedging is \"perhaps\""),
        (["ca": "/etc/a.pem"], "ca is \"/etc/a.pem\". Give a list of files"),
        (["cache.minimumTTL": 4000], "minimumTTL may not be greater than maximumTTL"),
        (
          ["pins": .init(.stringArray(["a.example"]), isSecret: false)],
          "pins[0] is \"a.example\". Give a list of NAME=ADDRESS"
        ),
        (["pins": .init(.stringArray(["a.example=x"]), isSecret: false)], "x"),
        (
          ["providers": .init(.stringArray(["google", "corp"]), isSecret: false), "provider.corp.clientSubnet": "x"],
          "provider.corp.clientSubnet is \"x\". Give a network"
        ),
        (["store": "redis:/x:HUSH"], "store"),
        (["addressPolicy.allow": .init(.stringArray(["10.1/8"]), isSecret: false)], "addressPolicy.allow[0]"),
        (
          ["proxy.routes": .init(.stringArray(["a.example=direct", "a.example=refuse"]), isSecret: false)],
          "proxy.routes: a.example is there twice. Keep one of them."
        ),
      ] as [([AbsoluteConfigKey: ConfigValue], String)])
    func `what is wrong is named as in the file`(_ values: [AbsoluteConfigKey: ConfigValue], _ expected: String) {
      let message = Self.message(Self.reader(values))
      #expect(message.hasPrefix("configuration: ") && message.contains(expected), "\(message)")
      #expect(!message.contains("HUSH"))
    }

    @Test(
      arguments: [
        (["ADDRESS_POLICY": "any", "ADDRESS_POLICY_DENY": "10.0.0.0/8"], "addressPolicy", "addressPolicy.deny"),
        (
          ["ADDRESS_POLICY": "publicOnly", "ADDRESS_POLICY_ALLOW": "10.0.0.0/8", "ADDRESS_POLICY_NAT64": "x"],
          "addressPolicy", "addressPolicy.allow and addressPolicy.nat64"
        ),
        (["DIRECT": "on", "DIRECT_OFF": "bank.example"], "direct", "direct.off"),
        (["SYSTEM": "true", "SYSTEM_SERVERS": "192.0.2.1"], "system", "system.servers"),
        (["SYSTEM": "false", "SYSTEM_ENABLED": "true"], "system", "system.enabled"),
      ] as [([String: String], String, String)])
    func `a value beside keys that it stands for is refused, and none of them is dropped`(
      _ variables: [String: String], _ key: String, _ others: String
    ) {
      let message = Self.message(ConfigReader(provider: EnvironmentVariablesProvider(environmentVariables: variables)))
      #expect(
        message
          == "configuration: \(key) stands for all keys below it, and \(others) is there as well. Keep one of them.")
    }

    @Test func `a provider that cannot be is called by the key where it stands`() throws {
      func message(_ values: [AbsoluteConfigKey: ConfigValue]) throws -> String? {
        let settings = try ConfigurationFile(Self.reader(values))
        return #expect(throws: DirectDNSError.self) { try DirectSettings(settings) }?.message
      }
      let providers: ConfigValue = .init(.stringArray(["google", "corp"]), isSecret: false)
      #expect(
        try message(["providers": providers, "provider.corp.provider": "nobody"])?
          .hasPrefix(#"configuration: provider.corp.provider: "nobody" is not a provider."#) == true)
      #expect(
        try message(["providers": providers])?.hasPrefix(#"configuration: providers[1]: "corp" is not a provider."#)
          == true)
    }

    /// Remembers of each key that has a value whether it was asked for as a secret.
    private final class Accesses: AccessReporter {
      let found = Locked<[String: Bool]>([:])

      func report(_ event: AccessEvent) {
        guard case .success(let value?) = event.result else { return }
        found.withLock { $0[event.metadata.key.description] = value.isSecret }
      }
    }

    @Test func `secrets are asked for as such, so that no log of what is read has them, and nothing else is`() throws {
      // None of these is marked by the one who provides it.
      let values: [AbsoluteConfigKey: ConfigValue] = [
        "providers": .init(.stringArray(["corp"]), isSecret: false),
        "provider.corp.provider": "doh+https://dns.corp.example/dns-query",
        "provider.corp.credentials.account": "1", "provider.corp.credentials.keyID": "2",
        "provider.corp.credentials.secret": "3", "provider.corp.credentials.token": "4",
        "store": "sqlite:/var/answers.sqlite", "proxy.upstream": "http://ada:hush@192.0.2.9:3128", "timeout": 2,
      ]
      let accesses = Accesses()
      _ = try ConfigurationFile(
        ConfigReader(provider: InMemoryProvider(values: values), accessReporter: accesses))
      let found = accesses.found.withLock(\.self)
      #expect(found.count == values.count)
      #expect(
        Set(found.filter(\.value).keys)
          == [
            "provider.corp.credentials.account", "provider.corp.credentials.keyID", "provider.corp.credentials.secret",
            "provider.corp.credentials.token", "store", "proxy.upstream",
          ])
    }

    @Test func `a secret of the wrong type is not shown`() {
      let message = Self.message(
        Self.reader([
          "providers": .init(.stringArray(["dnspod"]), isSecret: false),
          "provider.dnspod.credentials.token": .init(4711, isSecret: true),
        ]))
      #expect(message.contains("provider.dnspod.credentials.token") && !message.contains("4711"), "\(message)")
    }
  }
#endif
