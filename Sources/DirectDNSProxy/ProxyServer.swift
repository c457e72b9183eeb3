// SPDX-License-Identifier: Apache-2.0
public import DirectDNS
internal import Logging
internal import NIOCore
internal import NIOPosix
public import ServiceLifecycle

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// A forward proxy, which brings DirectDNS to programs in any language and to browsers.
///
/// It speaks HTTP/1.1 and HTTP/1.0 (absolute-form requests, CONNECT, Upgrade), SOCKS5, SOCKS4 and SOCKS4a on one port.
/// A `DirectResolver` looks names up and is told which addresses could be connected to; every address is checked
/// against the policy.
///
/// It runs in a service group, or alone with ``start()`` and ``stop()``.
public final class ProxyServer: Service {
  let shared: ProxyShared
  private let running = Locked<Running?>(nil)
  /// Whether somebody stops it who does not wait for what is under way.
  private let isHurried = Locked(false)
  /// Whether it has had inherited sockets, which it closes at its end.
  private let hasInherited = Locked(false)
  /// Starting and stopping wait for one another.
  private let turns = Turns()
  private let logger = Logger(label: "directdns.proxy")

  private struct Running: Sendable {
    let group: MultiThreadedEventLoopGroup
    var loops: [NIOLoopBound<ProxyLoop>] = []
    var listeners: OpenListeners?
  }

  /// Creates a proxy; nothing listens yet.
  ///
  /// - Parameters:
  ///   - configuration: how it serves; every part has a default.
  ///   - resolver: resolves names; the caller shuts it down.
  /// - Throws: an error of code `invalidConfiguration` if a part cannot be used, for example if other machines can
  ///   reach an address and there are no users.
  public convenience init(
    _ configuration: ProxyConfiguration = ProxyConfiguration(), resolver: DirectDNS.DirectResolver
  ) throws(DirectDNSError) {
    try self.init(configuration, resolver: resolver, ProxyTelemetry())
  }

  init(
    _ configuration: ProxyConfiguration, resolver: DirectDNS.DirectResolver, _ telemetry: ProxyTelemetry
  ) throws(DirectDNSError) {
    try configuration.validate()
    shared = ProxyShared(resolver, ProxySettings(configuration), telemetry)
  }

  /// Applies another configuration; requests and tunnels in progress keep the one that they began with.
  ///
  /// The listeners and the number of threads stay as they are.
  ///
  /// - Parameter configuration: the new configuration.
  /// - Throws: as ``init(_:resolver:)``; then the old configuration stays in force.
  public func update(_ configuration: ProxyConfiguration) throws(DirectDNSError) {
    try check(configuration)
    shared.update(configuration)
  }

  /// Checks whether a configuration could be applied, without applying it.
  package func check(_ configuration: ProxyConfiguration) throws(DirectDNSError) {
    try configuration.validate()
    for place in places { try configuration.validateAccess(at: place) }
  }

  /// Checks that enough file descriptors are left for event loops and listeners, and for a client and its origin on
  /// each loop.
  ///
  /// SwiftNIO ends the process if it cannot have those of its loops, and without the others no client could be served.
  private static func checkRoom(_ configuration: ProxyConfiguration) throws(DirectDNSError) {
    var taken: [Int32] = []
    defer { for descriptor in taken { close(descriptor) } }
    // Of a socket that was handed over the proxy keeps a second one (`OpenListeners`).
    let listeners = configuration.listeners.count + configuration.inherited.count
    for _ in 0..<configuration.threads * filesOfLoop + listeners {
      let descriptor = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else {
        guard errno == EMFILE || errno == ENFILE else { return }
        throw DirectDNSError(
          .cannotListen, "The proxy cannot serve: there are too few files left for it. Raise their limit (ulimit -n).")
      }
      taken.append(descriptor)
    }
  }

  /// Three of SwiftNIO's, a client, and its origin.
  private static let filesOfLoop = 5

  /// Begins to listen, once a stop that is under way has ended.
  ///
  /// - Returns: where it listens, with the ports that were chosen for 0.
  /// - Throws: an error of code `cannotListen` or `invalidConfiguration` that names the address and the reason, or of
  ///   `invalidRequest` if it listens already.
  @discardableResult
  public func start() async throws(DirectDNSError) -> [ListenAddress] {
    await turns.take()
    defer { turns.leave() }
    guard running.withLock({ $0 == nil }) else {
      throw DirectDNSError(.invalidRequest, "The proxy listens already: stop it first.")
    }
    isHurried.withLock { $0 = false }
    let configuration = shared.settings.configuration
    // Their descriptors may be other files by now.
    guard configuration.inherited.isEmpty || !hasInherited.withLock(\.self) else {
      throw DirectDNSError(
        .cannotListen, "The proxy has closed the sockets that it inherited: make another ProxyServer, with new ones.")
    }
    try Self.checkRoom(configuration)
    var now = Running(group: MultiThreadedEventLoopGroup(numberOfThreads: configuration.threads))
    do throws(DirectDNSError) {
      now.loops = try await startLoops(of: now.group)
      shared.runs(on: now.loops)
      let listeners = OpenListeners(notice: notice) { [self, group = now.group, loops = now.loops] in
        bootstrap(group, loops)
      }
      now.listeners = listeners
      for listener in ProxyListener.all(of: configuration) {
        let place = try await listeners.open(listener)
        if case .inherited = listener { hasInherited.withLock { $0 = true } }
        try configuration.validateAccess(at: place)
      }
    } catch {
      shared.runs(on: [])
      await now.listeners?.close()
      try? await now.group.shutdownGracefully()
      throw error
    }
    let places = now.listeners?.places ?? []
    shared.listens(at: places)
    running.withLock { [now] in $0 = now }
    // Nobody is accepted before it is known that all of this is allowed: an inherited socket has its first client already.
    now.listeners?.accept()
    logger.debug("the proxy listens", metadata: ["at": "\(places.map(\.description).joined(separator: " "))"])
    return places
  }

  private func startLoops(
    of group: MultiThreadedEventLoopGroup
  ) async throws(DirectDNSError) -> [NIOLoopBound<ProxyLoop>] {
    var loops: [NIOLoopBound<ProxyLoop>] = []
    do {
      for eventLoop in group.makeIterator() {
        loops.append(
          try await eventLoop.submit { [shared] in
            let loop = ProxyLoop(eventLoop, shared)
            loop.start()
            return NIOLoopBound(loop, eventLoop: eventLoop)
          }.get())
      }
    } catch {
      throw DirectDNSError(.cannotListen, "The proxy's threads cannot serve: \(error).", underlying: error)
    }
    return loops
  }

  /// Tells the operator something.
  private var notice: @Sendable (String) -> Void {
    { [shared, logger] text in
      logger.warning("\(text)")
      shared.settings.configuration.notice?(text)
    }
  }

  private func bootstrap(
    _ group: MultiThreadedEventLoopGroup, _ loops: [NIOLoopBound<ProxyLoop>]
  ) -> ServerBootstrap {
    ServerBootstrap(group: group)
      .serverChannelOption(.backlog, value: 1024)
      .serverChannelOption(.maxMessagesPerRead, value: 16)
      .serverChannelOption(.autoRead, value: false)
      .serverChannelInitializer { [shared, notice] channel in
        channel.eventLoop.makeCompletedFuture {
          let pause = AcceptPause(
            shared.clients, release: { completion in shared.closeIdle(completion) }, notice: notice)
          try channel.pipeline.syncOperations.addHandler(pause)
        }
      }
      .childChannelInitializer { [shared] channel in
        let isUnix = channel.localAddress?.protocol == .unix
        let serve = { @Sendable in
          channel.eventLoop.makeCompletedFuture {
            guard let loop = loops.first(where: { $0.eventLoop === channel.eventLoop }) else { return }
            if !isUnix { try channel.syncOptions?.setOption(.tcpOption(.tcp_nodelay), value: 1) }
            try channel.carry(by: ClientHandler(loop.value))
          }
        }
        // SwiftNIO closes the connection of a client that may not connect, before a byte of it is read.
        guard isUnix, let peers = shared.settings.configuration.peers else { return serve() }
        return PeerUser.check(channel, isOneOf: peers).flatMap(serve)
      }
  }

  /// Where it listens, with the ports that were chosen; empty before ``start()`` and after ``stop()``.
  public var places: [ListenAddress] { shared.settings.places }

  /// Stops accepting, waits up to ``ProxyLimits/drainTimeout`` for requests and tunnels in progress, and cuts off the
  /// rest.
  ///
  /// A start that is under way ends first, and so does another stop: when this returns nothing listens. It does not wait
  /// for requests and tunnels if its task is cancelled, and nor does that other stop then.
  public func stop() async {
    await withTaskCancellationHandler {
      await turns.take()
      await stopInTurn()
      turns.leave()
    } onCancel: {
      isHurried.withLock { $0 = true }
    }
  }

  private func stopInTurn() async {
    guard let running = running.withLock({ $0.take() }) else { return }
    for loop in running.loops { try? await loop.eventLoop.submit { loop.value.beginDraining() }.get() }
    await running.listeners?.close()
    for loop in running.loops { try? await loop.eventLoop.submit { loop.value.drain() }.get() }
    let end = ContinuousClock.now + shared.settings.limits.drainTimeout
    // A tunnel may be without its client, while its origin still takes what that has sent.
    while shared.clients.value > 0 || shared.tunnels.value > 0, ContinuousClock.now < end,
      !isHurried.withLock(\.self)
    {
      do { try await Task.sleep(for: .milliseconds(20)) } catch { break }
    }
    for loop in running.loops { try? await loop.eventLoop.submit { loop.value.stop() }.get() }
    shared.runs(on: [])
    try? await running.group.shutdownGracefully()
    // Requests had to know the places until now. A configuration that comes next is not checked against them.
    shared.listens(at: [])
  }

  /// Serves until its group shuts down or its task is cancelled.
  ///
  /// - Throws: as ``start()``.
  public func run() async throws {
    try await start()
    try? await gracefulShutdown()
    await stop()
  }
}
