// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSTesting
import Testing

@Suite(.timeLimit(.minutes(1)))
struct FakeNameServerTests {
  private func query(_ name: String, id: UInt16 = 1, payload: UInt16? = nil) throws -> [UInt8] {
    DNSMessage(
      id: id, questions: [DNSQuestion(name: try #require(DNSName(name)), type: .a)],
      edns: payload.map { DNSMessage.EDNS(payloadSize: $0) }
    ).encoded()
  }

  private func udp(_ server: FakeNameServer, _ name: String, payload: UInt16? = nil) async throws
    -> DNSMessage
  {
    try DNSMessage(
      decoding: await DNSSocket.udp(query(name, payload: payload), port: server.port))
  }

  private func tcp(_ server: FakeNameServer, _ name: String) async throws -> DNSMessage? {
    let bytes = DNSSocket.framed(try query(name))
    let reply = try await DNSSocket.tcp(bytes, port: server.port, replies: 1).first
    return try reply.map { try DNSMessage(decoding: $0) }
  }

  private func withServer(
    records: RecordTable = .sample, _ body: (FakeNameServer) async throws -> Void
  ) async throws {
    let server = try await FakeNameServer.start(records: records)
    do { try await body(server) } catch {
      await server.stop()
      throw error
    }
    await server.stop()
  }

  @Test func `it answers over UDP and TCP on one port, and records both`() async throws {
    try await withServer { server async throws in
      #expect(server.serverAddress == "127.0.0.1:\(server.port)")
      let datagram = try await udp(server, "shop.example.com")
      #expect(datagram.id == 1 && datagram.answers.map(\.type) == [.cname, .a, .a])
      #expect(try await tcp(server, "www.example.com")?.answers.count == 2)
      #expect(server.queries.map(\.transport) == [.udp, .tcp])
      #expect(server.queries.map(\.name) == ["shop.example.com", "www.example.com"])
      #expect(server.queries.map(\.number) == [1, 2] && server.queries.first?.type == .a)
    }
  }

  @Test func `a question of another class is refused`() async throws {
    try await withServer { server async throws in
      var query = DNSMessage(questions: [DNSQuestion(name: try #require(DNSName("www.example.com")), type: .a)])
      query.questions[0].recordClass = 3
      let reply = try DNSMessage(decoding: await DNSSocket.udp(query.encoded(), port: server.port))
      #expect(reply.responseCode == .refused && reply.answers.isEmpty && reply.questions == query.questions)
    }
  }

  @Test func `several queries on one connection are answered in order`() async throws {
    try await withServer { server async throws in
      let bytes = try DNSSocket.framed(query("a.test", id: 7)) + DNSSocket.framed(query("b.test", id: 8))
      let replies = try await DNSSocket.tcp(bytes, port: server.port, replies: 2)
      #expect(try replies.map { try DNSMessage(decoding: $0).id } == [7, 8])
    }
  }

  @Test func `an unknown name is NXDOMAIN with an SOA`() async throws {
    try await withServer { server async throws in
      let reply = try await udp(server, "unknown.test")
      #expect(reply.responseCode == .nameError && reply.authorities.first?.type == .soa)
    }
  }

  @Test func `an answer too large for the client's datagrams is truncated`() async throws {
    let many = (1...40).map { IPAddress.ipv4(0xC000_0200 + $0) }
    try await withServer(records: RecordTable { $0.add("many.test", many) }) { server async throws in
      #expect(try await udp(server, "many.test").isTruncated)
      #expect(try await udp(server, "many.test", payload: 4096).answers.count == 40)
      #expect(try await tcp(server, "many.test")?.answers.count == 40)
    }
  }

  @Test func `truncation on demand leaves TCP whole`() async throws {
    try await withServer { server async throws in
      server.misbehave(.truncated)
      let datagram = try await udp(server, "www.example.com")
      #expect(datagram.isTruncated && datagram.answers.isEmpty)
      let whole = try #require(try await tcp(server, "www.example.com"))
      #expect(!whole.isTruncated && whole.answers.count == 2)
    }
  }

  @Test func `a dropped query is recorded and not answered`() async throws {
    try await withServer { server async throws in
      server.misbehave(.drop, times: 1)
      let reply = try await DNSSocket.udp(
        query("www.example.com", id: 1), query("www.example.com", id: 2), port: server.port)
      #expect(try DNSMessage(decoding: reply).id == 2)
      #expect(server.queries.count == 2)
    }
  }

  @Test func `a held answer comes when it is released`() async throws {
    try await withServer { server async throws in
      server.misbehave(.hold)
      async let reply = udp(server, "www.example.com")
      #expect(await server.waitForQueries())
      server.release()
      #expect(try await reply.answers.count == 2)
    }
  }

  @Test func `an answer can be late, failed, another's, or no message`() async throws {
    try await withServer { server async throws in
      server.misbehave(.delay(.milliseconds(1)), .responseCode(.serverFailure), times: 1)
      server.misbehave(.wrongID, .ttl(0), times: 1)
      server.misbehave(.wrongQuestion, times: 1)
      server.misbehave(.garbage, times: 1)
      let failed = try await udp(server, "www.example.com")
      #expect(failed.responseCode == .serverFailure && failed.answers.isEmpty)
      let other = try await udp(server, "www.example.com")
      #expect(other.id == 1 ^ 0x5555 && other.answers.map(\.ttl) == [0, 0])
      #expect(try await udp(server, "www.example.com").questions.map(\.description) == ["wrong.test. A"])
      await #expect(throws: DNSMessageError.self) { _ = try await udp(server, "www.example.com") }
      #expect(try await udp(server, "www.example.com").answers.count == 2)
    }
  }

  @Test func `a connection can be closed instead of answered`() async throws {
    try await withServer { server async throws in
      server.misbehave(.close, when: { $0.transport == .tcp })
      #expect(try await tcp(server, "www.example.com") == nil)
    }
  }

  @Test func `a stopped server can be started again on its port`() async throws {
    let first = try await FakeNameServer.start(records: .sample)
    await first.stop()
    await first.stop()
    let second = try await FakeNameServer.start(records: .sample, port: first.port)
    #expect(try await udp(second, "www.example.com").answers.count == 2)
    await second.stop()
  }
}
