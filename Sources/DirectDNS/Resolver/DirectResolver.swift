// SPDX-License-Identifier: Apache-2.0
internal import Logging
internal import Synchronization
internal import Tracing

/// Turns names into addresses: from its cache, from the providers, or, when all of them fail, from answers that
/// expired and from the system's DNS.
///
/// One resolver per process is enough; it is safe for concurrent use. A cached lookup costs some 0.1 µs
/// and waits for nobody; it allocates nothing but the canonical name of an alias, and room for more addresses
/// than four of IPv6 or sixteen of IPv4.
public final class DirectResolver: Sendable {
  package let clock: any ResolverClock
  let cache: AnswerCache
  let lookups: LookupRunner
  let lookupReport: LookupReport
  let metrics = ResolverTelemetry()
  let tracer = LookupTelemetry.tracer
  let store: StoreLink?
  let storeReport: StoreReport?
  let current: Locked<ResolverSettings>
  // Copies of what every cached lookup needs, so that it touches nothing else.
  let wantedFamilies: Atomic<UInt8>
  let usesSystemClock: Bool
  let isWatched: Bool
  let logger = Logger(label: "directdns.resolver")
  let transport: any HTTPTransport
  /// The transport, where it is the resolver's own.
  let ownTransport: CurlTransport?
  let bootstrap: Bootstrap
  /// Held by the one who changes the settings.
  let updating = Locked(())
  /// Whether IPv6 has a route, in the lower two bits: 0 is unknown, 1 no, 2 yes; above them, how often the network changed.
  private let route6 = Atomic<UInt>(0)

  /// Creates a resolver.
  ///
  /// - Parameters:
  ///   - configuration: how it behaves; by default it works on the internet.
  ///   - transport: how requests are sent; by default over libcurl. It is the resolver's from then on, and is shut down
  ///     with it.
  ///   - clock: where it gets its time from; by default the machine's monotonic clock.
  ///   - system: the system's DNS; by default c-ares with the machine's own settings.
  /// - Throws: an error of code ``DirectDNSError/Code/invalidConfiguration`` that names the value that is wrong.
  public init(
    _ configuration: ResolverConfiguration = ResolverConfiguration(), transport: (any HTTPTransport)? = nil,
    clock: any ResolverClock = SystemClock(), system: any SystemSource = SystemDNS()
  ) throws(DirectDNSError) {
    try configuration.validate()
    guard AnswerTable.fits(capacity: configuration.capacity) else {
      throw DirectDNSError(
        .invalidConfiguration,
        "capacity is \(configuration.capacity): this process may not have the memory for so many names.")
    }
    self.clock = clock
    let settings = ResolverSettings(configuration, system: system)
    current = Locked(settings)
    wantedFamilies = Atomic(configuration.families.rawValue)
    usesSystemClock = clock is SystemClock
    isWatched = metrics.isCollected
    cache = AnswerCache(policy: configuration.cache, capacity: configuration.capacity)
    try Self.number(configuration.providers, in: cache.sources)
    let storeReport = configuration.store.map { StoreReport(name: $0.name, observer: configuration.observer) }
    self.storeReport = storeReport
    store = configuration.store.map { store in
      StoreLink(store, policy: configuration.cache, clock: clock, limit: configuration.storeTimeout) {
        storeReport?.note($0)
      }
    }
    if let transport {
      ownTransport = nil
      self.transport = transport
    } else {
      let own = try CurlTransport(trust: configuration.trust, connections: configuration.connectionsPerServer)
      ownTransport = own
      self.transport = own
    }
    bootstrap = Bootstrap(system: settings.system, clock: clock)
    lookupReport = LookupReport(
      upstreams: UpstreamReport(observer: configuration.observer), metrics: metrics, store: storeReport, cache: cache,
      observer: configuration.observer)
    let machine = LookupMachine(
      settings, cache: cache, hasStore: store != nil, hasLeases: store?.hasLeases ?? false,
      isWatched: metrics.isCollected || configuration.observer != nil, seed: .random(in: .min ... .max), at: clock.now)
    lookups = LookupRunner(
      machine, clock: clock,
      sender: QuerySender(transport: self.transport, clock: clock, bootstrap: bootstrap), store: store,
      lookupReport: lookupReport)
    keepAlive(configuration.keepAlive)
  }

  // MARK: Looking up

  /// Looks up a name or takes an address, in any spelling that a URL's host may have.
  ///
  /// Where both families are wanted, the one that comes second has 50 ms from when the first has come.
  ///
  /// - Parameters:
  ///   - host: such as `www.example.com`, `bücher.example` or `192.0.2.1`.
  ///   - options: which families, what to do with expired answers, and how long it may take.
  /// - Returns: at least one address, in the order of use.
  /// - Throws: why there is none, with every provider that was asked.
  nonisolated(nonsending) public func resolve(
    _ host: String, options: LookupOptions = LookupOptions()
  ) async throws(DirectDNSError) -> Resolution {
    var found = Resolution()
    if readFresh(spelled: host, options, to: &found) { return found }
    return try await resolve(Self.host(host), options: options)
  }

  /// Looks up a URL's host; an address is its own answer.
  nonisolated(nonsending) public func resolve(
    _ host: WebURL.Host, options: LookupOptions = LookupOptions()
  ) async throws(DirectDNSError) -> Resolution {
    switch host {
    case .address(let address): try literal(address, options.families ?? families)
    case .name: try await resolve(HostName(host), options: options)
    }
  }

  /// Looks up a name; of two families, the one that comes second has 50 ms from when the first has come.
  nonisolated(nonsending) public func resolve(
    _ host: HostName, options: LookupOptions = LookupOptions()
  ) async throws(DirectDNSError) -> Resolution {
    var found = Resolution()
    if readFresh(host, options, to: &found) { return found }
    return try await lookUp(host, options)
  }

  /// A host as people write it: a URL's, or an IPv6 address without the brackets that a URL's would have.
  static func host(_ text: String) throws(DirectDNSError) -> WebURL.Host {
    if let address = IPAddress(text) { return .address(address) }
    return try WebURL.Host(text)
  }

  // MARK: What is known already

  /// What the cache has, at once: never waits, never throws.
  ///
  /// On anything but a fresh answer a refresh starts behind it.
  public func cached(_ host: HostName, options: LookupOptions = LookupOptions()) -> Resolution? {
    var found = Resolution()
    if readFresh(host, options, to: &found) { return found }
    return cachedSlowly(host, options)
  }

  /// What the cache has of a name as people write it: upper case and a final dot do not matter.
  public func cached(_ host: String, options: LookupOptions = LookupOptions()) -> Resolution? {
    var found = Resolution()
    if readFresh(spelled: host, options, to: &found) { return found }
    return cachedSlowly(spelled: host, options)
  }

  // MARK: Telling it

  /// Says how a connection to an address went; the order of addresses follows from it.
  public func report(_ address: IPAddress, _ outcome: ConnectionOutcome) {
    ranking.report(address, outcome, at: clock.now)
  }

  /// Says that the machine is on another network: failures and health are forgotten, every answer is due at once, and
  /// nothing is dropped.
  public func networkDidChange() {
    // Whoever is still looking on the network before must not be believed: counted first.
    route6.wrappingAdd(4, ordering: .relaxed)
    route6.bitwiseAnd(~3, ordering: .relaxed)
    ranking.networkDidChange()
    transport.networkDidChange()
    bootstrap.networkDidChange()
    // Last: it asks anew what is under way.
    lookups.tell { $0.networkDidChange(at: $1) }
    logger.info("network changed")
  }

  /// Forgets what is known of a name, in the store too, so that the next lookup asks.
  public func invalidate(_ host: HostName) {
    lookups.tell { $0.invalidate(host, at: $1) }
    metrics.holds(cache.count)
  }

  /// Sets the names that are refreshed at 75 % of their lifetime without being asked for, in place of those before.
  ///
  /// No more than ``ResolverConfiguration/capacity`` of them are taken, those first that are kept alive already: names
  /// beyond would push out one another without end. The log says how many were left out.
  public func keepAlive(_ names: Set<HostName>) { keepAlive { $0 = names } }

  /// Changes the set of names that are refreshed without being asked for.
  func keepAlive(_ change: (inout Set<HostName>) -> Void) {
    let leftOut = lookups.tell { machine, now in
      var names = machine.keptAlive.names
      change(&names)
      return machine.keepAlive(names, at: now)
    }
    if leftOut > 0 {
      logger.warning(
        "more names to keep alive than there is room for: raise the capacity, or name fewer",
        metadata: ["leftOut": "\(leftOut)", "capacity": "\(cache.capacity)"])
    }
  }

  /// Ends what is under way.
  ///
  /// Cached answers can still be read; a lookup that would have to ask fails. What the store has yet to be told is
  /// written behind: a process that is about to end uses ``shutdown(flushingWithin:)``, which waits for it.
  public func shutdown() {
    lookups.tell { $0.shutdown(at: $1) }
    transport.shutdown()
  }

  /// The old name of ``shutdown()``.
  @available(*, deprecated, renamed: "shutdown()")
  public func shutDown() { shutdown() }

  /// What is known of addresses from real connections.
  var ranking: AddressRanking { cache.ranking }

  /// Whether it was shut down.
  package var hasEnded: Bool { lookups.look(\.isShutDown) }

  /// Whether IPv6 addresses come first: they do when IPv6 has a route.
  @inline(__always)
  var prefersIPv6: Bool {
    let known = route6.load(ordering: .relaxed)
    return known & 3 == 0 ? findRoute(since: known) : known & 3 == 2
  }

  @inline(never)
  private func findRoute(since unknown: UInt) -> Bool {
    let exists = IPAddress.Family.ipv6.hasRoute
    _ = route6.compareExchange(expected: unknown, desired: unknown | (exists ? 2 : 1), ordering: .relaxed)
    return exists
  }
}
