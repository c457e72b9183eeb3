// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSProxy
@testable import DirectDNSTesting
import Dispatch
import Foundation
import Testing

@Suite("A proxy for requests in the clear", .timeLimit(.minutes(1)))
struct ProxyServerTests {
  static func whole(_ body: String, _ fields: String = "") -> String {
    "HTTP/1.1 200 OK\r\n\(fields)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
  }

  @Test func `a request goes to its origin, and its response comes back`() async throws {
    let origin = try await RawListener.start()
    let proxy = try await ProxyFixture()
    let client = try await proxy.client()
    try await client.send(
      "GET http://127.0.0.1:\(origin.port)/a?b HTTP/1.1\r\nHost: other\r\nProxy-Connection: keep-alive\r\nX: y\r\n\r\n")
    let server = try await origin.connection()
    #expect(await server.receive("\r\n\r\n") == "GET /a?b HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\nX: y\r\n\r\n")
    try await server.send("HTTP/1.1 201 Made\r\nConnection: keep-alive\r\nContent-Length: 4\r\nZ: 1\r\n\r\nbody")
    #expect(await client.receiveUndated("body") == "HTTP/1.1 201 Made\r\nContent-Length: 4\r\nZ: 1\r\n\r\nbody")
    let access = try #require(await proxy.accesses(1).first)
    #expect(access.kind == .http)
    #expect(access.status == 201)
    #expect(access.origin == "127.0.0.1:\(origin.port)")
    #expect(access.path == "/a")
    #expect(access.sent == 4)
    await proxy.stop()
    await origin.stop()
  }

  @Test(arguments: [("", true), ("Date: Mon, 01 Jan 2024 00:00:00 GMT\r\n", false)])
  func `a response without a date gets the time at which it came`(line: String, isAdded: Bool) async throws {
    let clock = ManualClock()
    let origin = try await RawListener.start()
    let proxy = try await ProxyFixture(clock: clock)
    let client = try await proxy.client()
    let added = "Date: \(HTTPDate.text(secondsSince1970: clock.secondsSince1970))\r\n"
    try await client.send("GET /live HTTP/1.1\r\nHost: x\r\n\r\n")
    #expect(await client.receive("live\n").contains(added))
    client.forget()
    try await client.send("GET http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\n\r\n")
    let server = try await origin.connection()
    await server.receive("\r\n\r\n")
    try await server.send("HTTP/1.1 204 No\r\n\(line)\r\n")
    #expect(await client.receive("\r\n\r\n") == "HTTP/1.1 204 No\r\n\(isAdded ? added : line)\r\n")
    await proxy.stop()
    await origin.stop()
  }

  @Test func `OPTIONS about the proxy itself is answered by it`() async throws {
    let proxy = try await ProxyFixture()
    let client = try await proxy.client()
    try await client.send("OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\nGET /live HTTP/1.1\r\nHost: x\r\n\r\n")
    let received = await client.receive("live\n")
    #expect(received.hasPrefix("HTTP/1.1 200 OK\r\n") && received.contains("Allow: GET, HEAD, POST,"), "\(received)")
    #expect(received.contains("Content-Length: 0\r\n"))
    await proxy.stop()
  }

  @Test func `a name that is denied is no address that is`() async throws {
    let proxy = try await ProxyFixture(
      records: RecordTable { $0.add("inside.test", "10.0.0.1") },
      policy: AddressPolicy(.publicOnly, deniedSuffixes: [try HostName("bad.test")]))
    for (host, error) in [("a.bad.test", "http_request_denied"), ("inside.test", "destination_ip_prohibited")] {
      let client = try await proxy.client()
      try await client.send("GET http://\(host)/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
      let refusal = await client.receiveToEnd()
      #expect(refusal.hasPrefix("HTTP/1.1 403 ") && refusal.contains("error=\(error)\r\n"), "\(refusal)")
    }
    #expect(await proxy.accesses(2).map(\.error) == ["http_request_denied", "destination_ip_prohibited"])
    await proxy.stop()
  }

  @Test func `a connection serves several requests, and so does the one to the origin`() async throws {
    let origin = try await RawListener.start()
    let proxy = try await ProxyFixture()
    let client = try await proxy.client()
    let request = "GET http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\n\r\n"
    for number in 0..<3 {
      try await client.send(request)
      let server = try await origin.connection()
      await server.receive("\r\n\r\n")
      server.forget()
      try await server.send(Self.whole("answer \(number)"))
      await client.receive("answer \(number)")
    }
    #expect(origin.count == 1)
    await proxy.stop()
    await origin.stop()
  }

  @Test func `requests that come at once are answered in order`() async throws {
    let origin = try await FakeOrigin.start { request in OriginResponse(body: "[\(request.path)]") }
    let proxy = try await ProxyFixture()
    let client = try await proxy.client()
    let requests = (0..<20).map { "GET http://127.0.0.1:\(origin.port)/\($0) HTTP/1.1\r\nHost: x\r\n\r\n" }
    try await client.send(requests.joined())
    let received = await client.receive("[/19]")
    let order = (0..<20).compactMap { received.range(of: "[/\($0)]")?.lowerBound }
    #expect(order.count == 20 && order == order.sorted())
    await proxy.stop()
    await origin.stop()
  }

  @Test func `a request behind one that cannot be sent is answered, too`() async throws {
    let proxy = try await ProxyFixture()
    let client = try await proxy.client()
    // Nobody listens there.
    let request = "GET http://127.0.0.1:1025/ HTTP/1.1\r\nHost: x\r\n\r\n"
    try await client.send(request + request + "GET /live HTTP/1.1\r\nHost: x\r\n\r\n")
    let received = await client.receive("live\n")
    #expect(received.components(separatedBy: "HTTP/1.1 502 ").count == 3)
    await proxy.stop()
  }

  /// What is refused, and told of, before the client hears of it.
  @Test(arguments: [
    "CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: x\r\n\r\n", "GET http://127.0.0.1:22/ HTTP/1.1\r\nHost: x\r\n\r\n",
  ])
  func `a client that goes while it is told something takes what it asked for next with it`(
    _ refused: String
  ) async throws {
    let isTold = Watched(false)
    let hasGone = DispatchSemaphore(value: 0)
    let proxy = try await ProxyFixture(records: RecordTable { $0.add("next.test", "127.0.0.1") }) {
      $0.accessLog = { _ in
        // The proxy's thread waits until there is nobody to write to any more: its flush finds that out.
        guard !isTold.value else { return }
        isTold.change { $0 = true }
        hasGone.wait()
      }
    }
    let client = try await proxy.client()
    try await client.send(refused + "GET http://next.test:1025/ HTTP/1.1\r\nHost: x\r\n\r\n")
    await isTold.wait { $0 }
    try await client.reset()
    hasGone.signal()
    let other = try await proxy.client()
    try await other.send("GET /live HTTP/1.1\r\nHost: x\r\n\r\n")
    #expect(await other.receive("live\n").hasPrefix("HTTP/1.1 200 "))
    #expect(proxy.provider.requests.isEmpty)
    await proxy.stop()
  }

  // The second one waits for its client before it says more.
  @Test(arguments: ["SSH-2.0-OpenSSH\r\n\r\n", "220 mail.test ESMTP\r\n"])
  func `what is no response is told as such`(greeting: String) async throws {
    let origin = try await RawListener.start()
    let proxy = try await ProxyFixture()
    let client = try await proxy.client()
    try await client.send(
      "GET http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\nAccept: application/json\r\n\r\n")
    let server = try await origin.connection()
    await server.receive("\r\n\r\n")
    try await server.send(greeting)
    let received = await client.receive("}\n")
    #expect(received.hasPrefix("HTTP/1.1 502 Bad Gateway: 127.0.0.1:\(origin.port) did not answer "), "\(received)")
    #expect(received.contains("\"error\":\"http_protocol_error\""))
    await proxy.stop()
    await origin.stop()
  }

  @Test func `a WebSocket becomes a tunnel, and no byte behind the switch is lost`() async throws {
    let origin = try await RawListener.start()
    let proxy = try await ProxyFixture()
    let client = try await proxy.client()
    try await client.send(
      "GET ws://127.0.0.1:\(origin.port)/s HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nearly"
    )
    let server = try await origin.connection()
    #expect(await server.receive("\r\n\r\n").contains("Connection: Upgrade\r\nUpgrade: websocket\r\n"))
    try await server.send("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhello")
    #expect(await client.receive("hello").hasPrefix("HTTP/1.1 101 "))
    #expect(await server.receive("early").hasSuffix("early"))
    try await client.send("ping")
    await server.receive("ping")
    await client.close()
    _ = await server.receiveToEnd()
    await server.close()
    #expect(await proxy.accesses(1).first?.kind == .upgrade)
    await proxy.stop()
    await origin.stop()
  }

  @Test func `a slow reader holds the sender back`() async throws {
    let origin = try await RawListener.start()
    let proxy = try await ProxyFixture()
    let client = try await proxy.client()
    let size = 64 << 20
    try await client.send("GET http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\n\r\n")
    let server = try await origin.connection()
    await server.receive("\r\n\r\n")
    try await client.pause()
    try await server.send("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n")
    // The kernel's buffers and the proxy's own take some; the rest stays with the server until somebody reads.
    let part = Array(repeating: UInt8(ascii: "a"), count: 1 << 20)
    for _ in 0..<size >> 20 { server.post(part) }
    // It stands still when other requests go through and nothing of it moves.
    let other = try await FakeOrigin.start()
    var (held, rounds) = (await server.unsentCount, 0)
    while rounds < 20 {
      let visitor = try await proxy.client()
      try await visitor.send("GET http://127.0.0.1:\(other.port)/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
      _ = await visitor.receiveToEnd()
      let count = await server.unsentCount
      rounds = count == held ? rounds + 1 : 0
      held = count
    }
    #expect(held > size / 2)
    try await client.resume()
    await client.receive(count: size)
    #expect(client.receivedCount > size)
    #expect(await server.unsentCount == 0)
    await other.stop()
    await proxy.stop()
    await origin.stop()
  }
}
