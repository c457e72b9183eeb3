// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import Testing

@testable import DirectDNSProxy
@testable import DirectDNSTesting

/// Addresses of another proxy that take connections and close them, as a load balancer does whose servers are gone.
extension UpstreamConnectionTests {
  private static let name = "up.test"

  /// Answers as a proxy that connects.
  private func serve(_ server: RawConnection, _ scheme: String) async throws {
    guard scheme == "socks5" else {
      await server.receive("\r\n\r\n")
      return try await server.send("HTTP/1.1 200 OK\r\n\r\n")
    }
    await server.receive(count: 3)
    try await server.send([5, 0])
    await server.receive(count: 13)
    try await server.send([5, 0, 0, 1, 0, 0, 0, 0, 0, 0])
  }

  @Test(arguments: ["http", "socks5"], [false, true])
  func `an address of it that ends the handshake is followed by the next one`(
    scheme: String, byReset: Bool
  ) async throws {
    let upstream = try await RawListener.start("0.0.0.0")
    let records = RecordTable { $0.add(Self.name, "127.0.0.1", "127.0.0.2") }
    let proxy = try await fixture(upstream, scheme, records: records) { $0.upstream?.host = .name(Self.name) }
    let client = try await proxy.client()
    try await client.send("CONNECT 192.0.2.1:443 HTTP/1.1\r\n\r\n")
    let first = try await upstream.connection()
    await first.receive(count: 3)
    if byReset { try await first.reset() } else { await first.close() }
    let second = try await upstream.connection(1)
    try await serve(second, scheme)
    #expect(await client.receive("\r\n\r\n").hasPrefix("HTTP/1.1 200 "))
    try await second.send("hello")
    #expect(await client.receive("hello").hasSuffix("hello"))
    await proxy.stop()
    await upstream.stop()
  }

  @Test func `an address of its other family is awaited, too`() async throws {
    // It takes connections of both families.
    let upstream = try await RawListener.start("::")
    let records = RecordTable { $0.add(Self.name, "::1", "127.0.0.1") }
    let proxy = try await fixture(upstream, records: records) { $0.upstream?.host = .name(Self.name) }
    proxy.provider.misbehave(.hold, when: { $0.type == .a })
    let client = try await proxy.client()
    try await client.send("CONNECT 192.0.2.1:443 HTTP/1.1\r\n\r\n")
    let first = try await upstream.connection()
    await first.receive("\r\n\r\n")
    await first.close()
    await proxy.provider.waitForHeld()
    proxy.provider.release()
    try await serve(try await upstream.connection(1), "http")
    #expect(await client.receive("\r\n\r\n").hasPrefix("HTTP/1.1 200 "))
    await proxy.stop()
    await upstream.stop()
  }

  @Test func `a target's address for which ssh -D ends the connection is followed by its next one`() async throws {
    let upstream = try await RawListener.start()
    let records = RecordTable { $0.add("www.shop.test", "192.0.2.1", "192.0.2.2") }
    let proxy = try await fixture(upstream, "socks5", records: records)
    let client = try await proxy.client()
    try await client.send("CONNECT www.shop.test:443 HTTP/1.1\r\n\r\n")
    let first = try await upstream.connection()
    await first.receive(count: 3)
    try await first.send([5, 0])
    await first.receive(count: 13)
    await first.close()
    try await serve(try await upstream.connection(1), "socks5")
    #expect(await client.receive("\r\n\r\n").hasPrefix("HTTP/1.1 200 "))
    await proxy.stop()
    await upstream.stop()
  }

  /// Takes SOCKS5's request for `www.shop.test`, and ends the connection.
  private func endTold(_ server: RawConnection) async throws {
    await server.receive(count: 3)
    try await server.send([5, 0])
    await server.receive(count: 23)
    await server.close()
  }

  @Test func `an address of it that closes once it knows a name is followed by the next one`() async throws {
    let upstream = try await RawListener.start("0.0.0.0")
    let records = RecordTable { $0.add(Self.name, "127.0.0.1", "127.0.0.2") }
    let proxy = try await fixture(upstream, "socks5h", records: records) { $0.upstream?.host = .name(Self.name) }
    let client = try await proxy.client()
    try await client.send("CONNECT www.shop.test:443 HTTP/1.1\r\n\r\n")
    try await endTold(try await upstream.connection())
    try await serve(try await upstream.connection(1), "socks5")
    #expect(await client.receive("\r\n\r\n").hasPrefix("HTTP/1.1 200 "))
    #expect(upstream.count == 2)
    await proxy.stop()
    await upstream.stop()
  }

  @Test(arguments: ["127.0.0.1", "0.0.0.0"])
  func `a name for which it ends the connection at each address that takes one is told of`(place: String) async throws {
    let upstream = try await RawListener.start(place)
    let records = RecordTable { $0.add(Self.name, "127.0.0.1", "127.0.0.2") }
    let proxy = try await fixture(upstream, "socks5h", records: records) { $0.upstream?.host = .name(Self.name) }
    let client = try await proxy.client()
    try await client.send("CONNECT www.shop.test:443 HTTP/1.1\r\n\r\n")
    let count = place == "0.0.0.0" ? 2 : 1
    for number in 0..<count { try await endTold(try await upstream.connection(number)) }
    let refusal = await client.receive("\r\n\r\n")
    #expect(refusal.hasPrefix("HTTP/1.1 502 ") && refusal.contains("error=connection_terminated"), "\(refusal)")
    let words = " does not connect to www.shop.test:443: it closed the connection, as ssh -D does"
    #expect(refusal.contains(words), "\(refusal)")
    #expect(upstream.count == count)
    await proxy.stop()
    await upstream.stop()
  }

  @Test func `an address that closes once it knows a name is told of though another one closes at once`() async throws {
    let upstream = try await RawListener.start("0.0.0.0")
    let records = RecordTable { $0.add(Self.name, "127.0.0.1", "127.0.0.2") }
    let proxy = try await fixture(upstream, "socks5h", records: records) { $0.upstream?.host = .name(Self.name) }
    let client = try await proxy.client()
    try await client.send("CONNECT www.shop.test:443 HTTP/1.1\r\n\r\n")
    try await endTold(try await upstream.connection())
    let second = try await upstream.connection(1)
    await second.receive(count: 3)
    await second.close()
    let refusal = await client.receive("\r\n\r\n")
    #expect(refusal.contains(" does not connect to www.shop.test:443: it closed the connection"), "\(refusal)")
    #expect(upstream.count == 2)
    await proxy.stop()
    await upstream.stop()
  }

  @Test func `one that takes no second connection may still connect by the first`() async throws {
    let upstream = try await RawListener.start()
    let records = RecordTable { $0.add("www.shop.test", "192.0.2.1", "192.0.2.2") }
    let proxy = try await fixture(upstream, records: records)
    let client = try await proxy.client()
    try await client.send("CONNECT www.shop.test:443 HTTP/1.1\r\n\r\n")
    let first = try await upstream.connection()
    await first.receive("\r\n\r\n")
    // The race asks for the second address when the first one takes its time.
    let second = try await upstream.connection(1)
    await second.receive("\r\n\r\n")
    await second.close()
    _ = await second.receiveToEnd()
    try await first.send("HTTP/1.1 200 OK\r\n\r\n")
    #expect(await client.receive("\r\n\r\n").hasPrefix("HTTP/1.1 200 "))
    await proxy.stop()
    await upstream.stop()
  }

  @Test(arguments: [("up.test", 2), ("0.0.0.0", 1)])
  func `one all of whose addresses end the handshake is told of, and each was tried once`(
    host: String, count: Int
  ) async throws {
    let upstream = try await RawListener.start("0.0.0.0")
    let records = RecordTable { $0.add(Self.name, "127.0.0.1", "127.0.0.2") }
    let proxy = try await fixture(upstream, records: records) { $0.upstream?.host = try WebURL.Host(host) }
    let client = try await proxy.client()
    try await client.send("CONNECT 192.0.2.1:443 HTTP/1.1\r\n\r\n")
    for number in 0..<count {
      let server = try await upstream.connection(number)
      await server.receive("\r\n\r\n")
      await server.close()
    }
    let refusal = await client.receive("\r\n\r\n")
    #expect(refusal.hasPrefix("HTTP/1.1 502 ") && refusal.contains("error=connection_terminated"), "\(refusal)")
    #expect(upstream.count == count)
    await proxy.stop()
    await upstream.stop()
  }

  @Test func `one that is refused at its other address is told of with both`() async throws {
    let upstream = try await RawListener.start()
    let records = RecordTable { $0.add(Self.name, "127.0.0.1", "127.0.0.2") }
    let proxy = try await fixture(upstream, records: records) { $0.upstream?.host = .name(Self.name) }
    let client = try await proxy.client()
    try await client.send("GET http://192.0.2.1/ HTTP/1.1\r\nHost: x\r\n\r\n")
    let server = try await upstream.connection()
    await server.receive("\r\n\r\n")
    await server.close()
    let refusal = await client.receive(".\n")
    #expect(refusal.hasPrefix("HTTP/1.1 502 ") && refusal.contains("error=connection_refused"), "\(refusal)")
    let words = " cannot be used: 127.0.0.1 closed the connection; up.test:\(upstream.port) cannot be connected to. "
    #expect(refusal.contains(words), "\(refusal)")
    await proxy.stop()
    await upstream.stop()
  }

  @Test(arguments: [("GET", true), ("POST", false)])
  func `a request with the whole URL goes to its next address, too, if it may be sent twice`(
    method: String, isRetried: Bool
  ) async throws {
    let upstream = try await RawListener.start("0.0.0.0")
    let records = RecordTable { $0.add(Self.name, "127.0.0.1", "127.0.0.2") }
    let proxy = try await fixture(upstream, records: records) {
      $0.upstream?.host = .name(Self.name)
      $0.upstream?.resolvesNames = true
    }
    let client = try await proxy.client()
    for round in 0..<(isRetried ? 2 : 1) {
      try await client.send("\(method) http://www.shop.test/ HTTP/1.1\r\nHost: x\r\n\r\n")
      for number in 0..<(isRetried ? 2 : 1) {
        let server = try await upstream.connection(2 * round + number)
        #expect(await server.receive("\r\n\r\n").hasPrefix("\(method) http://www.shop.test/ HTTP/1.1\r\n"))
        // Of the first request the second address makes a response, of the second one neither does.
        if round == 0, number == 1 {
          try await server.send("HTTP/1.1 204 None\r\nConnection: close\r\n\r\n")
        }
        await server.close()
      }
      let said = await client.receive(round == 0 && isRetried ? "\r\n\r\n" : "without a response.")
      #expect(said.hasPrefix("HTTP/1.1 \(round == 0 && isRetried ? 204 : 502) "), "\(said)")
      client.forget()
    }
    #expect(upstream.count == (isRetried ? 4 : 1))
    await proxy.stop()
    await upstream.stop()
  }

  @Test(arguments: [
    ("", "closed the connection without a response"), ("SSH-2.0-x\r\n\r\n", "did not answer with an HTTP response"),
  ])
  func `one that is sent whole URLs is named where it does not answer them`(said: String, words: String) async throws {
    let upstream = try await RawListener.start()
    let proxy = try await fixture(upstream) { $0.upstream?.resolvesNames = true }
    let client = try await proxy.client()
    try await client.send("GET http://www.shop.test/ HTTP/1.1\r\nHost: x\r\n\r\n")
    let server = try await upstream.connection()
    await server.receive("\r\n\r\n")
    if said.isEmpty { await server.close() } else { try await server.send(said) }
    let refusal = await client.receive(".\n")
    #expect(refusal.contains("\r\n\r\nThe upstream proxy http://127.0.0.1:\(upstream.port) \(words)"), "\(refusal)")
    await proxy.stop()
    await upstream.stop()
  }
}
