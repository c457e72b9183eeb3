// SPDX-License-Identifier: Apache-2.0
public import DirectDNS
internal import Dispatch
public import ServiceLifecycle

/// How a ``MetricsEndpoint`` listens.
public struct MetricsEndpointConfiguration: Sendable {
  /// The address to listen on; by default `127.0.0.1`.
  public var address: IPAddress
  /// The port, by default 9464; 0 is any that is free.
  public var port: UInt16
  /// Whether ``address`` may be one that other machines reach; off by default.
  ///
  /// There is no TLS and no password, and metrics tell the names of providers and how much is sent. When it is on,
  /// requests are answered whatever name their `Host` field has.
  public var allowsRemoteClients: Bool
  /// The most connections that are served at a time; 16 by default.
  ///
  /// A further one takes the place of the slowest, which has had at least 100 ms. If the process has no descriptor
  /// left, the slowest is closed; if there is none to close, the endpoint tries again after 100 ms.
  public var connectionLimit: Int
  /// How long a client may take to send its request and to read the reply; 5 s by default.
  public var timeout: Duration

  /// Creates a configuration; every part has a default.
  public init(
    address: IPAddress = .loopback(), port: UInt16 = 9464, allowsRemoteClients: Bool = false,
    connectionLimit: Int = 16, timeout: Duration = .seconds(5)
  ) {
    self.address = address
    self.port = port
    self.allowsRemoteClients = allowsRemoteClients
    self.connectionLimit = connectionLimit
    self.timeout = timeout
  }
}

/// Serves a registry's metrics at `/metrics`, over HTTP/1.1 and by default on loopback, for Prometheus or a person
/// with curl.
///
/// For supervisors and Kubernetes, `/live` answers 200 as long as the process serves at all, and `/ready` 200 or 503,
/// as the process says.
///
/// It runs in a service group, or alone with ``start()`` and ``stop()``. It needs one thread, which sleeps between
/// scrapes.
public final class MetricsEndpoint: Service {
  private let registry: PrometheusRegistry
  private let configuration: MetricsEndpointConfiguration
  private let readiness: @Sendable () -> Readiness
  private let state = Locked(State())

  private struct State {
    var running: Running?
    /// The end of the one that ran before.
    var ending: DispatchGroup?
  }

  private struct Running {
    let port: UInt16
    let wakeUp: EndpointSocket
    let end: DispatchGroup
  }

  /// Creates an endpoint; nothing listens yet.
  ///
  /// - Parameters:
  ///   - registry: the registry whose metrics it serves.
  ///   - configuration: where it listens; every part has a default.
  ///   - readiness: what `/ready` answers; always ready by default. It is called for each request on the endpoint's
  ///     thread, and must not wait.
  /// - Throws: an error of code `invalidConfiguration` if other machines can reach the address and
  ///   ``MetricsEndpointConfiguration/allowsRemoteClients`` is off, or if a limit is not positive.
  public init(
    _ registry: PrometheusRegistry, _ configuration: MetricsEndpointConfiguration = MetricsEndpointConfiguration(),
    readiness: @escaping @Sendable () -> Readiness = { .ready }
  ) throws(DirectDNSError) {
    guard configuration.allowsRemoteClients || configuration.address.isLoopback else {
      throw DirectDNSError(
        .invalidConfiguration,
        "The metrics endpoint would listen on \(configuration.address), where other machines reach it without a password. Use 127.0.0.1 or ::1, or set allowsRemoteClients."
      )
    }
    guard configuration.connectionLimit > 0, configuration.timeout > .zero else {
      throw DirectDNSError(
        .invalidConfiguration, "The metrics endpoint's connectionLimit and timeout must be more than 0.")
    }
    self.registry = registry
    self.configuration = configuration
    self.readiness = readiness
  }

  deinit { _ = end() }

  /// Where the metrics are, such as `http://127.0.0.1:9464/metrics`; nil while it does not listen.
  public var url: String? {
    let address = configuration.address
    return state.withLock { $0.running?.port }.map { port in "http://\(address.bracketed):\(port)/metrics" }
  }

  /// Listens, and serves on a thread of its own; if it already does, nothing changes.
  ///
  /// A run that is ending may still have the port, and is waited for.
  ///
  /// - Throws: an error of code `cannotListen` if it cannot listen at that address and port.
  public func start() async throws(DirectDNSError) {
    await wait(for: state.withLock { $0.running == nil ? $0.ending : nil })
    try state.withLock { state throws(DirectDNSError) in
      guard state.running == nil else { return }
      guard let (reading, writing) = EndpointSocket.wakeUp() else {
        throw DirectDNSError(
          .cannotListen, "The metrics endpoint could get no descriptors. \(EndpointSocket.descriptorAdvice)")
      }
      let listener: (socket: EndpointSocket, port: UInt16)
      do throws(DirectDNSError) {
        listener = try EndpointSocket.listen(on: configuration.address, port: configuration.port)
      } catch {
        reading.close()
        writing.close()
        throw error
      }
      let end = DispatchGroup()
      state = State(running: Running(port: listener.port, wakeUp: writing, end: end))
      let server = ScrapeServer(registry, configuration, readiness, listener: listener.socket, wakeUp: reading)
      let queue = DispatchQueue(label: "directdns.metrics")
      queue.async(group: end) { server.run() }
    }
  }

  /// Stops listening, and ends requests under way.
  ///
  /// On return the port is free and the endpoint's thread has ended. A scrape that is being written is waited for,
  /// without blocking a thread. An endpoint that is released ends too, but nobody waits for it.
  public func stop() async { await wait(for: end()) }

  /// Has the thread end; what to wait for, if it ever began.
  private func end() -> DispatchGroup? {
    state.withLock { state in
      if let running = state.running {
        // The server sees the end of its pipe, and closes what it has.
        running.wakeUp.close()
        state = State(ending: running.end)
      }
      return state.ending
    }
  }

  private func wait(for end: DispatchGroup?) async {
    guard let end else { return }
    await withCheckedContinuation { continuation in
      end.notify(queue: .global()) { continuation.resume() }
    }
  }

  /// Serves until the service group shuts down.
  ///
  /// - Throws: as ``start()``.
  public func run() async throws {
    try await start()
    try? await gracefulShutdown()
    await stop()
  }
}
