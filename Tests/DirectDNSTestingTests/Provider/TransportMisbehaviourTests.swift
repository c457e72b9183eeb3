// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSTesting
import HTTPTypes
import NIOCore
import NIOPosix
import Testing

/// What goes wrong below the body, seen by curl.
@Suite(.timeLimit(.minutes(1)))
struct TransportMisbehaviourTests {
  private let path = "/resolve?name=www.example.com"

  /// curl's exit status for one request over each version of HTTP.
  private func exit(_ version: String, _ misbehaviour: Misbehaviour, times: Int? = nil) async throws -> Int32 {
    try await withSecureProvider { server, ca async throws in
      server.misbehave(misbehaviour, times: times)
      return try await Curl.run(version, "--cacert", ca, server.url(path)).exit
    }
  }

  @Test(arguments: [
    (Misbehaviour.close, [52 as Int32, 56]), (.reset, [35, 56]), (.truncatedBody, [18]),
    (.refuseStream, [52, 56]), (.goAway(processed: true), [52, 56]),
  ])
  func `an HTTP/1.1 connection can break in these ways`(what: Misbehaviour, codes: [Int32]) async throws {
    #expect(try await codes.contains(exit("--http1.1", what)))
  }

  @Test(arguments: [
    (Misbehaviour.close, [18 as Int32, 52, 55, 56]), (.reset, [55, 56]), (.truncatedBody, [18, 92]),
    (.goAway(processed: true), [18, 56, 92]),
  ])
  func `an HTTP/2 connection can break in these ways`(what: Misbehaviour, codes: [Int32]) async throws {
    let code = try await exit("--http2", what)
    // curl 8 may notice it while it writes.
    let version = try await Curl.run("--version")
    let mayFailWriting = !(version.head + version.text).hasPrefix("curl 7.")
    #expect(codes.contains(code) || mayFailWriting && code == 55, "curl's exit status was \(code)")
  }

  @Test(arguments: [
    ("--http1.1", Misbehaviour.chunked), ("--http1.1", .truncatedBody), ("--http1.1", .holdBody),
    ("--http1.1", .drip(every: .zero)), ("--http2", .chunked), ("--http2", .truncatedBody), ("--http2", .holdBody),
    ("--http2", .drip(every: .zero)), ("--http2", .goAway(processed: true)),
  ])
  func `a status that only announces a response is the last word`(version: String, what: Misbehaviour) async throws {
    for status in [100, 103] {
      try await withSecureProvider { server, ca async throws in
        server.misbehave(.status(status, body: "no body"), what)
        let reply = try await Curl.run(version, "--cacert", ca, server.url(path))
        #expect(reply.status == status && reply.exit != 0 && !reply.text.contains("no body"))
      }
    }
  }

  @Test func `a refused stream may be asked again, and curl does`() async throws {
    try await withSecureProvider { server, ca async throws in
      server.misbehave(.refuseStream, times: 1)
      #expect(try await Curl.run("--cacert", ca, server.url(path)).status == 200)
      #expect(server.requests.count == 2)
    }
  }

  @Test func `a refused stream is reset with REFUSED_STREAM`() async throws {
    try await withSecureProvider { server, _ async throws in
      server.misbehave(.refuseStream)
      let frames = try await HTTP2Wire.get(path, port: server.port, until: HTTP2Wire.reset)
      let reset = try #require(frames.last { $0.type == HTTP2Wire.reset })
      #expect(reset.stream == 1 && reset.number(at: 0) == 7)
    }
  }

  @Test(arguments: [(true, 1 as UInt32), (false, 0)])
  func `GOAWAY names the last stream that was processed`(isProcessed: Bool, last: UInt32) async throws {
    try await withSecureProvider { server, _ async throws in
      server.misbehave(.goAway(processed: isProcessed))
      let frames = try await HTTP2Wire.get(path, port: server.port, until: HTTP2Wire.goAway)
      let goAway = try #require(frames.last { $0.type == HTTP2Wire.goAway })
      #expect(goAway.stream == 0 && goAway.number(at: 0) == last && goAway.number(at: 4) == 0)
      // HEADERS are type 1, DATA type 0.
      #expect(frames.map(\.type).filter { $0 < 2 } == (isProcessed ? [1, 0] : []))
      #expect(await server.waitForOpenConnections(0))
    }
  }

  @Test func `a plain connection can be reset`() async throws {
    try await withProvider { server async throws in
      server.misbehave(.reset)
      #expect(try await Curl.run(server.url(path)).exit == 56)
    }
  }

  @Test func `a held answer comes when it is released`() async throws {
    try await withProvider { server async throws in
      server.misbehave(.hold, .status(503))
      async let reply = Curl.run(server.url(path))
      await server.waitForHeld()
      #expect(server.heldCount == 1 && server.openConnectionCount == 1)
      server.release()
      #expect(try await reply.status == 503)
      #expect(server.heldCount == 0)
    }
  }

  @Test func `a held body begins before it is released`() async throws {
    try await withSecureProvider { server, ca async throws in
      server.misbehave(.holdBody)
      async let reply = Curl.run("--cacert", ca, server.url(path))
      await server.waitForHeld()
      server.release()
      #expect(try await reply.json["Status"] as? Int == 0)
    }
  }

  @Test func `an exchange that hangs ends when the client goes`() async throws {
    try await withProvider { server async throws in
      server.misbehave(.hang)
      let client = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .connect(host: "127.0.0.1", port: server.port).get()
      try await client.writeAndFlush(ByteBuffer(string: "GET \(path) HTTP/1.1\r\nHost: a.test\r\n\r\n"))
      await server.waitForRequests()
      #expect(server.openConnectionCount == 1)
      try await client.close()
      #expect(await server.waitForOpenConnections(0))
    }
  }

  @Test func `a mute server accepts, and says nothing`() async throws {
    try await withSecureProvider { server, ca async throws in
      server.isMute = true
      #expect(try await Curl.run("--max-time", "0.2", "--cacert", ca, server.url(path)).exit == 28)
      await server.waitForConnections()
      #expect(server.connectionCount == 1 && server.requests.isEmpty)
      server.isMute = false
      #expect(try await Curl.run("--cacert", ca, server.url(path)).status == 200)
    }
  }

  @Test func `a delayed answer is late`() async throws {
    try await withProvider { server async throws in
      server.misbehave(.delay(.seconds(10)), times: 1)
      server.misbehave(.delay(.milliseconds(1)))
      #expect(try await Curl.run("--max-time", "0.2", server.url(path)).exit == 28)
      #expect(try await Curl.run(server.url(path)).status == 200)
    }
  }

  @Test func `a dripping body arrives whole, or is cut by the client's timeout`() async throws {
    try await withProvider { server async throws in
      server.misbehave(.drip(bytes: 50, every: .milliseconds(1)), times: 1)
      server.misbehave(.drip(bytes: 1, every: .seconds(5)))
      #expect(try await Curl.run(server.url(path)).json["Status"] as? Int == 0)
      let cut = try await Curl.run("--max-time", "0.2", server.url(path))
      #expect(cut.exit == 28 && cut.body.isEmpty)
    }
  }

  @Test func `the first misbehaviour that fits decides, for as many requests as it was given`() async throws {
    try await withProvider { server async throws in
      server.misbehave(.status(500), times: 1)
      server.misbehave(.status(502), when: { $0.name == "six.example.com" })
      server.misbehave(.status(503), times: 1)
      var statuses: [Int] = []
      for name in ["www", "six", "www", "www", "six"] {
        statuses.append(try await Curl.run(server.url("/resolve?name=\(name).example.com")).status)
      }
      #expect(statuses == [500, 502, 503, 200, 502])
      server.behave()
      #expect(try await Curl.run(server.url("/resolve?name=six.example.com")).status == 200)
    }
  }

  @Test func `a misbehaviour for no request does nothing`() async throws {
    try await withProvider { server async throws in
      server.misbehave(.status(500), times: 0)
      #expect(try await Curl.run(server.url(path)).status == 200)
    }
  }
}
