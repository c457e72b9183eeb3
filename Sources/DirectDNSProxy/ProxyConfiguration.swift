// SPDX-License-Identifier: Apache-2.0
public import DirectDNS

/// How a proxy serves.
public struct ProxyConfiguration: Sendable {
  /// Where it listens; `127.0.0.1:3128` by default.
  ///
  /// An address that other machines reach needs ``users``.
  public var listeners: [ListenAddress]
  /// Descriptors of sockets that listen already, made by whoever started the process, such as systemd (sd_listen_fds(3)).
  ///
  /// They are listened at beside ``listeners``, which may then be empty, and are closed at the end. None by default.
  public var inherited: [Int32]
  /// Which addresses may be connected to; public ones by default.
  ///
  /// Each is judged before a connection is begun and once more when it stands.
  public var policy: AddressPolicy
  /// Which names' addresses come from here, and which from the system's DNS; all from here by default.
  public var direct: DirectSwitch
  /// Another proxy, through which connections go; none by default.
  ///
  /// Names are looked up here, and it is asked for addresses that were judged, unless ``UpstreamProxy/resolvesNames``: then
  /// names go to it as they are, and nobody here sees which addresses they have.
  public var upstream: UpstreamProxy?
  /// Which names go which way, in place of what ``direct`` and ``upstream`` make of all.
  ///
  /// A name that no rule has goes by the system's DNS where ``direct`` is off for it, else as `*` says, else through
  /// ``upstream`` where there is one.
  public var routes: ProxyRoutes
  /// Which ports may be connected to; 80, 443, and from 1024 by default.
  public var ports: ProxyPorts
  /// Who may use it; anybody by default.
  public var users: ProxyUsers?
  /// The users of this machine, by their numbers, who may connect to Unix sockets; by default whoever the file's mode lets.
  ///
  /// Others are hung up on: the kernel tells whose process a client is.
  public var peers: Set<UInt32>?
  /// What lookups want; the resolver's own ways by default.
  public var lookup: LookupOptions
  /// Its times and sizes.
  public var limits: ProxyLimits
  /// The threads that carry connections; 1 by default, which moves some gigabits a second.
  public var loops: Int
  /// Is told of each request and tunnel when it has ended, on the thread that carried it; nobody by default.
  public var accessLog: (@Sendable (ProxyAccess) -> Void)?
  /// Is told what whoever runs the proxy should know, such as that no file is left for another connection; nobody by default.
  public var notice: (@Sendable (String) -> Void)?
  /// What `/metrics` of the proxy's own says to clients of this machine, in Prometheus's text format; there is none by default.
  public var metrics: (@Sendable () -> String)?

  /// Creates a configuration; every part has a default.
  public init(
    listeners: [ListenAddress] = [.tcp(.ipv4(0x7f00_0001), port: 3128)], inherited: [Int32] = [],
    policy: AddressPolicy = .publicOnly, direct: DirectSwitch = .on,
    upstream: UpstreamProxy? = nil, routes: ProxyRoutes = ProxyRoutes(), ports: ProxyPorts = .web,
    users: ProxyUsers? = nil, peers: Set<UInt32>? = nil,
    lookup: LookupOptions = LookupOptions(), limits: ProxyLimits = ProxyLimits(), loops: Int = 1,
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
    self.loops = loops
    self.accessLog = accessLog
    self.notice = notice
    self.metrics = metrics
  }

  /// Checks the values that only make sense together.
  func validate() throws(DirectDNSError) {
    guard !listeners.isEmpty || !inherited.isEmpty else {
      throw DirectDNSError(.invalidConfiguration, "the proxy listens nowhere: name an address, such as 127.0.0.1:3128")
    }
    for place in listeners { try validateAccess(at: place) }
    guard (1...64).contains(loops) else {
      throw DirectDNSError(
        .invalidConfiguration, "loops: \(loops) is not a number of threads from 1 to 64")
    }
    try validateRoutes()
    guard limits.pooledConnections >= 0, limits.clients > 0, limits.tunnels ?? 1 > 0, limits.headSize >= 1024,
      limits.fieldCount > 0
    else {
      throw DirectDNSError(
        .invalidConfiguration,
        "limits: at least one client, one tunnel, 1024 bytes of a head and one field have to be allowed, and no count is negative"
      )
    }
    let times = [
      limits.headTimeout, limits.idleTimeout, limits.connectTimeout, limits.responseTimeout, limits.tunnelTimeout,
      limits.halfClosedTimeout,
    ]
    guard times.allSatisfy({ $0 > .zero && $0 <= .seconds(30 * 86400) }) else {
      throw DirectDNSError(.invalidConfiguration, "limits: every time has to be more than 0 and at most 30 days")
    }
    // Without any time nothing is kept, and nobody is waited for.
    guard [limits.poolTimeout, limits.drainTimeout].allSatisfy({ $0 >= .zero && $0 <= .seconds(30 * 86400) }) else {
      throw DirectDNSError(
        .invalidConfiguration, "limits: poolTimeout and drainTimeout have to be from 0 to 30 days")
    }
  }

  /// What rules may say, and whom the proxy may go through.
  private func validateRoutes() throws(DirectDNSError) {
    guard let upstream else {
      guard let rule = routes.rules.first(where: { $0.route == .upstream }) else { return }
      throw DirectDNSError(
        .invalidConfiguration,
        "\(rule): there is no upstream proxy to go through: give one (--upstream, proxy.upstream)")
    }
    guard case .address(let address) = upstream.host,
      listeners.contains(where: { $0.leads(from: address, port: upstream.port, machine: []) })
    else { return }
    throw DirectDNSError(
      .invalidConfiguration, "\(upstream): that is where this proxy listens itself: name another one")
  }

  /// Refuses to serve everybody where other machines reach the proxy.
  func validateAccess(at place: ListenAddress) throws(DirectDNSError) {
    guard users == nil, place.isRemote else { return }
    throw DirectDNSError(
      .invalidConfiguration,
      "\(place): other machines reach that address, and whoever reaches it could use the proxy: take 127.0.0.1, or say who may use it (dnsctl proxy: --users FILE or --token @FILE)"
    )
  }
}

/// The ports that may be connected to.
public struct ProxyPorts: Sendable, Hashable, CustomStringConvertible {
  /// The ranges, in the order that they were given in.
  public let ranges: [ClosedRange<UInt16>]

  /// Takes ranges of ports.
  public init(_ ranges: [ClosedRange<UInt16>]) { self.ranges = ranges }

  /// 80, 443, and from 1024: what the web uses, and not a mail server's 25.
  public static let web = ProxyPorts([80...80, 443...443, 1024...65535])

  /// Reads `80,443,8000-8999`.
  ///
  /// - Parameter text: ports and ranges with commas between them.
  /// - Throws: an error of code `invalidConfiguration` that names the wrong part.
  public init(_ text: String) throws(DirectDNSError) {
    var ranges: [ClosedRange<UInt16>] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let ends = part.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        .map { UInt16(port: $0) }
      guard let first = ends.first ?? nil, let last = ends.last ?? nil, first > 0, first <= last else {
        throw DirectDNSError(
          .invalidConfiguration, "\"\(part)\" is neither a port nor a range of ports: write 80,443,8000-8999")
      }
      ranges.append(first...last)
    }
    self.ranges = ranges
  }

  /// Whether a port may be connected to.
  public func allow(_ port: UInt16) -> Bool { ranges.contains { $0.contains(port) } }

  /// As ``init(_:)`` reads it.
  public var description: String {
    ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }.joined(separator: ",")
  }
}

/// What a proxy allows and waits for.
public struct ProxyLimits: Sendable, Hashable {
  /// The clients' connections at a time, tunnels included; 10 000 by default.
  ///
  /// One more is refused by 503.
  public var clients = 10_000
  /// The tunnels at a time: those by CONNECT, by SOCKS and of requests that switch to another protocol, from when they are
  /// asked for; as many as ``clients`` by default.
  ///
  /// One more is refused by 503, behind which its client may go on, or by SOCKS's number. With fewer than ``clients`` there is
  /// room left for plain requests and for whoever watches the proxy, however many tunnels are silent.
  public var tunnels: Int?
  /// The bytes of a request's or a response's head; 64 KiB by default.
  public var headSize = 65_536
  /// The fields of a head; 500 by default.
  public var fieldCount = 500
  /// How long a client may take over a head once it has begun it; 15 s by default.
  public var headTimeout = Duration.seconds(15)
  /// How long a client's connection may stand between two requests; 75 s by default.
  public var idleTimeout = Duration.seconds(75)
  /// How long connecting may take, over all addresses of a name; 5 s by default.
  public var connectTimeout = Duration.seconds(5)
  /// How long an origin may be silent while a response is awaited or on its way; 5 min by default.
  public var responseTimeout = Duration.seconds(300)
  /// How long a tunnel may be silent in both directions; 1 h by default.
  public var tunnelTimeout = Duration.seconds(3600)
  /// The same once one side has said that it sends no more, and an origin's silence once its client has; 5 min by default.
  public var halfClosedTimeout = Duration.seconds(300)
  /// How long a connection to an origin is kept for the next request; 15 s by default.
  ///
  /// Servers keep theirs for as long or longer, so that few requests meet one that has just closed.
  public var poolTimeout = Duration.seconds(15)
  /// The connections that are kept to one origin; 32 by default.
  public var pooledConnections = 32
  /// How long ending waits for requests and tunnels under way; 10 s by default.
  public var drainTimeout = Duration.seconds(10)

  /// Creates limits; every one has a default.
  public init() {}
}
