// SPDX-License-Identifier: Apache-2.0
public import DirectDNS

/// The configuration of a proxy.
public struct ProxyConfiguration: Sendable {
  /// Where it listens; `127.0.0.1:3128` by default.
  ///
  /// An address that other machines can reach needs ``users``.
  public var listeners: [ListenAddress]
  /// Descriptors of listening sockets that the process inherited, for example from systemd (sd_listen_fds(3)).
  ///
  /// They are used in addition to ``listeners``, which may then be empty, and are closed at the end: a proxy that has any
  /// does not start a second time. None by default.
  public var inherited: [Int32]
  /// Which addresses may be connected to; public ones by default.
  ///
  /// Each is checked before connecting, and again once the connection is established.
  public var policy: AddressPolicy
  /// Which names the resolver looks up, and which the system's DNS; all the resolver by default.
  public var direct: DirectSwitch
  /// Another proxy, through which connections go; none by default.
  ///
  /// Names are looked up here, and the other proxy is asked for addresses that ``policy`` allows. With
  /// ``UpstreamProxy/resolvesNames`` it is sent the names instead, and their addresses are not checked here.
  public var upstream: UpstreamProxy?
  /// Rules that send some names another way than ``direct`` and ``upstream`` do; none by default.
  ///
  /// A name without a rule goes by the system's DNS if it is under a suffix for which ``direct`` is off, else as `*`
  /// says, else through ``upstream`` if there is one.
  public var routes: ProxyRoutes
  /// Which ports may be connected to; 80, 443, and from 1024 by default.
  public var ports: ProxyPorts
  /// Who may use it; anybody by default.
  public var users: ProxyUsers?
  /// The user ids that may connect to Unix sockets, of those that the mode of the file allows; by default all of these.
  ///
  /// Other clients are disconnected: the kernel says whose process a client is.
  public var peers: Set<UInt32>?
  /// The options of lookups; the resolver's configuration decides by default.
  public var lookup: LookupOptions
  /// Its limits of numbers, sizes and times; by default as ``ProxyLimits`` has them.
  public var limits: ProxyLimits
  /// The number of threads that carry connections, from 1 to 64; 1 by default, which carries some gigabits per second.
  public var threads: Int
  /// Called with each request and tunnel that has ended, on the thread that carried it; nil by default.
  public var accessLog: (@Sendable (ProxyAccess) -> Void)?
  /// Called with messages for the operator, for example that no file descriptor is left for another connection; nil by
  /// default.
  public var notice: (@Sendable (String) -> Void)?
  /// The text of the proxy's own page `/metrics` for clients at loopback addresses and Unix sockets, in Prometheus's text
  /// format; by default there is no such page.
  public var metrics: (@Sendable () -> String)?

  /// Creates a configuration; every part has a default.
  public init(
    listeners: [ListenAddress] = [.tcp(.loopback(), port: 3128)], inherited: [Int32] = [],
    policy: AddressPolicy = .publicOnly, direct: DirectSwitch = .on,
    upstream: UpstreamProxy? = nil, routes: ProxyRoutes = ProxyRoutes(), ports: ProxyPorts = .web,
    users: ProxyUsers? = nil, peers: Set<UInt32>? = nil,
    lookup: LookupOptions = LookupOptions(), limits: ProxyLimits = ProxyLimits(), threads: Int = 1,
    accessLog: (@Sendable (ProxyAccess) -> Void)? = nil, notice: (@Sendable (String) -> Void)? = nil,
    metrics: (@Sendable () -> String)? = nil
  ) {
    self.listeners = listeners
    self.inherited = inherited
    self.policy = policy
    self.direct = direct
    self.upstream = upstream
    self.routes = routes
    self.ports = ports
    self.users = users
    self.peers = peers
    self.lookup = lookup
    self.limits = limits
    self.threads = threads
    self.accessLog = accessLog
    self.notice = notice
    self.metrics = metrics
  }

  /// Checks the values.
  func validate() throws(DirectDNSError) {
    guard !listeners.isEmpty || !inherited.isEmpty else {
      throw DirectDNSError(.invalidConfiguration, "The proxy listens nowhere: name an address, such as 127.0.0.1:3128.")
    }
    for place in listeners { try validateAccess(at: place) }
    guard (1...64).contains(threads) else {
      throw DirectDNSError(.invalidConfiguration, "threads is \(threads): 1 is the least, and 64 the most.")
    }
    try validateRoutes()
    try lookup.validate()
    guard limits.pooledConnections >= 0, limits.clients > 0, limits.tunnels ?? 1 > 0, limits.headSize >= 1024,
      limits.fieldCount > 0
    else {
      throw DirectDNSError(
        .invalidConfiguration,
        "limits: at least one client, one tunnel, 1024 bytes of a head and one field have to be allowed, and no count is negative."
      )
    }
    let times = [
      limits.headTimeout, limits.idleTimeout, limits.connectTimeout, limits.responseTimeout, limits.tunnelTimeout,
      limits.halfClosedTimeout,
    ]
    guard times.allSatisfy({ $0 > .zero && $0 <= .seconds(30 * 86400) }) else {
      throw DirectDNSError(.invalidConfiguration, "limits: every time has to be more than 0 and at most 30 days.")
    }
    // 0 is allowed: then no connection is kept, and stopping does not wait.
    guard [limits.poolTimeout, limits.drainTimeout].allSatisfy({ $0 >= .zero && $0 <= .seconds(30 * 86400) }) else {
      throw DirectDNSError(
        .invalidConfiguration, "limits: poolTimeout and drainTimeout have to be from 0 to 30 days.")
    }
  }

  /// Checks the rules and the upstream proxy.
  private func validateRoutes() throws(DirectDNSError) {
    guard let upstream else {
      guard let rule = routes.rules.first(where: { $0.route == .upstream }) else { return }
      throw DirectDNSError(
        .invalidConfiguration,
        "\(rule): there is no upstream proxy to go through: give one (--upstream, proxy.upstream).")
    }
    do throws(DirectDNSError) { try upstream.validate() } catch {
      throw DirectDNSError(.invalidConfiguration, "\(upstream): \(error.clause).", underlying: error)
    }
    guard isItsOwnUpstream else { return }
    throw DirectDNSError(
      .invalidConfiguration, "\(upstream): that is where this proxy listens itself: name another one.")
  }

  /// Whether ``upstream`` is an address at which it listens.
  package var isItsOwnUpstream: Bool {
    guard let upstream, case .address(let address) = upstream.host else { return false }
    return listeners.contains { $0.leads(from: address, port: upstream.port, machine: []) }
  }

  /// Requires users at an address that other machines can reach.
  func validateAccess(at place: ListenAddress) throws(DirectDNSError) {
    guard users == nil, place.isRemote else { return }
    // Users would not help.
    if case .tcp(let address, _) = place, !MachineAddresses.hold(address) {
      throw DirectDNSError(
        .invalidConfiguration, "\(place): this machine has no such address: take 127.0.0.1, or an address that it has.")
    }
    throw DirectDNSError(
      .invalidConfiguration,
      "\(place): other machines reach that address, and whoever reaches it could use the proxy: take 127.0.0.1, or say who may use it (dnsctl proxy: --users FILE or --token @FILE)."
    )
  }
}
