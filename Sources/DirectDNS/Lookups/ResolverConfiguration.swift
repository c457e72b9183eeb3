// SPDX-License-Identifier: Apache-2.0
/// How a resolver behaves.
///
/// Every property has a default, with which a resolver works on the public internet.
public struct ResolverConfiguration: Sendable {
  /// The providers in the order of asking.
  ///
  /// Default: AliDNS, Google, Cloudflare.
  public var providers: [ProviderConfiguration]
  /// Whether the system's DNS is asked: when every provider failed and no expired answer can be served, and for names
  /// that have a meaning on this network only.
  ///
  /// Default true. If false, lookups of such names (`printer.local`, `intranet`) fail, and a provider whose URL has a
  /// name needs bootstrap addresses, or pins. Names for which ``DirectSwitch`` is off are looked up by the system's DNS
  /// all the same.
  public var usesSystemDNS: Bool
  /// How long the cache keeps and uses answers.
  ///
  /// Default `CachePolicy()`, whose properties have defaults of their own.
  public var cache: CachePolicy
  /// The most names in the cache; when it is full, the least useful name is evicted.
  ///
  /// Default 10 000, and from 1 to 100 million; a short name with an address or two takes about 107 bytes.
  public var capacity: Int
  /// Names that are kept alive: refreshed at 75 % of their lifetime, without anybody asking for them; at most
  /// ``capacity``.
  ///
  /// Default none.
  public var keepAlive: Set<HostName>
  /// Names with fixed addresses, and suffixes that only the system's DNS is asked about.
  ///
  /// Default none, besides the built-in ones such as `localhost` (RFC 6761).
  public var localZones: LocalZones
  /// How long a lookup may take.
  ///
  /// Default 5 s. The providers together have 70 % of it, or 98 % if ``usesSystemDNS`` is false. A query has 60 %
  /// while there is another provider to ask instead, and otherwise as long as all providers together.
  public var timeout: Duration
  /// Whether a second provider is asked as well when the first one takes longer than usual.
  ///
  /// Default true. It adds at most 10 % more queries, or a handful in a minute.
  public var hedges: Bool
  /// The most connections to one provider that speaks HTTP/1.1, which carries one query at a time on each.
  ///
  /// Default 32, and from 1 to 1000. Over HTTP/2 fifty queries are under way at a time at most, on one connection with
  /// most servers, and on eight at most.
  public var connectionsPerServer: Int
  /// The address families that a lookup asks for, unless ``LookupOptions/families`` says otherwise.
  ///
  /// Default both.
  public var families: AddressFamilies
  /// The certificate authorities that are trusted.
  ///
  /// Default those of the system, or those that `SSL_CERT_DIR` and `SSL_CERT_FILE` name.
  public var trust: TrustStore
  /// The store that keeps answers beyond the life of the process.
  ///
  /// Default none. Several resolvers may share a store; none of them closes it.
  public var store: (any AnswerStore)?
  /// How long a lookup waits for the store before it goes on without it; a lease, and another look once it is taken, have
  /// what is left of that time.
  ///
  /// What the store has after that still serves a lookup that has no answer yet; one that the providers have failed waits
  /// for it until ``CachePolicy/clientResponseTimeout`` is over. Default 50 ms.
  public var storeTimeout: Duration
  /// Called with every event as it happens, on any thread; it should return quickly, since lookups wait for it.
  ///
  /// Default none.
  public var observer: (@Sendable (ResolverEvent) -> Void)?

  /// Creates the default configuration.
  public init() { self.init(providers: Self.defaultProviders) }

  /// Creates a configuration with those providers; everything else has a default.
  public init(
    providers: [ProviderConfiguration], usesSystemDNS: Bool = true, cache: CachePolicy = CachePolicy(),
    capacity: Int = 10_000, keepAlive: Set<HostName> = [], localZones: LocalZones = LocalZones(),
    timeout: Duration = .seconds(5), hedges: Bool = true, connectionsPerServer: Int = 32,
    families: AddressFamilies = .any, trust: TrustStore = TrustStore(), store: (any AnswerStore)? = nil,
    storeTimeout: Duration = .milliseconds(50), observer: (@Sendable (ResolverEvent) -> Void)? = nil
  ) {
    self.providers = providers
    self.usesSystemDNS = usesSystemDNS
    self.cache = cache
    self.capacity = capacity
    self.keepAlive = keepAlive
    self.localZones = localZones
    self.timeout = timeout
    self.hedges = hedges
    self.connectionsPerServer = connectionsPerServer
    self.families = families
    self.trust = trust
    self.store = store
    self.storeTimeout = storeTimeout
    self.observer = observer
  }

  /// The names of the default providers, in the order of asking.
  public static let defaultProviderNames = ["alidns", "google", "cloudflare"]

  private static var defaultProviders: [ProviderConfiguration] {
    defaultProviderNames.compactMap { try? ProviderConfiguration($0) }
  }

  /// With more names the table's index would take gigabytes, and its entries would need more bits than they have.
  package static let largestCapacity = 100_000_000

  /// The providers as they are reached: one without addresses of its own at those that its host is pinned to.
  package var reachedProviders: [ProviderConfiguration] {
    guard !localZones.pins.isEmpty else { return providers }
    return providers.map { provider in
      guard provider.bootstrap.isEmpty, let host = try? HostName(provider.provider.url.host),
        let pinned = localZones.pins[host]
      else { return provider }
      var reached = provider
      reached.bootstrap = pinned
      return reached
    }
  }

  /// Where a name is looked up: where there are no providers, the system's DNS has their place.
  func route(for host: HostName) -> NameRoute {
    let route = localZones.route(for: host)
    return route == .providers && providers.isEmpty ? .system : route
  }

  /// What another configuration than before means for a name.
  enum RouteChange: Sendable, Hashable {
    /// It is looked up where it was. One whose providers have gone, with only the system's DNS in their place, counts as
    /// such: what they have said, and are being asked, is of use still.
    case none
    /// Providers are asked for it now, and not the system's DNS in their place any more: the addresses that has named
    /// stay, like those of a fallback, and its word that there are none does not.
    case toProviders
    /// It is looked up elsewhere, and what is known of it is of no use any more.
    case elsewhere
  }

  /// What this configuration means for a name that was looked up by another one before.
  func routeChange(of host: HostName, from before: ResolverConfiguration) -> RouteChange {
    switch (before.route(for: host), route(for: host)) {
    case (let former, let present) where former == present: .none
    case (.providers, .system) where localZones.route(for: host) == .providers: .none
    case (.system, .providers) where before.localZones.route(for: host) == .providers: .toProviders
    default: .elsewhere
    }
  }

  /// Checks that the cache has room for the names that are kept alive: they would evict one another again and again.
  func validateKeepAlive() throws(DirectDNSError) {
    guard keepAlive.count <= capacity else {
      throw DirectDNSError(
        .invalidConfiguration,
        "keepAlive has \(keepAlive.count) names, and capacity is \(capacity): name fewer, or make room for them.")
    }
  }

  /// Checks all values.
  ///
  /// - Throws: `invalidConfiguration` that names the value that is wrong.
  package func validate() throws(DirectDNSError) {
    guard timeout > .zero else {
      throw DirectDNSError(.invalidConfiguration, "timeout is \(timeout): give a lookup some time.")
    }
    guard storeTimeout > .zero else {
      throw DirectDNSError(.invalidConfiguration, "storeTimeout is \(storeTimeout): give the store some time.")
    }
    try cache.validate()
    guard (1...Self.largestCapacity).contains(capacity) else {
      throw DirectDNSError(
        .invalidConfiguration, "capacity is \(capacity): 1 is the least, and \(Self.largestCapacity) the most.")
    }
    try validateKeepAlive()
    guard (1...1000).contains(connectionsPerServer) else {
      throw DirectDNSError(
        .invalidConfiguration, "connectionsPerServer is \(connectionsPerServer): 1 is the least, and 1000 the most.")
    }
    guard !families.isEmpty else {
      throw DirectDNSError(.invalidConfiguration, "families is empty: choose any, ipv4 or ipv6.")
    }
    guard !providers.isEmpty || usesSystemDNS else {
      throw DirectDNSError(
        .invalidConfiguration, "There is no provider, and the system's DNS is off: no server could be asked.")
    }
    for provider in reachedProviders {
      let url = provider.provider.url
      guard url.scheme == .http || url.scheme == .https else {
        throw DirectDNSError(
          .invalidConfiguration,
          "Provider \(provider.provider.name): \(url.originText) cannot be asked, since DNS goes over http or https only."
        )
      }
      if let limit = provider.rateLimit, !(limit.perSecond > 0) || !(limit.burst >= 1) {
        throw DirectDNSError(
          .invalidConfiguration,
          "Provider \(provider.provider.name): rateLimit is \(limit.perSecond) a second and \(limit.burst) at once; perSecond must be more than 0, and burst at least 1."
        )
      }
      guard !usesSystemDNS, HTTPEndpoint(reachedWithoutDNS: provider) == nil else { continue }
      let name = provider.provider.url.host
      throw DirectDNSError(
        .invalidConfiguration,
        "Provider \(provider.provider.name): no address is known for \(name), and the system's DNS is off. Set its bootstrap (dnsctl: --bootstrap \(name)=ADDRESS), or write the address into the URL."
      )
    }
  }
}

/// The options of a single lookup.
public struct LookupOptions: Sendable, Hashable {
  /// The address families to ask for; a lookup for none of them fails with `invalidRequest`.
  ///
  /// Default nil: those of the resolver's configuration.
  public var families: AddressFamilies?
  /// Whether expired answers may be served.
  ///
  /// Default ``ExpiredUse/allowed``; a resolver's configuration has no option for it.
  public var expired: ExpiredUse
  /// How long the lookup may take; the time limits of its queries scale with it.
  ///
  /// Default nil: as long as the resolver's configuration says. With 0 or less a lookup waits for nobody: it
  /// succeeds if an answer is known, fresh or expired. The configuration of a client or a proxy refuses that.
  public var timeout: Duration?
  /// What the addresses are for, which decides how long the second family is waited for.
  var purpose = FamilyWait.Purpose.handingOut

  /// Creates options; without arguments, the resolver's configuration and `expired: .allowed`.
  public init(families: AddressFamilies? = nil, expired: ExpiredUse = .allowed, timeout: Duration? = nil) {
    self.families = families
    self.expired = expired
    self.timeout = timeout
  }

  /// Checks options that are meant for all lookups: with these each would fail.
  ///
  /// - Throws: `invalidConfiguration` that names the value that is wrong.
  package func validate() throws(DirectDNSError) {
    if let families, families.members.isEmpty {
      throw DirectDNSError(.invalidConfiguration, "lookup.families is empty: choose any, ipv4 or ipv6.")
    }
    if let timeout, timeout <= .zero {
      throw DirectDNSError(.invalidConfiguration, "lookup.timeout is \(timeout): give a lookup some time.")
    }
  }
}
