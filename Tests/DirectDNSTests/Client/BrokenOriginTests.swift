// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import HTTPTypes
import Testing

@testable import DirectDNS

/// Servers that break off, refuse and say nothing: what a request makes of it, and how often it arrives.
@Suite(.timeLimit(.minutes(1)))
struct BrokenOriginTests {
  /// A client, and a server that it trusts.
  struct Fixture: Sendable {
    let origin: FakeOrigin
    let client: DirectClient
    let file: CAFile?

    func request(
      _ method: HTTPRequest.Method = .get, _ path: String = "/", _ fields: HTTPFields = [:]
    ) throws -> HTTPRequest {
      HTTPRequest(method: method, url: try WebURL(origin.url(path, host: "shop.test")), headerFields: fields)
    }

    /// Makes a connection that the next request finds standing.
    func warm() async throws { _ = try await client.execute(request(.get, "/warm")).body.text() }

    /// The requests for a path, in the order of arrival.
    func arrived(_ path: String = "/") -> [RecordedRequest] { origin.requests.filter { $0.path == path } }
  }

  func staged(
    _ version: HTTPProtocolVersion = .http1, firstStreamWindow: Int? = nil,
    handler: @escaping FakeOrigin.Handler = OriginResponse.echo,
    admit: FakeOrigin.Gatekeeper? = nil, changing change: (inout DirectClientConfiguration) -> Void = { _ in },
    _ body: (Fixture) async throws -> Void
  ) async throws {
    var configuration = FakeOriginConfiguration()
    configuration.firstStreamWindow = firstStreamWindow
    var file: CAFile?
    if version == .http2 {
      let authority = try TestCertificateAuthority()
      configuration.identity = try authority.issue(names: ["shop.test"])
      file = try authority.makeFile()
    }
    let origin = try await FakeOrigin.start(configuration: configuration, handler: handler, admit: admit)
    let trusted = file.map { [$0.path] } ?? []
    let client = try ClientSample.client {
      $0.trust = TrustStore(privateAuthorities: trusted, environment: [:])
      change(&$0)
    }
    try await body(Fixture(origin: origin, client: client, file: file))
    await client.shutdown(within: .zero)
    await origin.stop()
  }

  /// A fault for the first requests of `/`, and then an answer.
  static func failing(_ times: Int, _ fault: OriginFault) -> FakeOrigin.Handler {
    let left = Locked(times)
    return { request in
      let fails = left.withLock { left in
        guard request.path == "/", left > 0 else { return false }
        left -= 1
        return true
      }
      if fails { throw fault }
      return OriginResponse(body: "alive")
    }
  }

  // MARK: In middle of the body

  @Test(arguments: HTTPProtocolVersion.allCases, [OriginFault.close, .reset, .resetStream, .goAway(processed: true)])
  func `a body that breaks off gives what came, then an error, and no second request`(
    _ version: HTTPProtocolVersion, _ fault: OriginFault
  ) async throws {
    let gate = Gate()
    try await staged(
      version,
      handler: { _ in
        OriginResponse(length: 1_000_000) { body in
          try await body.write("half")
          try await gate.pass()
          throw fault
        }
      }
    ) { fixture in
      let response = try await fixture.client.execute(fixture.request())
      var pieces = response.body.makeAsyncIterator()
      #expect(try await pieces.next() == Array("half".utf8))
      gate.open()
      let error = await #expect(throws: DirectDNSError.self) { _ = try await pieces.next() }
      #expect(error?.code == .connectionLost && error?.message.contains("middle of the body") == true)
      #expect(fixture.origin.requests.count == 1)
    }
  }

  @Test(arguments: [[:], [.expect: "100-continue"]] as [HTTPFields], [nil, 1_000_000])
  func `a body that breaks off since its server wants HTTP/1.1 is cut short, and no other connection is opened`(
    _ fields: HTTPFields, _ length: Int?
  ) async throws {
    let gate = Gate()
    try await staged(
      .http2,
      handler: { _ in
        OriginResponse(length: length) { body in
          try await body.write("half")
          try await gate.pass()
          throw OriginFault.requireHTTP1
        }
      }
    ) { fixture in
      let response = try await fixture.client.execute(fixture.request(.put, "/", fields), body: .text("order"))
      var pieces = response.body.makeAsyncIterator()
      #expect(try await pieces.next() == Array("half".utf8))
      gate.open()
      let error = await #expect(throws: DirectDNSError.self) { _ = try await pieces.next() }
      #expect(error?.code == .connectionLost && error?.message.contains("over HTTP/1.1") == true)
      #expect(fixture.origin.requests.count == 1 && fixture.origin.connectionCount == 1)
    }
  }

  @Test func `a body without its end is an error, although the connection was closed in order`() async throws {
    let body = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n"
    try await staged(handler: { _ in throw OriginFault.text(body) }) { fixture in
      let response = try await fixture.client.execute(fixture.request())
      let error = await #expect(throws: DirectDNSError.self) { try await response.body.text() }
      #expect(error?.code == .connectionLost && fixture.origin.requests.count == 1)
    }
  }

  // MARK: Before the response

  @Test func `a connection that ends without a response is lost`() async throws {
    try await staged(handler: { _ in throw OriginFault.text("") }) { fixture in
      let error = await #expect(throws: DirectDNSError.self) {
        try await fixture.client.execute(fixture.request(.post), body: .text("x"))
      }
      #expect(error?.code == .connectionLost && fixture.origin.requests.count == 1)
    }
  }

  @Test(
    arguments: [HTTPRequest.Method.get, .post], ["HTTP/1.1 200 OK\r\nConten", "HTTP/1.1 200 OK\r\nServer: a\r\n"])
  func `a head that breaks off is no response: a GET is sent again, and a POST is not`(
    _ method: HTTPRequest.Method, _ head: String
  ) async throws {
    try await staged(handler: Self.failing(1, .text(head))) { fixture in
      do {
        let response = try await fixture.client.execute(fixture.request(method))
        let text = try await response.body.text()
        #expect(method == .get && text == "alive")
      } catch let error as DirectDNSError {
        #expect(method == .post && error.code == .connectionLost)
        #expect(error.message.contains("the request may have reached the server"), "\(error)")
      }
      #expect(fixture.arrived().count == (method == .get ? 2 : 1))
    }
  }

  @Test func `after a head that breaks off it is another address's turn`() async throws {
    let handler = Self.failing(1, .text("HTTP/1.1 200 OK\r\nConten"))
    let origins = try await OriginGroup.start(["127.0.0.1", "127.0.0.2"], handler: handler)
    let client = try ClientSample.client(names: ["shop.test": ["127.0.0.1", "127.0.0.2"]])
    let text = try await client.get(origins[0].url("/", host: "shop.test")).body.text()
    #expect(text == "alive" && origins.map(\.requests.count) == [1, 1])
    await client.shutdown()
    for origin in origins { await origin.stop() }
  }

  @Test(arguments: HTTPProtocolVersion.allCases)
  func `a server that is slow is waited for, in its head and in its body`(_ version: HTTPProtocolVersion) async throws {
    let (head, body) = (Gate(), Gate())
    try await staged(
      version,
      handler: { _ in
        try await head.pass()
        return OriginResponse(length: 6) { writer in
          try await writer.write("one")
          try await body.pass()
          try await writer.write("two")
        }
      }
    ) { fixture in
      let request = Task { try await fixture.client.execute(fixture.request()) }
      await head.waitForArrivals()
      head.open()
      let response = try await request.value
      var pieces = response.body.makeAsyncIterator()
      #expect(try await pieces.next() == Array("one".utf8))
      body.open()
      #expect(try await pieces.next() == Array("two".utf8))
      #expect(try await pieces.next() == nil)
    }
  }

  // MARK: Connections that were kept

  // libcurl 7.88 takes a connection that was reset while it idled for a living one: a POST may then fail unsent.
  @Test(arguments: [HTTPRequest.Method.get, .post])
  func `a connection that the server has closed meanwhile costs a GET nothing, and sends no POST twice`(
    _ method: HTTPRequest.Method
  ) async throws {
    try await staged(handler: { request in
      var response = OriginResponse(body: "here")
      response.hangsUp = request.path == "/warm"
      return response
    }) { fixture in
      try await fixture.warm()
      #expect(await fixture.origin.waitForOpenConnections(0))
      do {
        let response = try await fixture.client.execute(
          fixture.request(method), body: method == .post ? .text("x") : .none)
        #expect(try await response.body.text() == "here")
        #expect(fixture.arrived().count == 1 && fixture.origin.connectionCount == 2)
      } catch let error as DirectDNSError {
        #expect(method == .post && error.code == .connectionLost && fixture.arrived().isEmpty)
      }
    }
  }

  @Test(arguments: HTTPProtocolVersion.allCases)
  func `on a used connection that dies a GET is sent again, and a POST is not`(_ version: HTTPProtocolVersion)
    async throws
  {
    try await staged(version, handler: Self.failing(1, .reset)) { fixture in
      try await fixture.warm()
      #expect(try await fixture.client.execute(fixture.request()).body.text() == "alive")
      #expect(fixture.arrived().map(\.numberOnConnection) == [2, 1])
    }
    try await staged(version, handler: Self.failing(1, .reset)) { fixture in
      try await fixture.warm()
      let error = await #expect(throws: DirectDNSError.self) {
        try await fixture.client.execute(fixture.request(.post), body: .text("pay"))
      }
      #expect(error?.code == .connectionLost && fixture.arrived().count == 1)
      #expect(error?.message.contains("may have reached the server") == true)
    }
  }
}
