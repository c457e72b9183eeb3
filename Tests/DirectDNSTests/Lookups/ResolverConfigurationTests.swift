// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

struct ResolverConfigurationTests {
  private func refusal(_ change: (inout ResolverConfiguration) -> Void) -> DirectDNSError? {
    var configuration = ResolverFixture.configuration(["one"])
    change(&configuration)
    do throws(DirectDNSError) {
      try configuration.validate()
      return nil
    } catch {
      return error
    }
  }

  @Test func `the defaults are those of the documentation`() throws {
    let configuration = ResolverConfiguration()
    #expect(configuration.providers.map(\.provider.name) == ["alidns", "google", "cloudflare"])
    #expect(ResolverConfiguration.defaultProviderNames == ["alidns", "google", "cloudflare"])
    #expect(configuration.providers.allSatisfy { !$0.bootstrap.isEmpty })
    #expect(configuration.providers.map(\.rateLimit) == [RateLimit(perSecond: 20), nil, nil])
    #expect(configuration.usesSystemDNS)
    #expect(configuration.cache == CachePolicy())
    #expect(configuration.capacity == 10_000)
    #expect(configuration.connectionsPerServer == 32)
    #expect(configuration.keepAlive.isEmpty)
    #expect(configuration.localZones == LocalZones())
    #expect(configuration.timeout == .seconds(5))
    #expect(configuration.hedges)
    #expect(configuration.families == .any)
    #expect(configuration.observer == nil)
    try configuration.validate()
  }

  @Test func `a lookup's defaults leave everything to the resolver`() {
    #expect(LookupOptions() == LookupOptions(families: nil, expired: .allowed, timeout: nil))
  }

  @Test func `options for all lookups name a family and give some time, or leave both to the resolver`() throws {
    try LookupOptions().validate()
    try LookupOptions(families: .ipv4, timeout: .nanoseconds(1)).validate()
    for (options, part) in [
      (LookupOptions(families: []), "lookup.families is empty"), (LookupOptions(timeout: .zero), "lookup.timeout is 0"),
      (LookupOptions(timeout: .seconds(-1)), "lookup.timeout is -1"),
    ] {
      let error = #expect(throws: DirectDNSError.self) { try options.validate() }
      #expect(error?.code == .invalidConfiguration && error?.message.hasPrefix(part) == true)
    }
  }

  @Test func `what is usable is not refused`() {
    #expect(refusal { _ in } == nil)
    #expect(refusal { $0.providers = [] } == nil)
    #expect(refusal { $0.cache.minimumTTL = $0.cache.maximumTTL } == nil)
    #expect(refusal { $0.usesSystemDNS = false } == nil)
    #expect(refusal { $0.providers[0].bootstrap = [] } == nil)
    #expect(refusal { $0.capacity = 1 } == nil)
  }

  @Test func `values that make no sense are refused by name`() {
    for (change, part) in [
      ({ $0.timeout = .zero }, "timeout"), ({ $0.timeout = .seconds(-1) }, "timeout"),
      ({ $0.cache.minimumTTL = .seconds(4000) }, "minimumTTL"), ({ $0.capacity = 0 }, "capacity"),
      ({ $0.cache.minimumFailureTTL = .seconds(31) }, "minimumFailureTTL"),
      ({ $0.storeTimeout = .zero }, "storeTimeout"),
      ({ $0.connectionsPerServer = 0 }, "connectionsPerServer"),
      ({ $0.connectionsPerServer = 1001 }, "connectionsPerServer"),
      ({ $0.families = [] }, "families"), ({ $0.providers[0].rateLimit = RateLimit(perSecond: 0) }, "one"),
      ({ $0.providers[0].rateLimit = RateLimit(perSecond: -5) }, "rate"),
      ({ $0.providers[0].rateLimit = RateLimit(perSecond: .nan) }, "rate"),
    ] as [((inout ResolverConfiguration) -> Void, String)] {
      let error = refusal(change)
      #expect(error?.code == .invalidConfiguration, "\(part)")
      #expect(error?.message.contains(part) == true, "\(part)")
    }
  }

  @Test(arguments: [
    ("www.example.net", NameRoute.providers, NameRoute.system), ("nas.local", .system, .system),
    ("localhost", .loopback, .loopback), ("a.invalid", .neverExists, .neverExists), ("a.onion", .refused, .refused),
  ])
  func `a public name is looked up by the providers, and without any by the system's DNS`(
    _ host: String, _ route: NameRoute, _ without: NameRoute
  ) {
    #expect(ResolverFixture.configuration(["one"]).route(for: Sample.name(host)) == route)
    #expect(ResolverConfiguration(providers: []).route(for: Sample.name(host)) == without)
  }

  @Test func `what another configuration means for a name goes by where both look it up`() {
    func configuration(
      _ providers: [String], _ suffixes: [String] = [], pins: [String] = []
    ) -> ResolverConfiguration {
      var configuration = ResolverFixture.configuration(providers)
      configuration.localZones.suffixes = suffixes.map { Sample.name($0) }
      for pin in pins { configuration.localZones.pins[Sample.name(pin)] = Sample.addresses("192.0.2.9") }
      return configuration
    }
    let (some, none) = (configuration(["one"]), configuration([]))
    for (before, after, expected) in [
      (some, configuration(["two"]), .none), (some, none, .none), (none, some, .toProviders),
      (some, configuration(["one"], ["net"]), .elsewhere), (configuration(["one"], ["net"]), some, .elsewhere),
      (some, configuration([], ["net"]), .elsewhere), (none, configuration([], ["net"]), .none),
      (none, configuration(["one"], ["net"]), .none),
      (some, configuration(["one"], pins: ["www.example.net"]), .elsewhere),
      (none, configuration([], pins: ["www.example.net"]), .elsewhere),
    ] as [(ResolverConfiguration, ResolverConfiguration, ResolverConfiguration.RouteChange)] {
      #expect(after.routeChange(of: ResolverFixture.host, from: before) == expected)
      #expect(after.routeChange(of: Sample.name("nas.local"), from: before) == ResolverConfiguration.RouteChange.none)
    }
  }

  @Test func `a provider whose URL is a WebSocket's is refused, since nothing could be asked of it`() throws {
    let url = try WebURL("wss://one.example/dns-query")
    let error = refusal { $0.providers[0].provider = MessageProvider(name: "one", url: url) }
    #expect(error?.code == .invalidConfiguration && error?.message.hasPrefix("Provider one: wss://one.example") == true)
  }

  @Test func `a resolver that could ask nobody is refused`() {
    let error = refusal {
      $0.providers = []
      $0.usesSystemDNS = false
    }
    #expect(error?.code == .invalidConfiguration)
  }

  @Test
  func `a provider that only the system's DNS could find is refused when that is off, naming --bootstrap`() {
    let error = refusal {
      $0.providers[0].bootstrap = []
      $0.usesSystemDNS = false
    }
    #expect(error?.code == .invalidConfiguration)
    #expect(error?.message.contains("one") == true)
    #expect(error?.message.contains("one.example") == true)
    #expect(error?.message.contains("--bootstrap") == true)
  }

  @Test func `a provider whose host is pinned is reached there, unless it has addresses of its own`() {
    var configuration = ResolverFixture.configuration(["one", "two"])
    configuration.providers[0].bootstrap = []
    configuration.providers[1].bootstrap = Sample.addresses("192.0.2.2")
    let pinned = Sample.addresses("192.0.2.53", "2001:db8::53")
    configuration.localZones.pins = [Sample.name("one.example"): pinned, Sample.name("two.example"): pinned]
    #expect(configuration.reachedProviders.map(\.bootstrap) == [pinned, Sample.addresses("192.0.2.2")])
    let states = ServerStates(configuration, at: Sample.at(0))
    #expect(states.all.map(\.server.target?.addresses) == [pinned, Sample.addresses("192.0.2.2")])
    let error = refusal {
      $0.providers[0].bootstrap = []
      $0.localZones.pins = [Sample.name("one.example"): pinned]
      $0.usesSystemDNS = false
    }
    #expect(error == nil)
  }

  @Test func `a provider whose URL is an address needs no bootstrap address`() throws {
    var configuration = ResolverConfiguration(providers: [
      try ProviderConfiguration("doh+https://192.0.2.1/dns-query")
    ])
    configuration.usesSystemDNS = false
    try configuration.validate()
  }

  @Test(arguments: [0, -1, Int.min, 100_000_001, Int.max]) func `a capacity that no table has is refused`(
    _ capacity: Int
  ) {
    #expect(refusal { $0.capacity = capacity }?.message.hasPrefix("capacity is \(capacity): ") == true)
  }

  @Test func `more names to keep alive than there is room for are refused, and as many are not`() {
    let names = Set((0..<3).map { Sample.name("n\($0).example") })
    func refusal(_ capacity: Int) -> DirectDNSError? {
      self.refusal {
        $0.capacity = capacity
        $0.keepAlive = names
      }
    }
    #expect(refusal(3) == nil)
    #expect(
      refusal(2)?.message
        == "keepAlive has 3 names, and capacity is 2: name fewer, or make room for them.")
  }

  @Test func `a resolver is not made of a configuration that is refused`() {
    let clock = ManualClock()
    let error = #expect(throws: DirectDNSError.self) {
      var configuration = ResolverFixture.configuration(["one"])
      configuration.capacity = 0
      _ = try DirectResolver(
        configuration, transport: ScriptedTransport(clock: clock), clock: clock,
        system: ScriptedSystem(clock: clock))
    }
    #expect(error?.code == .invalidConfiguration)
  }
}
