// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import HTTPTypes
import Logging
import ServiceLifecycle
import Testing

@testable import DirectDNS

@Suite(.timeLimit(.minutes(1)))
struct DirectClientTests {
  @Test func `a request goes to the name's address, with the name in Host, and comes back whole`() async throws {
    let origin = try await FakeOrigin.start()
    let client = try ClientSample.client()
    let response = try await client.execute(
      ClientSample.get(origin.url("/a?b=c", host: "shop.test"), [.accept: "text/plain"]))
    #expect(response.status == .ok && response.url.href == origin.url("/a?b=c", host: "shop.test"))
    #expect(response.connection.remoteAddress == IPAddress("127.0.0.1") && response.connection.httpVersion == .http1_1)
    #expect(!response.connection.isReused && response.freshness == .fresh && response.hops.isEmpty)
    let sent = try await response.body.text()
    #expect(
      sent
        == "GET /a?b=c HTTP/1.1\r\nHost: shop.test:\(origin.port)\r\nAccept: text/plain\r\nUser-Agent: DirectDNS\r\n\r\n"
    )
    let again = try await client.execute(ClientSample.get(origin.url("/", host: "shop.test")))
    #expect(again.connection.isReused)
    _ = try await again.body.text()
    #expect(origin.connectionCount == 1)
    await client.shutdown()
    await origin.stop()
  }

  @Test func `over TLS the name is verified, and HTTP/2 is spoken`() async throws {
    let authority = try TestCertificateAuthority()
    let origin = try await FakeOrigin.start(
      configuration: FakeOriginConfiguration(identity: try authority.issue(names: ["shop.test"])))
    let file = try authority.makeFile()
    let client = try ClientSample.client(names: ["shop.test": ["127.0.0.1"], "other.test": ["127.0.0.1"]]) {
      $0.trust = TrustStore(privateAuthorities: [file.path], environment: [:])
    }
    try await withThrowingTaskGroup(of: Int.self) { group in
      for number in 0..<120 {
        group.addTask {
          let response = try await client.execute(ClientSample.get(origin.url("/\(number)", host: "shop.test")))
          #expect(try await response.body.text().contains("GET /\(number) "))
          return response.connection.httpVersion.major
        }
      }
      for try await version in group { #expect(version == 2) }
    }
    #expect(origin.connectionCount <= 3)
    let error = await #expect(throws: DirectDNSError.self) {
      try await client.execute(ClientSample.get(origin.url("/", host: "other.test")))
    }
    #expect(error?.code == .tlsFailed)
    await client.shutdown()
    await origin.stop()
  }

  @Test(arguments: [10, 100_000, 3_000_000]) func `a body of bytes arrives as it is`(_ size: Int) async throws {
    let origin = try await FakeOrigin.start()
    let client = try ClientSample.client()
    let body = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    var request = try ClientSample.get(origin.url("/", host: "shop.test"))
    request.method = .post
    _ = try await client.execute(request, body: .bytes(body)).body.collect(upTo: 1 << 30)
    _ = try await client.execute(request, body: .stream(Pieces(bytes: body))).body.collect(upTo: 1 << 30)
    _ = try await client.execute(request, body: .stream(Pieces(bytes: body), length: Int64(size))).body.collect(
      upTo: 1 << 30)
    #expect(origin.requests.map(\.body) == [body, body, body])
    #expect(origin.requests.map { $0.fields[.contentLength] } == ["\(size)", nil, "\(size)"])
    await client.shutdown()
    await origin.stop()
  }

  @Test func `redirects are followed, with their history`() async throws {
    let origin = try await FakeOrigin.start { request in
      request.path == "/old" ? OriginResponse(.found, fields: [.location: "/new"]) : OriginResponse(body: "here")
    }
    let client = try ClientSample.client()
    let response = try await client.execute(ClientSample.get(origin.url("/old", host: "shop.test")))
    #expect(try await response.body.text() == "here")
    #expect(response.hops.map(\.head.status) == [.found] && response.url.path == "/new")
    await client.shutdown()
    await origin.stop()
  }

  @Test(arguments: [true, false])
  func `a head that nobody takes is refused before it is sent`(isURL: Bool) async throws {
    let origin = try await FakeOrigin.start()
    let client = try ClientSample.client()
    let long = String(repeating: "a", count: 1_000_000)
    var request = try ClientSample.get(origin.url(isURL ? "/" + long : "/", host: "shop.test"))
    if !isURL { request.headerFields[.accept] = long }
    let error = await #expect(throws: DirectDNSError.self) { try await client.execute(request) }
    #expect(error?.code == .invalidRequest && error?.message.contains("1000000 are the most") == true)
    #expect(origin.requests.isEmpty)
    await client.shutdown()
    await origin.stop()
  }

  @Test func `an address that refuses is replaced by the next one`() async throws {
    let origin = try await FakeOrigin.start()
    let client = try ClientSample.client(names: ["shop.test": ["127.0.0.2", "127.0.0.3", "127.0.0.1"]])
    for _ in 0..<3 {
      let response = try await client.execute(ClientSample.get(origin.url("/", host: "shop.test")))
      #expect(response.connection.remoteAddress == IPAddress("127.0.0.1"))
      _ = try await response.body.text()
    }
    await client.shutdown()
    await origin.stop()
  }

  @Test func `a forbidden address is never dialled`() async throws {
    let origin = try await FakeOrigin.start()
    let client = try ClientSample.client(policy: .publicOnly)
    let error = await #expect(throws: DirectDNSError.self) {
      try await client.execute(ClientSample.get(origin.url("/", host: "shop.test")))
    }
    #expect(error?.code == .addressForbidden && origin.connectionCount == 0)
    await client.shutdown()
    await origin.stop()
  }
}

/// Bytes in pieces of a thousand.
struct Pieces: AsyncSequence, Sendable {
  let bytes: [UInt8]

  struct Iterator: AsyncIteratorProtocol {
    var left: ArraySlice<UInt8>

    mutating func next() async -> [UInt8]? {
      guard !left.isEmpty else { return nil }
      defer { left = left.dropFirst(1000) }
      return Array(left.prefix(1000))
    }
  }

  func makeAsyncIterator() -> Iterator { Iterator(left: bytes[...]) }
}

/// How a client ends.
@Suite(.timeLimit(.minutes(1)))
struct DirectClientServiceTests {
  @Test func `a service group ends the client after those who use it`() async throws {
    let origin = try await FakeOrigin.start()
    let client = try ClientSample.client()
    let url = origin.url("/", host: "shop.test")
    let group = ServiceGroup(
      services: [client, Sender(client: client, url: url)],
      logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
    let running = Task { try await group.run() }
    await origin.waitForRequests(1)
    await group.triggerGracefulShutdown()
    try await running.value
    #expect(origin.requests.count == 2)
    let error = await #expect(throws: DirectDNSError.self) { try await client.execute(ClientSample.get(url)) }
    #expect(error?.code == .shutDown)
    await origin.stop()
  }

  /// Sends a request now and one when it is told to end.
  private struct Sender: Service {
    let client: DirectClient
    let url: String

    func run() async throws {
      _ = try await client.execute(ClientSample.get(url)).body.text()
      try await gracefulShutdown()
      _ = try await client.execute(ClientSample.get(url)).body.text()
    }
  }

  @Test func `those under way finish, and then nothing is left`() async throws {
    let gate = Gate()
    let origin = try await FakeOrigin.start { _ in
      try await gate.pass()
      return OriginResponse(body: "done")
    }
    let client = try ClientSample.client()
    let request = try ClientSample.get(origin.url("/", host: "shop.test"))
    let running = Task { try await client.execute(request).body.text() }
    await gate.waitForArrivals(1)
    let ending = Task.immediate { await client.shutdown() }
    gate.open()
    #expect(try await running.value == "done")
    await ending.value
    #expect(await origin.waitForOpenConnections(0))
    await origin.stop()
  }

  @Test func `a service whose task is cancelled ends at once, and what is under way with it`() async throws {
    let gate = Gate()
    let origin = try await FakeOrigin.start { _ in
      try await gate.pass()
      return OriginResponse()
    }
    let client = try ClientSample.client()
    let request = try ClientSample.get(origin.url("/", host: "shop.test"))
    let running = Task { try await client.execute(request) }
    await gate.waitForArrivals(1)
    let service = Task { try await client.run() }
    service.cancel()
    try await service.value
    let error = await #expect(throws: DirectDNSError.self) { try await running.value }
    #expect(error?.code == .shutDown)
    gate.open()
    await origin.stop()
  }

  @Test func `those who take too long are ended`() async throws {
    let gate = Gate()
    let origin = try await FakeOrigin.start { _ in
      try await gate.pass()
      return OriginResponse()
    }
    let client = try ClientSample.client { $0.connections = 1 }
    let request = try ClientSample.get(origin.url("/", host: "shop.test"))
    let tasks = (0..<3).map { _ in Task { try await client.execute(request) } }
    await gate.waitForArrivals(1)
    await client.shutdown(within: .milliseconds(10))
    for task in tasks {
      let error = await #expect(throws: DirectDNSError.self) { try await task.value }
      #expect(error?.code == .shutDown)
    }
    await origin.stop()
  }
}
