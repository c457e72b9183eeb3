// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import NIOCore

/// What the connections of one event loop share; used only on its thread.
final class ProxyLoop {
  let eventLoop: any EventLoop
  /// How other threads reach it.
  let entrance: LoopEntrance
  let shared: ProxyShared
  let pool = OriginPool()
  private var clients: [ObjectIdentifier: ClientHandler] = [:]
  /// Tunnels that have ended, while a side still takes what was sent to it.
  private var ending: [ObjectIdentifier: Tunnel] = [:]
  private var sweep: RepeatedTask?
  private var lastCall: Scheduled<Void>?

  init(_ eventLoop: any EventLoop, _ shared: ProxyShared) {
    self.eventLoop = eventLoop
    self.shared = shared
    entrance = LoopEntrance(eventLoop)
  }

  /// When the proxy began to end; nil before that.
  private(set) var drainBegan: NIODeadline?
  /// Whether the proxy is ending.
  var isDraining: Bool { drainBegan != nil }
  private var dated: (second: Int64, text: String) = (.min, "")

  /// The present time as `Date` has it (RFC 9110 §6.6.1), made once a second.
  var date: String {
    let second = shared.resolver.clock.secondsSince1970
    if second != dated.second { dated = (second, HTTPDate.text(secondsSince1970: second)) }
    return dated.text
  }

  /// Starts to check the timeouts once a second: that is enough for limits in seconds, and a silent tunnel costs no
  /// timer.
  func start() {
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    sweep = eventLoop.scheduleRepeatedTask(initialDelay: .seconds(1), delay: .seconds(1)) { _ in
      bound.value.timePassed(.now())
    }
  }

  private func timePassed(_ now: NIODeadline) {
    pool.closeIdle(at: now)
    for client in clients.values { client.timePassed(now) }
  }

  func add(_ client: ClientHandler) { clients[ObjectIdentifier(client)] = client }

  func remove(_ client: ClientHandler) { clients[ObjectIdentifier(client)] = nil }

  func add(_ tunnel: Tunnel) { ending[ObjectIdentifier(tunnel)] = tunnel }

  func remove(_ tunnel: Tunnel) { ending[ObjectIdentifier(tunnel)] = nil }

  /// Closes the connections to origins that wait for a request.
  ///
  /// - Parameters:
  ///   - owned: those in which clients have logged in, and not those that are for everybody.
  ///   - now: the time.
  /// - Returns: how many.
  func closeIdle(owned: Bool, at now: NIODeadline = .now()) -> Int {
    guard owned else { return pool.closeAll() }
    // A login by NTLM takes several requests, and fails if its connection ends between them.
    return clients.values.reduce(0) { $0 + ($1.ownPool?.close(idleFor: OriginPool.recentAge, at: now) ?? 0) }
  }

  /// From now on connections close after their responses.
  func beginDraining(at now: NIODeadline = .now()) { drainBegan = now }

  /// How long a client that has just connected, or got a response, may take to send a request when the proxy ends, and
  /// one that has sent a part of it, to send the rest.
  ///
  /// The request may be on its way, and a client does not expect to lose it. A second is longer than any round trip.
  static let nextRequestTime = TimeAmount.seconds(1)

  /// Closes idle connections; requests and tunnels in progress may end by themselves.
  func drain() {
    pool.closeAll()
    for client in clients.values { client.drain(isLast: false) }
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    let wait = min(Self.nextRequestTime, TimeAmount(shared.settings.limits.drainTimeout / 2))
    lastCall = eventLoop.scheduleTask(in: wait) {
      for client in bound.value.clients.values { client.drain(isLast: true) }
    }
  }

  /// Ends everything.
  func stop() {
    entrance.close()
    sweep?.cancel()
    lastCall?.cancel()
    pool.closeAll()
    for client in clients.values { client.abort() }
    for tunnel in ending.values { tunnel.origin.reset() }
  }
}

/// What all loops of a proxy share.
final class ProxyShared: Sendable {
  let resolver: DirectResolver
  let telemetry: ProxyTelemetry
  let passwords = PasswordQueue()
  /// The addresses of this machine, when the proxy was made.
  let machine: Set<IPAddress>
  let clients = LimitedCount()
  /// Tunnels that are open or being opened.
  let tunnels = LimitedCount()
  /// Identifies it to other proxies.
  let mark = ProxyVia.makeMark()
  private let held: Locked<ProxySettings>
  private let loops = Locked<[NIOLoopBound<ProxyLoop>]>([])

  init(_ resolver: DirectResolver, _ settings: ProxySettings, _ telemetry: ProxyTelemetry = ProxyTelemetry()) {
    self.resolver = resolver
    self.telemetry = telemetry
    machine = MachineAddresses.all
    held = Locked(settings)
  }

  var settings: ProxySettings { held.withLock(\.self) }

  /// Sets the loops that the proxy runs on; none once it has stopped.
  func runs(on loops: [NIOLoopBound<ProxyLoop>]) { self.loops.withLock { $0 = loops } }

  /// An address cannot be connected to: it is tried last from now on, and idle connections to it are closed.
  func died(_ address: IPAddress) {
    resolver.report(.failed, for: address)
    closeIdle(to: address)
  }

  /// Closes the connections to an address that wait for a request, on all loops.
  func closeIdle(to address: IPAddress) {
    // Within the lock, so that none of them can end in between.
    loops.withLock { loops in
      for loop in loops { loop.eventLoop.execute { loop.value.pool.close(to: address) } }
    }
  }

  /// No file is left: closes the connections to origins that wait for a request, on all loops.
  ///
  /// Those in which clients have logged in only if there are no others: such a client has to log in again, but an
  /// origin may end its connection at any time, too.
  ///
  /// - Parameter completion: gets how many were closed, on any thread.
  func closeIdle(_ completion: @escaping @Sendable (Int) -> Void) {
    closeIdle(owned: false) { [self] count in
      count > 0 ? completion(count) : closeIdle(owned: true, completion)
    }
  }

  private func closeIdle(owned: Bool, _ completion: @escaping @Sendable (Int) -> Void) {
    let isNone = loops.withLock { loops in
      let closed = Locked((count: 0, left: loops.count))
      for loop in loops {
        loop.eventLoop.execute {
          let count = loop.value.closeIdle(owned: owned)
          let (all, left) = closed.withLock { closed in
            closed = (closed.count + count, closed.left - 1)
            return closed
          }
          if left == 0 { completion(all) }
        }
      }
      return loops.isEmpty
    }
    if isNone { completion(0) }
  }

  /// Applies another configuration; the listeners stay as they are.
  func update(_ configuration: ProxyConfiguration) {
    held.withLock { settings in
      if let old = settings.configuration.users { configuration.users?.replace(old) }
      settings = ProxySettings(configuration, at: settings.places)
    }
  }

  /// It listens at these places, with the ports that were chosen.
  func listens(at places: [ListenAddress]) {
    held.withLock { $0 = ProxySettings($0.configuration, at: places) }
  }
}

/// A configuration, and where the proxy listens; a class, since each request holds it.
final class ProxySettings: Sendable {
  let configuration: ProxyConfiguration
  /// Where the proxy listens.
  let places: [ListenAddress]

  init(_ configuration: ProxyConfiguration, at places: [ListenAddress] = []) {
    self.configuration = configuration
    self.places = places
  }

  var policy: AddressPolicy { configuration.policy }
  var limits: ProxyLimits { configuration.limits }

  /// A request or a tunnel has ended that began then; nil if no byte of one has come.
  func ended(_ access: ProxyAccess, since began: NIODeadline?, _ telemetry: ProxyTelemetry) {
    var access = access
    if let began { access.duration = Duration(.now() - began) }
    telemetry.ended(access)
    configuration.accessLog?(access)
  }
}
