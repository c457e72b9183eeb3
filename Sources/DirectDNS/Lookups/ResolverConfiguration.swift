// SPDX-License-Identifier: Apache-2.0
/// How a resolver behaves.
///
/// Every property has a default; without any change a resolver works on the internet.
public struct ResolverConfiguration: Sendable {
  /// The providers in the order of asking.
  ///
  /// Default: AliDNS, Google, Cloudflare.
  public var providers: [ProviderConfiguration]
  /// Whether the system's DNS is asked when every provider failed and no expired answer can serve, and for names that
  /// are this network's own.
  ///
  /// Default true. Without it such names, `printer.local` or `intranet`, are refused, and a provider's name needs bootstrap
  /// addresses. Where ``DirectSwitch`` is off, the system's DNS is asked all the same.
  public var usesSystemDNS: Bool
  /// For how long the cache keeps and uses answers.
  ///
  /// Default a `CachePolicy()`, whose properties say what each is.
  public var cache: CachePolicy
  /// The most names in the cache; the least useful one goes first.
  ///
  /// Default 10 000; about 107 bytes each with an address or two.
  public var capacity: Int
  /// Names that are refreshed at 75 % of their lifetime without being asked for; at most ``capacity``.
  ///
  /// Default none.
  public var keepAlive: Set<HostName>
  /// Names with fixed addresses, and suffixes that are the system's DNS's alone.
  ///
  /// Default none but those of RFC 6761, such as `localhost`.
  public var localZones: LocalZones
  /// How long a lookup may take.
  ///
  /// Default 5 s. The providers together have 70 % of it, or 98 % where ``usesSystemDNS`` is false; an attempt has 60 %
  /// while there is another provider to ask in its place, and else as long as they all have.
  public var timeout: Duration
  /// Whether a second provider is asked when the first one takes longer than usual.
  ///
  /// Default true.
  public var hedges: Bool
  /// The most connections to one provider that speaks HTTP/1.1, which carries one query at a time on each.
  ///
  /// Default 32. Over HTTP/2 one connection carries fifty queries, and there are no more than eight.
  public var connectionsPerServer: Int
  /// The families that a lookup asks for unless its caller says otherwise.
  ///
  /// Default both.
  public var families: AddressFamilies
  /// Whose certificates are trusted.
  ///
  /// Default the system's authorities, or those that `SSL_CERT_DIR` and `SSL_CERT_FILE` name.
  public var trust: TrustStore
  /// Where answers are remembered beyond the process.
  ///
  /// Default nowhere. Several resolvers may share one; none of them closes it.
  public var store: (any AnswerStore)?
  /// How long a lookup waits for the store, before it goes on as if there were none.
  ///
  /// Default 50 ms.
  public var storeTimeout: Duration
  /// Is told what happens, as it happens, on whatever thread it happens: return soon, since lookups wait for it.
  ///
  /// Default nobody.
  public var observer: (@Sendable (ResolverEvent) -> Void)?

  /// Creates a configuration of the default providers.
  public init() { self.init(providers: Self.defaultProviders) }

  /// Creates a configuration of those providers, and defaults for all else.
  public init(providers: [ProviderConfiguration]) {
    self.providers = providers
    usesSystemDNS = true
    cache = CachePolicy()
    capacity = 10_000
    keepAlive = []
    localZones = LocalZones()
    timeout = .seconds(5)
    hedges = true
    connectionsPerServer = 32
    families = .any
    trust = TrustStore()
    store = nil
    storeTimeout = .milliseconds(50)
    observer = nil
  }

  /// The names of the default providers, in the order of asking.
  public static let defaultProviderNames = ["alidns", "google", "cloudflare"]

  private static var defaultProviders: [ProviderConfiguration] {
    defaultProviderNames.compactMap { try? ProviderConfiguration($0) }
  }

  /// Names beyond which a table's index would take gigabytes, and its places more bits than they have.
  package static let largestCapacity = 100_000_000

  /// Checks that there is room for the names that are kept alive: they would push out one another without end.
  func validateKeepAlive() throws(DirectDNSError) {
    guard keepAlive.count <= capacity else {
      throw DirectDNSError(
        .invalidConfiguration,
        "keepAlive has \(keepAlive.count) names, and capacity is \(capacity): name fewer, or make room for them.")
    }
  }

  /// Checks the values that only make sense together.
  func validate() throws(DirectDNSError) {
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
        .invalidConfiguration, "There is no provider, and the system's DNS is off: nobody could be asked.")
    }
    for provider in providers {
      if let limit = provider.rateLimit, !(limit.perSecond > 0) || !(limit.burst >= 1) {
        throw DirectDNSError(
          .invalidConfiguration,
          "Provider \(provider.provider.name): rateLimit is \(limit.perSecond) a second and \(limit.burst) at once; perSecond must be more than 0, and burst at least 1."
        )
      }
      guard case .name(let name) = provider.provider.url.host, provider.bootstrap.isEmpty, !usesSystemDNS,
        (try? HostName(provider.provider.url.host)).map(LocalZones().route) != .loopback
      else { continue }
      throw DirectDNSError(
        .invalidConfiguration,
        "Provider \(provider.provider.name): no address is known for \(name), and the system's DNS is off. Set its bootstrap (dnsctl: --bootstrap \(name)=ADDRESS), or write the address into the URL."
      )
    }
  }
}

/// What a single lookup wants.
public struct LookupOptions: Sendable, Hashable {
  /// The families to ask for.
  ///
  /// Default nil: as the resolver's configuration says.
  public var families: AddressFamilies?
  /// What to do with expired answers.
  ///
  /// Default `allowed`; no configuration has another one.
  public var expired: ExpiredUse
  /// How long the lookup may take; the times of its attempts scale with it.
  ///
  /// Default nil: as long as the resolver's configuration says.
  public var timeout: Duration?
  /// What the addresses are for, which says how long the second family is waited for.
  var purpose = FamilyWait.Purpose.handingOut

  /// Creates options; without arguments, the resolver's configuration and `expired: .allowed`.
  public init(families: AddressFamilies? = nil, expired: ExpiredUse = .allowed, timeout: Duration? = nil) {
    self.families = families
    self.expired = expired
    self.timeout = timeout
  }
}

/// What a resolver goes by at the moment: whoever needs it reads it as a whole, and an update puts another in its place.
final class ResolverSettings: Sendable {
  let configuration: ResolverConfiguration
  /// The system's DNS; nil where it is off.
  let system: (any SystemSource)?
  /// The system's DNS, be it off.
  let systemSource: any SystemSource

  init(_ configuration: ResolverConfiguration, system: any SystemSource) {
    self.configuration = configuration
    self.system = configuration.usesSystemDNS ? system : nil
    systemSource = system
  }
}
