// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTPTypes
import Testing

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

@testable import DirectDNS
@testable import DirectDNSTesting

/// How a client uses its connections, and what may share one.
@Suite(.timeLimit(.minutes(1)))
struct ClientConnectionsTests {
  let authority: TestCertificateAuthority
  private let file: CAFile

  init() throws {
    authority = try TestCertificateAuthority()
    file = try authority.makeFile()
  }

  func client(_ change: (inout DirectClientConfiguration) -> Void = { _ in }) throws -> DirectClient {
    try ClientSample.client(names: ["shop.test": ["127.0.0.1"], "other.test": ["127.0.0.1"]]) {
      $0.trust = TrustStore(privateAuthorities: [file.path], environment: [:])
      change(&$0)
    }
  }

  private func secure(
    _ change: (inout FakeOriginConfiguration) -> Void = { _ in },
    handler: @escaping FakeOrigin.Handler = OriginResponse.echo
  ) async throws -> FakeOrigin {
    var configuration = FakeOriginConfiguration(identity: try authority.issue(names: ["shop.test", "other.test"]))
    change(&configuration)
    return try await FakeOrigin.start(configuration: configuration, handler: handler)
  }

  @Test func `a redirect whose body never ends keeps its connection for a moment alone`() async throws {
    let gate = Gate()
    let origin = try await FakeOrigin.start { request in
      guard request.path == "/old" else { return OriginResponse(body: "new") }
      return OriginResponse(.found, fields: [.location: "/new"], length: 100) { writer in
        try await writer.write("abc")
        try await gate.pass()
      }
    }
    // The next request has no other connection to go out on.
    let client = try client { $0.connections = 1 }
    let response = try await client.execute(ClientSample.get(origin.url("/old", host: "shop.test")))
    #expect(try await response.body.text() == "new")
    gate.open()
    await client.shutdown()
    await origin.stop()
  }

  @Test func `a redirect within an origin is followed on its connection, once the rest of its body has come`()
    async throws
  {
    let gate = Gate()
    let origin = try await FakeOrigin.start { request in
      guard request.path == "/old" else { return OriginResponse(body: "new") }
      return OriginResponse(.found, fields: [.location: "/new"]) { writer in
        try await writer.write("abc")
        try await gate.pass()
      }
    }
    let client = try client()
    let times = Locked([ContinuousClock.Instant]())
    let options = RequestOptions(observer: { event in
      switch event {
      case .redirected, .sending: times.withLock { $0.append(.now) }
      default: break
      }
      if case .redirected = event { gate.open() }
    })
    let response = try await client.execute(ClientSample.get(origin.url("/old", host: "shop.test")), options: options)
    #expect(try await response.body.text() == "new")
    let moments = times.withLock { $0 }
    try #require(moments.count == 3)
    // A machine that takes longer than that for the rest of the body gets another connection.
    let isLate = moments[2] - moments[1] >= .milliseconds(400)
    #expect(origin.connectionCount == 1 && response.connection.isReused || isLate)
    await client.shutdown()
    await origin.stop()
  }

  @Test func `neither Host nor cookies of one request are found in another`() async throws {
    let origin = try await FakeOrigin.start()
    let client = try client()
    let fields: [HTTPFields] = [
      [.hostField: "evil.test", .cookie: "secret=1", .authorization: "Bearer x"], [:], [.cookie: "own=2"], [:],
    ]
    for (number, fields) in fields.enumerated() {
      for host in ["shop.test", "other.test"] {
        let response = try await client.execute(ClientSample.get(origin.url("/\(number)", host: host), fields))
        _ = try await response.body.text()
      }
    }
    #expect(
      origin.requests.map(\.host).suffix(6)
        == (0..<3).flatMap { _ in ["shop.test", "other.test"].map { "\($0):\(origin.port)" } })
    #expect(
      origin.requests.map { $0.fields[.cookie] } == ["secret=1", "secret=1", nil, nil, "own=2", "own=2", nil, nil])
    #expect(origin.requests.filter { $0.fields.contains(.authorization) }.count == 2)
    #expect(origin.requests.filter { $0.fields[values: .init("Host") ?? .via].count == 1 }.count == 8)
    await client.shutdown()
    await origin.stop()
  }

  @Test func `names with one address do not share a connection over TLS`() async throws {
    let origin = try await secure()
    let client = try client()
    for host in ["shop.test", "other.test", "shop.test"] {
      _ = try await client.execute(ClientSample.get(origin.url("/", host: host))).body.text()
    }
    #expect(origin.connections.map(\.serverName) == ["shop.test", "other.test"])
    await client.shutdown()
    await origin.stop()
  }

  @Test func `a burst over HTTP/2 opens one connection for each fifty requests`() async throws {
    let gate = Gate()
    var configuration = FakeOriginConfiguration(identity: try authority.issue(names: ["shop.test"]))
    configuration.maxConcurrentStreams = 100
    let origin = try await FakeOrigin.start(configuration: configuration) { _ in
      try await gate.pass()
      return OriginResponse()
    }
    let client = try client()
    let url = origin.url("/", host: "shop.test")
    try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<120 {
        group.addTask { try await client.execute(ClientSample.get(url)).connection.httpVersion.major }
      }
      await gate.waitForArrivals(120)
      #expect(origin.connectionCount == 3)
      gate.open()
      for try await version in group { #expect(version == 2) }
    }
    await client.shutdown()
    await origin.stop()
  }

  @Test func `a server that takes fewer streams than we thought gets more connections, and every request its answer`()
    async throws
  {
    let origin = try await secure { $0.maxConcurrentStreams = 7 }
    let client = try client()
    let url = origin.url("/", host: "shop.test")
    try await withThrowingTaskGroup(of: HTTPResponse.Status.self) { group in
      for _ in 0..<200 { group.addTask { try await client.execute(ClientSample.get(url)).status } }
      for try await status in group { #expect(status == .ok) }
    }
    #expect(origin.connectionCount <= 64)
    await client.shutdown()
    await origin.stop()
  }

  @Test(arguments: [
    (HTTPVersionChoice.automatic, [HTTPProtocolVersion.http2, .http1], 2), (.automatic, [.http1], 1),
    (.http1, [.http2, .http1], 1), (.http2, [.http2, .http1], 2),
  ])
  func `the version is what both speak`(_ choice: HTTPVersionChoice, _ offered: [HTTPProtocolVersion], _ version: Int)
    async throws
  {
    let origin = try await secure { $0.httpVersions = offered }
    let client = try client { $0.httpVersion = choice }
    let response = try await client.execute(ClientSample.get(origin.url("/", host: "shop.test")))
    #expect(response.connection.httpVersion.major == version)
    await client.shutdown()
    await origin.stop()
  }

  @Test func `a head that HTTP/2 has no room for goes out over HTTP/1.1`() async throws {
    let origin = try await secure { $0.httpVersions = [.http2, .http1] }
    let client = try client()
    var request = try ClientSample.get(origin.url("/", host: "shop.test"))
    for (length, version) in [(1_000, 2), (66_000, 1)] {
      request.headerFields[.accept] = String(repeating: "a", count: length)
      let response = try await client.execute(request)
      #expect(response.connection.httpVersion.major == version)
      _ = try await response.body.collect(upTo: 1 << 20)
    }
    #expect(origin.requests.map { $0.fields[.accept]?.utf8.count } == [1_000, 66_000])
    await client.shutdown()
    await origin.stop()
  }

  // libcurl 7.88 puts a request onto a busy connection of HTTP/1.1 where another one to that address speaks HTTP/2.
  @Test func `a request goes onto no busy connection of HTTP/1.1, whatever else is spoken there`() async throws {
    let gate = Gate()
    let origin = try await secure {
      $0.httpVersions = [.http2, .http1]
    } handler: { request in
      if request.path == "/held" { try await gate.pass() }
      return OriginResponse(body: request.path)
    }
    let client = try client()
    let held = Task {
      try await client.get(origin.url("/held", host: "shop.test"), options: RequestOptions(httpVersion: .http1)).body
        .text()
    }
    await gate.waitForArrivals(1)
    for number in 0..<4 {
      let response = try await client.get(origin.url("/\(number)", host: "shop.test"))
      #expect(response.connection.httpVersion == .http2)
      #expect(try await response.body.text() == "/\(number)")
    }
    gate.open()
    #expect(try await held.value == "/held")
    await client.shutdown()
    await origin.stop()
  }

  @Test func `at most so many connections are open to a name, and requests start in the order of their arrival`()
    async throws
  {
    let gate = Gate()
    let origin = try await FakeOrigin.start { _ in
      try await gate.pass()
      return OriginResponse()
    }
    let client = try client { $0.connectionsPerOrigin = 2 }
    var tasks: [Task<Void, any Error>] = []
    for number in 0..<20 {
      let request = try ClientSample.get(origin.url("/\(number)", host: "shop.test"))
      tasks.append(Task.immediate { _ = try await client.execute(request).body.text() })
    }
    await gate.waitForArrivals(2)
    #expect(origin.connectionCount == 2)
    gate.open()
    for task in tasks { try await task.value }
    #expect(origin.connectionCount == 2)
    // On each connection they come in their order; how far one gets ahead of the other is the scheduler's business.
    let orders = Dictionary(grouping: origin.requests, by: \.connection).mapValues { requests in
      requests.compactMap { Int($0.path.dropFirst()) }
    }
    for order in orders.values { #expect(order == order.sorted(), "\(orders)") }
    #expect(Set(orders.values.compactMap(\.first)) == [0, 1] && orders.values.joined().count == 20)
    await client.shutdown()
    await origin.stop()
  }

  @Test func `an address with a live connection is used again, and a rotation costs no handshake`() async throws {
    let first = try await FakeOrigin.start()
    let second = try await FakeOrigin.start(
      configuration: FakeOriginConfiguration(address: try #require(IPAddress("127.0.0.2")), port: first.port))
    let client = try ClientSample.client(names: ["shop.test": ["127.0.0.1", "127.0.0.2"]])
    for _ in 0..<40 {
      _ = try await client.execute(ClientSample.get(first.url("/", host: "shop.test"))).body.text()
    }
    #expect(first.connectionCount + second.connectionCount == 1)
    await client.shutdown()
    await first.stop()
    await second.stop()
  }

  @Test(arguments: [false, true])
  func `TLS is as new as was asked for, with a proxy too`(_ isProxy: Bool) async throws {
    let server = try await secure {
      $0.offersTLS13 = false
      $0.httpVersions = [.http1]
    }
    let url = try WebURL(server.url("/", host: "shop.test"))
    func client(_ least: TLSVersion) throws -> DirectClient {
      try self.client {
        $0.minimumTLS = least
        if isProxy { $0.proxy = .url(url) }
      }
    }
    let asked = isProxy ? "http://other.test/" : url.href
    let strict = try client(.v13)
    let error = await #expect(throws: DirectDNSError.self) { try await strict.get(asked) }
    #expect(error?.code == .tlsFailed && server.requests.isEmpty)
    let usual = try client(.v12)
    #expect(try await usual.get(asked).status == .ok)
    await strict.shutdown()
    await usual.shutdown()
    await server.stop()
  }

  #if canImport(Glibc)
    /// How long the kernel waits for an acknowledgement, of each socket of this process for which that was set.
    private static var silenceLimits: [CInt] {
      (CInt(3)..<1_024).compactMap { socket in
        var value: CInt = 0
        var size = socklen_t(MemoryLayout<CInt>.size)
        let isRead = unsafe getsockopt(socket, CInt(IPPROTO_TCP), TCP_USER_TIMEOUT, &value, &size) == 0
        return isRead && value > 0 ? value : nil
      }
    }

    @Test func `the kernel gives a connection up after 20 s, and not before the time to make it is over`() async throws
    {
      let origin = try await FakeOrigin.start()
      let place = try #require(LoopbackListener())
      let (listener, port) = (place.descriptor, place.port)
      let client = try client { $0.timeouts.connect = .milliseconds(41_234) }
      let silent = Task { try await client.get("https://shop.test:\(port)/") }
      // Its connection is established only when TLS is.
      let connection = await withCheckedContinuation { continuation in
        Thread { continuation.resume(returning: accept(listener, nil, nil)) }.start()
      }
      #expect(Self.silenceLimits.contains(42_234))
      silent.cancel()
      _ = await silent.result
      close(connection)
      close(listener)
      _ = try await client.execute(ClientSample.get(origin.url("/", host: "shop.test"))).body.text()
      #expect(!Self.silenceLimits.contains(42_234) && Self.silenceLimits.contains(20_000))
      await client.shutdown()
      await origin.stop()
    }
  #endif
}
