// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSTesting
import Foundation
import HTTPTypes
import Testing

/// The library's client against the real web servers.
@Suite(
  "The client over real servers", .enabled(if: WebKind.missing.isEmpty, "not every server is installed"),
  .timeLimit(.minutes(2)))
struct DirectClientTests {
  private static let names = [
    LabSite.www, LabSite.api, LabSite.mistaken, LabSite.expired, LabSite.selfSigned, LabSite.byAddress,
  ]

  /// Lends a client that knows the fixture's names, and trusts its authority.
  private func withClient<Server: WebServer>(
    of server: Server, at addresses: String..., configure: (inout DirectClientConfiguration) -> Void = { _ in },
    _ body: (DirectClient) async throws -> Void
  ) async throws {
    var resolving = ResolverConfiguration()
    let known = (addresses.isEmpty ? ["127.0.0.1"] : addresses).compactMap { IPAddress($0) }
    for name in Self.names { resolving.localZones.pins[try HostName(name)] = known }
    var configuration = DirectClientConfiguration()
    configuration.policy = .any
    configuration.trust = TrustStore(privateAuthorities: [server.caFile])
    configure(&configuration)
    let client = try DirectClient(configuration, resolver: try DirectResolver(resolving))
    try await body(client)
    await client.shutdown(within: .zero)
  }

  private func request(_ url: String, _ method: HTTPRequest.Method = .get) throws -> HTTPRequest {
    HTTPRequest(method: method, url: try WebURL(url))
  }

  private func get(_ client: DirectClient, _ url: String, _ version: HTTPVersionChoice = .automatic) async throws
    -> (response: DirectResponse, text: String)
  {
    let response = try await client.execute(request(url), options: RequestOptions(httpVersion: version))
    return (response, String(decoding: try await response.body.collect(upTo: 1 << 20), as: UTF8.self))
  }

  @Test(arguments: [HTTPVersionChoice.automatic, .http1], [60_000, 70_000, 700_000])
  func `a response that comes before the request is whole is had to its end`(
    _ version: HTTPVersionChoice, _ size: Int
  ) async throws {
    try await NginxSite.running { server in
      try await withClient(of: server, at: "127.0.0.1") { client in
        let url = "https://\(LabSite.www):\(server.port)/early"
        for body in [RequestBody.bytes([UInt8](repeating: 1, count: size)), .text("short")] {
          let response = try await client.execute(
            request(url, .post), body: body, options: RequestOptions(httpVersion: version))
          #expect(try await response.body.text() == "early")
        }
      }
    }
  }

  // MARK: Names, addresses, certificates

  @Test(arguments: WebKind.allCases)
  func `each name is reached by its address, over http and both versions of https`(_ kind: WebKind) async throws {
    try await reachesNames(kind.server)
  }

  private func reachesNames<Server: WebServer>(_ kind: Server.Type) async throws {
    try await kind.running { server async throws in
      for address in ["127.0.0.1", "::1"] {
        try await withClient(of: server, at: address) { client in
          for name in [LabSite.www, LabSite.api] {
            let plain = try await get(client, "http://\(name):\(server.httpPort)/name")
            let two = try await get(client, "https://\(name):\(server.port)/name")
            let one = try await get(client, "https://\(name):\(server.port)/name", .http1)
            for reply in [plain, two, one] {
              #expect(reply.text == name && reply.response.connection.remoteAddress == IPAddress(address))
            }
            #expect([plain, two, one].map(\.response.connection.httpVersion.major) == [1, 2, 1])
            #expect(plain.response.timings.tls == nil && two.response.timings.tls != nil)
          }
        }
      }
      // A server notes a request once its response has gone, each process by itself: not in the order of sending.
      let lines = try await server.requests(12).map { "\($0.host) \($0.address)" }
      let expected = [LabSite.www, LabSite.api].flatMap { name in
        ["127.0.0.1", "::1"].flatMap { Array(repeating: "\(name) \($0)", count: 3) }
      }
      #expect(lines.sorted() == expected.sorted())
    }
  }

  @Test(arguments: WebKind.allCases)
  func `a certificate that is not the name's, too old, or nobody's is refused, and says why`(
    _ kind: WebKind
  ) async throws {
    try await refusesCertificates(kind.server)
  }

  private func refusesCertificates<Server: WebServer>(_ kind: Server.Type) async throws {
    try await kind.running { server async throws in
      let reasons = [
        LabSite.mistaken: "subject name", LabSite.byAddress: "subject name", LabSite.expired: "expired",
        LabSite.selfSigned: "self-signed",
      ]
      for version in [HTTPVersionChoice.automatic, .http1] {
        try await withClient(of: server) { client in
          for (name, reason) in reasons {
            let error = await #expect(throws: DirectDNSError.self) {
              try await get(client, "https://\(name):\(server.port)/name", version)
            }
            #expect(error?.code == .tlsFailed, "\(name)")
            #expect(
              error?.message.contains(reason) == true && error?.message.contains(name) == true,
              "\(String(describing: error))")
          }
          // The same certificate is right for who asks by address.
          let literal = try await get(client, "https://127.0.0.1:\(server.port)/name", version)
          #expect(literal.text == LabSite.byAddress)
        }
      }
      // Without the authority nobody is trusted.
      try await withClient(of: server, configure: { $0.trust = TrustStore() }) { client in
        let error = await #expect(throws: DirectDNSError.self) {
          try await get(client, "https://\(LabSite.www):\(server.port)/name")
        }
        #expect(error?.code == .tlsFailed && error?.message.contains("(trust)") == true)
      }
      #expect(try await server.requests(2).map(\.host) == [LabSite.byAddress, LabSite.byAddress])
    }
  }

  // MARK: Connections

  @Test(arguments: WebKind.allCases)
  func `connections are kept, and one of HTTP 2 is shared`(_ kind: WebKind) async throws {
    try await keeps(kind.server)
  }

  private func keeps<Server: WebServer>(_ kind: Server.Type) async throws {
    try await kind.running { server async throws in
      try await withClient(of: server) { client in
        for base in ["http://\(LabSite.www):\(server.httpPort)", "https://\(LabSite.www):\(server.port)"] {
          var reused: [Bool] = []
          for _ in 0..<10 { reused.append(try await get(client, base + "/name").response.connection.isReused) }
          #expect(reused == [false] + Array(repeating: true, count: 9))
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
          for number in 0..<40 {
            group.addTask {
              let reply = try await get(client, "https://\(LabSite.www):\(server.port)/name?\(number)")
              #expect(reply.text == LabSite.www)
            }
          }
          try await group.waitForAll()
        }
        #expect(Set(try await server.requests(60).map(\.clientPort)).count == 2)
      }
    }
  }

  @Test(arguments: WebKind.allCases)
  func `a server that was restarted costs a new connection, and no request`(_ kind: WebKind) async throws {
    try await survivesRestarts(kind.server)
  }

  private func survivesRestarts<Server: WebServer>(_ kind: Server.Type) async throws {
    try await kind.running { server async throws in
      try await withClient(of: server) { client in
        for base in ["http://\(LabSite.www):\(server.httpPort)", "https://\(LabSite.www):\(server.port)"] {
          #expect(try await get(client, base + "/name").text == LabSite.www)
          try await server.restart()
          #expect(try await get(client, base + "/name?1").text == LabSite.www)
          try await server.kill()
          let error = await #expect(throws: DirectDNSError.self) { try await get(client, base + "/name?2") }
          #expect(error?.code == .connectFailed)
          try await server.start()
          // Without a body: servers answer such a path early, which libcurl before 8.1 may lose over HTTP/2.
          let post = try await client.execute(request(base + "/name?3", .post))
          #expect(post.status.code == 405 || post.status.code == 200)
          post.body.cancel()
        }
      }
    }
  }

  @Test(arguments: WebKind.allCases)
  func `a server that is killed in middle of the body ends the body, and the next one answers`(_ kind: WebKind)
    async throws
  {
    try await breaksOff(kind.server)
  }

  private func breaksOff<Server: WebServer>(_ kind: Server.Type) async throws {
    try await kind.running { server async throws in
      try await withClient(of: server) { client in
        for base in ["http://\(LabSite.www):\(server.httpPort)", "https://\(LabSite.www):\(server.port)"] {
          let response = try await client.execute(request(base + "/big"))
          var pieces = response.body.makeAsyncIterator()
          _ = try await pieces.next()
          try await server.kill()
          let error = await #expect(throws: DirectDNSError.self) { while try await pieces.next() != nil {} }
          #expect(error?.code == .connectionLost && error?.message.contains("middle of the body") == true)
          try await server.start()
          #expect(try await get(client, base + "/name").text == LabSite.www)
        }
      }
    }
  }

  // MARK: GOAWAY

  private func url(_ server: NginxSite, _ number: Int) -> String {
    "https://\(LabSite.api):\(server.port)/name?\(number)"
  }

  /// Performs many requests, so many at once, and says which failed.
  private func flood(_ count: Int, _ width: Int, _ body: @escaping @Sendable (Int) async throws -> Void) async
    -> [any Error]
  {
    await withTaskGroup(of: (any Error)?.self) { group in
      var failures: [any Error] = []
      for number in 0..<count {
        if number >= width, let failure = await group.next() ?? nil { failures.append(failure) }
        group.addTask {
          do {
            try await body(number)
            return nil
          } catch { return error }
        }
      }
      for await failure in group { if let failure { failures.append(failure) } }
      return failures
    }
  }

  @Test func `no GET fails when nginx says GOAWAY under sixty-four of them`() async throws {
    try await NginxSite.running { server in
      try await withClient(of: server) { client in
        let failures = await flood(1_000, 64) { number in
          let reply = try await get(client, url(server, number))
          guard reply.text == LabSite.api, reply.response.connection.httpVersion == .http2 else {
            throw ServerFixture.Failure("\(reply)")
          }
        }
        #expect(failures.isEmpty, "\(failures.count) failed: \(failures.prefix(2))")
        let lines = try await server.requests(1_000)
        #expect(Set(lines.map(\.target)).count == 1_000)
        let perPort = Dictionary(grouping: lines, by: \.clientPort).mapValues(\.count)
        #expect(perPort.count >= 1_000 / NginxSite.requestsPerConnection)
      }
    }
  }

  // A stream above GOAWAY's last one was not processed (RFC 9113 §6.8): libcurl 7.88 drops what it knows of that when the
  // last of a connection's streams has ended, and what it says of it is heard.
  @Test func `no POST arrives twice when nginx says GOAWAY, and one that fails says why`() async throws {
    try await NginxSite.running { server in
      try await withClient(of: server) { client in
        let failures = await flood(1_000, 64) { number in
          let response = try await client.execute(request(url(server, number), .post), body: .text("pay"))
          guard response.status.code == 405 else { throw ServerFixture.Failure("\(response.status)") }
          _ = try await response.body.collect(upTo: 1 << 20)
        }
        print("goaway: \(failures.count) of 1000 POSTs failed")
        #expect(failures.allSatisfy { ($0 as? DirectDNSError)?.code == .connectionLost }, "\(failures.prefix(2))")
        // If a refusal were taken for a loss, each GOAWAY would cost up to sixty-four.
        #expect(failures.count <= 20, "\(failures.count) failed")
        let lines = try await server.requests(1_000 - failures.count)
        #expect(Set(lines.map(\.target)).count == lines.count)
        #expect(Set(lines.map(\.clientPort)).count >= lines.count / NginxSite.requestsPerConnection)
      }
    }
  }
}
