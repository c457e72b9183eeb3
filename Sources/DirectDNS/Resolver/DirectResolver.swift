// SPDX-License-Identifier: Apache-2.0
internal import Logging
internal import Synchronization
internal import Tracing

/// Looks up names: in its cache, by its providers or, when all of them fail, from expired answers and by the system's
/// DNS.
///
/// It is safe for concurrent use; one resolver per process is enough. A cached lookup takes some 0.1 µs and never
/// waits. It allocates nothing, except for the canonical name of an alias, and for more than four IPv6 or sixteen IPv4
/// addresses.
public final class DirectResolver: Sendable {
  package let clock: any ResolverClock
  let cache: AnswerCache
  let lookups: LookupRunner
  let lookupTelemetry: LookupTelemetry
  let metrics = ResolverTelemetry()
  let tracer = LookupSpan.tracer
  let store: StoreLink?
  let storeTelemetry: StoreTelemetry?
  let current: Locked<ResolverSettings>
  // Copies of values that every cached lookup needs, so that it need not read the settings.
  let wantedFamilies: Atomic<UInt8>
  let usesSystemClock: Bool
  let hasMetrics: Bool
  let logger = Logger(label: "directdns.resolver")
  let transport: any HTTPTransport
  /// The transport, if it is the resolver's own.
  let ownTransport: CurlTransport?
  let bootstrap: Bootstrap
  /// Locked while the settings are being changed.
  let updating = Locked(())
  /// Whether IPv6 has a route, in the lowest two bits: 0 for unknown, 1 for no, 2 for yes.
  ///
  /// The other bits count changes of the network.
  private let route6 = Atomic<UInt>(0)

  /// Creates a resolver.
  ///
  /// - Parameters:
  ///   - configuration: how it behaves; the default works on the public internet.
  ///   - transport: sends the requests; by default by libcurl. The resolver shuts it down at its own end.
  ///   - clock: tells the time; by default the machine's monotonic clock.
  ///   - system: the system's DNS; by default c-ares with the machine's settings.
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
    wantedFamilies = Atomic(configuration.families.rawValue)
    usesSystemClock = clock is SystemClock
    hasMetrics = metrics.isCollected
    cache = AnswerCache(policy: configuration.cache, capacity: configuration.capacity)
    try Self.number(configuration.providers, in: cache.sources)
    let storeTelemetry = configuration.store.map { StoreTelemetry(name: $0.name, observer: configuration.observer) }
    self.storeTelemetry = storeTelemetry
    store = configuration.store.map { store in
      StoreLink(store, policy: configuration.cache, clock: clock, limit: configuration.storeTimeout) {
        storeTelemetry?.note($0)
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
    let settings = ResolverSettings(configuration, system: system, trust: ownTransport?.trust)
    current = Locked(settings)
    bootstrap = Bootstrap(system: settings.system, clock: clock)
    lookupTelemetry = LookupTelemetry(
      queries: QueryTelemetry(observer: configuration.observer), metrics: metrics, store: storeTelemetry, cache: cache,
      observer: configuration.observer)
    let machine = LookupMachine(
      settings, cache: cache, hasStore: store != nil, hasLeases: store?.hasLeases ?? false,
      isObserved: hasMetrics || configuration.observer != nil, seed: .random(in: .min ... .max), at: clock.now)
    lookups = LookupRunner(
      machine, clock: clock,
      sender: QuerySender(transport: self.transport, clock: clock, bootstrap: bootstrap), store: store,
      lookupTelemetry: lookupTelemetry, resumption: (self.transport as? CurlTransport)?.resumption ?? TaskResumption())
    keepAlive(configuration.keepAlive)
  }

  deinit { shutdown() }

  /// Runs tasks on the thread that carries the resolver's requests; on the shared pool with a transport that is no
  /// ``CurlTransport``.
  ///
  /// A task that looks up many names that no cache has is faster there, since no answer makes it switch threads. But
  /// while such a task computes, no server's reply is read: anything that takes more than some microseconds, or blocks,
  /// must run elsewhere.
  ///
  ///     await withTaskExecutorPreference(resolver.executor) { … }
  ///
  /// Once the resolver or its transport has been shut down, tasks run on the shared pool again.
  public var executor: any TaskExecutor { (transport as? CurlTransport)?.executor ?? globalConcurrentExecutor }

  // MARK: Looking up

  /// Looks up a name, or takes an address as it is, in any spelling that the host of a URL may have.
  ///
  /// If both families are wanted, the second one is waited for until 50 ms after the first one has come.
  ///
  /// - Parameters:
  ///   - host: such as `www.example.com`, `bücher.example` or `192.0.2.1`.
  ///   - options: which families to ask for, whether expired answers may be served, and how long it may take.
  /// - Returns: at least one address, in the order of use.
  /// - Throws: `invalidName` for a text that is neither a name nor an address, or what
  ///   ``resolve(_:options:)-(HostName,_)`` throws.
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

  /// Looks up a name; of two families, the second one is waited for until 50 ms after the first one has come.
  ///
  /// - Parameters:
  ///   - host: the name.
  ///   - options: which families to ask for, whether expired answers may be served, and how long it may take.
  /// - Returns: at least one address, in the order of use.
  /// - Throws: `nameNotFound` or `noAddress` if there is none; `upstreamFailed` or `timedOut` if nobody answered, with
  ///   every server that was asked; `refused` for a name that nobody may be asked about; `invalidRequest` if no family
  ///   is wanted; `cancelled` or `shutDown`.
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

  // MARK: Cached answers

  /// The answer in the cache, if any; never waits and never throws.
  ///
  /// If it is not fresh, or missing, a refresh begins.
  public func cached(_ host: HostName, options: LookupOptions = LookupOptions()) -> Resolution? {
    var found = Resolution()
    if readFresh(host, options, to: &found) { return found }
    return cachedSlowly(host, options)
  }

  /// The same for a name as people write it: upper case and a final dot do not matter.
  public func cached(_ host: String, options: LookupOptions = LookupOptions()) -> Resolution? {
    var found = Resolution()
    if readFresh(spelled: host, options, to: &found) { return found }
    return cachedSlowly(spelled: host, options)
  }

  // MARK: Events

  /// Tells the resolver how connecting to an address went, which decides about the order of addresses.
  ///
  /// - Parameters:
  ///   - outcome: whether there is a connection, and after how long.
  ///   - address: the address that was tried.
  public func report(_ outcome: ConnectionOutcome, for address: IPAddress) {
    ranking.report(address, outcome, at: clock.now)
  }

  /// Tells the resolver that the machine is on another network.
  ///
  /// Failures and the providers' health are forgotten, and every answer is refreshed when it is next used, or within
  /// two seconds if its name is kept alive. No answer is dropped.
  public func networkDidChange() {
    // Counted first, so that a test for a route that began on the old network is not believed.
    route6.wrappingAdd(4, ordering: .relaxed)
    route6.bitwiseAnd(~3, ordering: .relaxed)
    ranking.networkDidChange()
    transport.networkDidChange()
    bootstrap.networkDidChange()
    // Last, since it asks all questions under way again.
    lookups.send { $0.networkDidChange(at: $1) }
    logger.info("network changed")
  }

  /// Forgets what is known about a name, also in the store, so that the next lookup asks.
  public func invalidate(_ host: HostName) {
    lookups.send { $0.invalidate(host, at: $1) }
    metrics.holds(cache.count)
  }

  /// Forgets what is known about a name; as ``invalidate(_:)-(HostName)``.
  ///
  /// - Throws: an error of code ``DirectDNSError/Code/invalidName`` for a text that is not a host name.
  public func invalidate(_ host: String) throws(DirectDNSError) { invalidate(try HostName(host)) }

  /// Sets the names that are kept alive: refreshed at 75 % of their lifetime, without anybody asking for them.
  ///
  /// They replace those that were set before. At most ``ResolverConfiguration/capacity`` names are taken, first those
  /// that are kept alive already, since more would evict one another again and again. The log says how many were left
  /// out.
  public func keepAlive(_ names: Set<HostName>) { warn(leftOut: lookups.send { $0.keepAlive(names, at: $1) }) }

  /// Adds names to those that are kept alive; they stay when an updated configuration does not name them any more.
  func keepAlive(adding names: Set<HostName>) {
    warn(leftOut: lookups.send { $0.keepAlive(adding: names, at: $1) })
  }

  private func warn(leftOut: Int) {
    if leftOut > 0 {
      logger.warning(
        "more names to keep alive than there is room for: raise the capacity, or name fewer",
        metadata: ["leftOut": "\(leftOut)", "capacity": "\(cache.capacity)"])
    }
  }

  /// Ends all lookups and queries under way.
  ///
  /// Cached answers can still be read; lookups that would have to ask fail. Answers are still written to the store,
  /// without waiting for it: a process that is about to end should call ``shutdown(flushingWithin:)``, which waits.
  public func shutdown() {
    let wasShutDown = lookups.send { machine, now in
      let isOver = machine.isShutDown
      machine.shutdown(at: now)
      return isOver
    }
    if !wasShutDown { transport.shutdown() }
  }

  /// What is known about addresses from real connections.
  var ranking: AddressRanking { cache.ranking }

  /// Whether it was shut down.
  package var hasEnded: Bool { lookups.look(\.isShutDown) }

  /// Whether IPv6 addresses come first, which they do if IPv6 has a route.
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
