// SPDX-License-Identifier: Apache-2.0
public import DirectDNS
internal import Logging
internal import NIOCore
internal import NIOPosix
public import ServiceLifecycle

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Darwin)
  internal import Darwin
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
  private let logger = Logger(label: "directdns.proxy")

  private struct Running: Sendable {
    let group: MultiThreadedEventLoopGroup
    let listeners: [any Channel]
    let loops: [NIOLoopBound<ProxyLoop>]
    /// The files of Unix sockets that it made.
    let files: [UnixSocketFile]
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

  /// Whether a descriptor is a socket that listens (socket(7)).
  ///
  /// Checked before SwiftNIO gets it, which never releases a descriptor that it cannot register, nor the event loop.
  private static func checkListens(_ descriptor: Int32) throws(IOError) {
    var listens: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    let status = unsafe getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size)
    guard status == 0 else { throw IOError(errnoCode: errno, reason: "getsockopt") }
    guard listens != 0 else { throw IOError(errnoCode: EINVAL, reason: "getsockopt") }
  }

  /// Checks that enough file descriptors are left for event loops and listeners, and for a client and its origin on
  /// each loop.
  ///
  /// SwiftNIO ends the process if it cannot have those of its loops, and without the others no client could be served.
  private static func checkRoom(_ configuration: ProxyConfiguration) throws(DirectDNSError) {
    var taken: [Int32] = []
    defer { for descriptor in taken { close(descriptor) } }
    for _ in 0..<configuration.loops * filesOfLoop + configuration.listeners.count {
      let descriptor = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else {
        guard errno == EMFILE || errno == ENFILE else { return }
        throw DirectDNSError(
          .cannotListen, "the proxy cannot serve: there are too few files left for it, raise their limit (ulimit -n)")
      }
      taken.append(descriptor)
    }
  }

  /// Three of SwiftNIO's, a client, and its origin.
  private static let filesOfLoop = 5

  /// Begins to listen.
  ///
  /// - Returns: where it listens, with the ports that were chosen for 0.
  /// - Throws: an error of code `cannotListen` or `invalidConfiguration` that names the address and the reason.
  @discardableResult
  public func start() async throws(DirectDNSError) -> [ListenAddress] {
    guard running.withLock({ $0 == nil }) else {
      throw DirectDNSError(.invalidRequest, "the proxy listens already: stop it first")
    }
    let configuration = shared.settings.configuration
    try Self.checkRoom(configuration)
    let group = MultiThreadedEventLoopGroup(numberOfThreads: configuration.loops)
    var loops: [NIOLoopBound<ProxyLoop>] = []
    var listeners: [any Channel] = []
    var places: [ListenAddress] = []
    var files: [UnixSocketFile] = []
    do {
      for eventLoop in group.makeIterator() {
        loops.append(
          try await eventLoop.submit { [shared] in
            let loop = ProxyLoop(eventLoop, shared)
            loop.start()
            return NIOLoopBound(loop, eventLoop: eventLoop)
          }.get())
      }
      shared.runs(on: loops)
      for descriptor in configuration.inherited {
        try Self.checkListens(descriptor)
        listeners.append(try await bootstrap(group, loops).withBoundSocket(descriptor).get())
        guard let place = ListenAddress(listeners.last?.localAddress) else {
          throw IOError(errnoCode: ENOTSOCK, reason: "")
        }
        try configuration.validateAccess(at: place)
        places.append(place)
      }
      for place in configuration.listeners {
        let channel = try await listen(at: place, group, loops, &files)
        listeners.append(channel)
        if case .tcp(let address, _) = place, let port = channel.localAddress?.port {
          places.append(.tcp(address, port: UInt16(port)))
        } else {
          places.append(place)
        }
      }
    } catch {
      shared.runs(on: [])
      for file in files { file.remove() }
      for listener in listeners { try? await listener.close() }
      try? await group.shutdownGracefully()
      if let error = error as? DirectDNSError { throw error }
      let wanted =
        configuration.inherited.map { "the socket with descriptor \($0)" } + configuration.listeners.map(\.description)
      let place = places.count - configuration.inherited.count
      let isUnix =
        if configuration.listeners.indices.contains(place), case .unix = configuration.listeners[place] { true } else {
          false
        }
      throw DirectDNSError(
        .cannotListen, "\(wanted[places.count]): the proxy cannot listen there: \(Self.reason(error, isUnix: isUnix))",
        underlying: error)
    }
    shared.listens(at: places)
    let now = Running(group: group, listeners: listeners, loops: loops, files: files)
    running.withLock { $0 = now }
    logger.debug("the proxy listens", metadata: ["at": "\(places.map(\.description).joined(separator: " "))"])
    return places
  }

  private func bootstrap(
    _ group: MultiThreadedEventLoopGroup, _ loops: [NIOLoopBound<ProxyLoop>]
  ) -> ServerBootstrap {
    ServerBootstrap(group: group)
      .serverChannelOption(.backlog, value: 1024)
      .serverChannelOption(.maxMessagesPerRead, value: 16)
      .serverChannelInitializer { [shared, logger] channel in
        channel.eventLoop.makeCompletedFuture {
          let pause = AcceptPause(shared.clients) { text in
            logger.warning("\(text)")
            shared.settings.configuration.notice?(text)
          }
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

  private func listen(
    at place: ListenAddress, _ group: MultiThreadedEventLoopGroup, _ loops: [NIOLoopBound<ProxyLoop>],
    _ files: inout [UnixSocketFile]
  ) async throws -> any Channel {
    let bootstrap = bootstrap(group, loops)
    switch place {
    case .tcp(let address, let port):
      let target = try SocketAddress(packedIPAddress: ByteBuffer(bytes: address.bytes), port: Int(port))
      return
        try await bootstrap
        .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        .bind(to: target).get()
    case .unix(let path):
      let (socket, file) = try UnixSocketFile.listen(at: path)
      files.append(file)
      return try await bootstrap.withBoundSocket(socket).get()
    }
  }

  /// Why a socket cannot listen, in words.
  static func reason(_ error: any Error, isUnix: Bool) -> String {
    guard let error = error as? IOError else { return "\(error)" }
    return switch error.errnoCode {
    case EADDRINUSE: "another program listens there: choose another \(isUnix ? "path" : "port")"
    case EADDRNOTAVAIL: "this machine has no such address"
    case EACCES: "that is not allowed: choose \(isUnix ? "another folder" : "a port from 1024")"
    case ENOENT: "there is no such folder"
    case ENOTSOCK, EBADF, EINVAL, EOPNOTSUPP:
      "it is not a stream socket that listens: a socket unit wants ListenStream= with an address or a path, and Accept=no"
    default: error.description
    }
  }

  /// Where it listens, with the ports that were chosen; empty before ``start()``.
  public var places: [ListenAddress] { shared.settings.places }

  /// Stops accepting, waits up to ``ProxyLimits/drainTimeout`` for requests and tunnels in progress, and cuts off the
  /// rest.
  ///
  /// It does not wait if its task is cancelled.
  public func stop() async {
    guard
      let running = running.withLock({ running in
        defer { running = nil }
        return running
      })
    else { return }
    for loop in running.loops { try? await loop.eventLoop.submit { loop.value.beginDraining() }.get() }
    for listener in running.listeners { try? await listener.close() }
    // Before draining, since another process may be waiting for the path.
    for file in running.files { file.remove() }
    for loop in running.loops { try? await loop.eventLoop.submit { loop.value.drain() }.get() }
    let end = ContinuousClock.now + shared.settings.limits.drainTimeout
    while shared.clients.value > 0, ContinuousClock.now < end {
      // A cancelled task does not wait.
      do { try await Task.sleep(for: .milliseconds(20)) } catch { break }
    }
    for loop in running.loops { try? await loop.eventLoop.submit { loop.value.stop() }.get() }
    shared.runs(on: [])
    try? await running.group.shutdownGracefully()
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
