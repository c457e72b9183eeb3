// SPDX-License-Identifier: Apache-2.0
import CoreMetrics
import DirectDNS
import HTTPTypes
import Logging
import ServiceLifecycle
import Testing

@testable import DirectDNSPrometheus

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

@Suite(.timeLimit(.minutes(1)))
struct MetricsEndpointTests {
  private let registry = PrometheusRegistry()

  private func start(
    _ change: (inout MetricsEndpointConfiguration) -> Void = { _ in }
  ) async throws -> (endpoint: MetricsEndpoint, url: String, port: UInt16) {
    var configuration = MetricsEndpointConfiguration(port: 0)
    change(&configuration)
    let endpoint = try MetricsEndpoint(registry, configuration)
    try await endpoint.start()
    let url = try #require(endpoint.url)
    return (endpoint, url, try WebURL(url).effectivePort)
  }

  @Test func `no socket blocks, nor is one left to a program that is started`() throws {
    let (listener, port) = try EndpointSocket.listen(on: .ipv4(0x7f00_0001), port: 0)
    let client = try Client(port)
    defer { withExtendedLifetime(client) {} }
    let (reading, writing) = try #require(EndpointSocket.wakeUp())
    _ = EndpointSocket.wait(for: [.init(socket: listener, isWriting: false)], atMost: 10_000)
    guard case .connection(let accepted) = listener.accept() else {
      Issue.record("nobody was accepted")
      return
    }
    for socket in [listener, accepted, reading, writing] {
      #expect(fcntl(socket.descriptor, F_GETFD) & FD_CLOEXEC != 0)
      #expect(fcntl(socket.descriptor, F_GETFL) & O_NONBLOCK != 0)
      socket.close()
    }
  }

  @Test(.enabled(if: Tool.curl != nil, "needs curl"))
  func `curl gets the metrics, on IPv4 and on IPv6`() async throws {
    Counter(label: "cats_total", factory: registry).increment()
    for address in [IPAddress.ipv4(0x7f00_0001), .ipv6(high: 0, low: 1)] {
      guard let (endpoint, url, _) = try? await start({ $0.address = address }) else {
        // A machine may be without IPv6.
        #expect(address.family == .ipv6)
        continue
      }
      let (status, said) = try Tool.run(try #require(Tool.curl), ["-sSi", "--noproxy", "*", url])
      #expect(status == 0 && said.hasPrefix("HTTP/1.1 200 OK\r\n") && said.contains("\ncats_total 1\n"), "\(said)")
      await endpoint.stop()
    }
  }

  @Test(
    arguments: [
      (EADDRINUSE, "Choose another port."), (EACCES, "Choose another port."),
      (EADDRNOTAVAIL, "Choose an address that this machine has, such as 127.0.0.1."),
      (EMFILE, "Raise the limit of open files (ulimit -n)."),
    ])
  func `what helps where it cannot listen depends on the reason`(code: Int32, advice: String) {
    #expect(EndpointSocket.advice(on: code) == advice)
  }

  @Test func `our own client gets them too`() async throws {
    let (endpoint, url, _) = try await start()
    var configuration = DirectClientConfiguration()
    configuration.policy = .any
    let client = try DirectClient(configuration, resolver: DirectResolver(ResolverConfiguration(providers: [])))
    for _ in 0..<3 {
      let response = try await client.execute(.init(method: .get, url: WebURL(url)))
      #expect(try await response.body.collect(upTo: 100_000) == Array(registry.text().utf8))
    }
    await client.shutdown()
    await endpoint.stop()
  }

  @Test func `a request may come in pieces, and what is no request is refused`() async throws {
    let (endpoint, _, port) = try await start()
    let whole = "HEAD /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"
    let client = try Client(port)
    for byte in whole.utf8 { client.send([byte]) }
    #expect(client.rest().hasPrefix("HTTP/1.1 200 OK\r\n"))
    let other = try Client(port)
    other.send(Array("EHLO localhost\r\n\r\n".utf8))
    #expect(other.rest().hasPrefix("HTTP/1.1 400 "))
    let large = try Client(port)
    large.send([UInt8](repeating: UInt8(ascii: "x"), count: 100_000))
    #expect(large.rest().hasPrefix("HTTP/1.1 431 "))
    await endpoint.stop()
  }

  @Test func `a client that is slow is cut off, and keeps its place from others no longer`() async throws {
    let (endpoint, _, port) = try await start {
      $0.timeout = .seconds(1)
      $0.connectionLimit = 1
    }
    let slow = try Client(port)
    slow.send(Array("GET /metrics".utf8))
    // Nobody else has come who could have taken its place: its time is over.
    #expect(slow.rest() == "")
    let next = try Client(port)
    next.send(Array("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
    #expect(next.rest().hasPrefix("HTTP/1.1 200 "))
    await endpoint.stop()
  }

  @Test func `clients that hold all places keep nobody waiting`() async throws {
    // They could stay for longer than the test may take.
    let (endpoint, _, port) = try await start { $0.timeout = .seconds(600) }
    let silent = try (0..<40).map { number in
      let client = try Client(port)
      if number.isMultiple(of: 2) { client.send(Array("GET /metrics".utf8)) }
      return client
    }
    for _ in 0..<3 {
      let scrape = try Client(port)
      scrape.send(Array("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
      #expect(scrape.rest().hasPrefix("HTTP/1.1 200 "))
    }
    #expect(silent[0].rest() == "")
    await endpoint.stop()
  }

  @Test func `one that has stopped listens no more and can start again, and a port that is taken is told`()
    async throws
  {
    let (endpoint, url, port) = try await start()
    let error = await #expect(throws: DirectDNSError.self) { try await start { $0.port = port } }
    #expect(error?.code == .cannotListen && error?.message.contains("\(port)") == true)
    try await endpoint.start()
    #expect(endpoint.url == url)
    await endpoint.stop()
    await endpoint.stop()
    #expect(endpoint.url == nil)
    try await endpoint.start()
    #expect(endpoint.url != nil)
    await endpoint.stop()
  }

  @Test func `when it has stopped its port is free, for itself and for others`() async throws {
    let (endpoint, _, port) = try await start()
    await endpoint.stop()
    let again = try MetricsEndpoint(registry, MetricsEndpointConfiguration(port: port))
    for _ in 0..<50 {
      try await again.start()
      #expect(again.url != nil)
      await again.stop()
      #expect(again.url == nil)
      let (other, _, _) = try await start { $0.port = port }
      await other.stop()
    }
  }

  @Test func `as a service it has stopped when it ends`() async throws {
    let (first, _, port) = try await start()
    await first.stop()
    let endpoint = try MetricsEndpoint(registry, MetricsEndpointConfiguration(port: port))
    for _ in 0..<20 {
      let running = Task { try await endpoint.run() }
      // Which returns when it listens, whoever had it do so.
      try await endpoint.start()
      running.cancel()
      try await running.value
      #expect(endpoint.url == nil)
      let (other, _, _) = try await start { $0.port = port }
      await other.stop()
    }
  }

  @Test func `the readiness may have the endpoint stopped that asks it`() async throws {
    let stopped = Locked<MetricsEndpoint?>(nil)
    let stopping = Locked<Task<Void, Never>?>(nil)
    let endpoint = try MetricsEndpoint(registry, MetricsEndpointConfiguration(port: 0)) {
      let endpoint = stopped.withLock { $0 }
      stopping.withLock { $0 = Task { await endpoint?.stop() } }
      return .ready
    }
    stopped.withLock { $0 = endpoint }
    try await endpoint.start()
    let client = try Client(try WebURL(try #require(endpoint.url)).effectivePort)
    client.send(Array("GET /ready HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
    _ = client.rest()
    await stopping.withLock { $0 }?.value
    #expect(endpoint.url == nil)
    try await endpoint.start()
    #expect(endpoint.url != nil)
    await endpoint.stop()
    stopped.withLock { $0 = nil }
  }

  @Test func `an address that others reach has to be allowed`() async throws {
    let configuration = MetricsEndpointConfiguration(address: .ipv4(0), port: 0)
    let error = try #require(throws: DirectDNSError.self) { try MetricsEndpoint(registry, configuration) }
    #expect(error.code == .invalidConfiguration && error.message.contains("allowsRemoteClients"))
    let (endpoint, _, port) = try await start {
      $0.address = .ipv4(0)
      $0.allowsRemoteClients = true
    }
    let client = try Client(port)
    client.send(Array("GET /metrics HTTP/1.1\r\nHost: machine.example:9464\r\n\r\n".utf8))
    #expect(client.rest().hasPrefix("HTTP/1.1 200 "))
    await endpoint.stop()
  }

  @Test(arguments: [(0, Duration.seconds(1)), (-1, .seconds(1)), (1, .zero)])
  func `limits must be positive`(_ limit: Int, _ timeout: Duration) {
    let configuration = MetricsEndpointConfiguration(connectionLimit: limit, timeout: timeout)
    let error = #expect(throws: DirectDNSError.self) { try MetricsEndpoint(registry, configuration) }
    #expect(error?.code == .invalidConfiguration && error?.message.contains("connectionLimit") == true)
  }

  @Test func `as a service it serves until its group shuts down`() async throws {
    let endpoint = try MetricsEndpoint(registry, MetricsEndpointConfiguration(port: 0))
    let services: [ServiceGroupConfiguration.ServiceConfiguration] = [
      .init(service: endpoint),
      .init(service: Ender(endpoint: endpoint), successTerminationBehavior: .gracefullyShutdownGroup),
    ]
    try await ServiceGroup(configuration: .init(services: services, logger: Logger(label: "test"))).run()
    #expect(endpoint.url == nil)
  }

  /// Ends its group once the endpoint listens.
  private struct Ender: Service {
    let endpoint: MetricsEndpoint

    func run() async throws {
      try await endpoint.start()
      _ = try #require(endpoint.url)
    }
  }
}
