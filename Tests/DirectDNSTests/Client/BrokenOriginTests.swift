// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import HTTPTypes
import Testing

@testable import DirectDNS

/// Servers that break off, refuse and say nothing: what a request makes of it, and how often it arrives.
@Suite(.timeLimit(.minutes(1)))
struct BrokenOriginTests {
  /// A client, and a server that it trusts.
  private struct Fixture: Sendable {
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

  private func staged(
    _ version: HTTPProtocolVersion = .http1, handler: @escaping FakeOrigin.Handler = OriginResponse.echo,
    admit: FakeOrigin.Gatekeeper? = nil, _ body: (Fixture) async throws -> Void
  ) async throws {
    var configuration = FakeOriginConfiguration()
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
    }
    try await body(Fixture(origin: origin, client: client, file: file))
    await client.shutdown(within: .zero)
    await origin.stop()
  }

  /// A fault for the first requests of `/`, and then an answer.
  private static func failing(_ times: Int, _ fault: OriginFault) -> FakeOrigin.Handler {
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

  // MARK: In mid-body

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
      #expect(error?.code == .connectionLost && error?.message.contains("mid-body") == true)
      #expect(fixture.origin.requests.count == 1)
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

  @Test(arguments: ["nonsense\r\n\r\n", "", "HTTP/1.1\r\n\r\n", "HTTP/1.1 99\r\n\r\n"])
  func `what is no response is an error`(_ text: String) async throws {
    try await staged(handler: { _ in throw OriginFault.text(text) }) { fixture in
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

  // MARK: More than a response should say

  /// Responses that are as they should be, but for the size of one part.
  private static func talk(_ part: String, _ line: String, count: Int) -> String {
    let lines = String(repeating: line + "\r\n", count: count)
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
    let body = "\r\n4\r\nbody\r\n0\r\n"
    return switch part {
    case "trailers": head + body + lines + "\r\n"
    case "head": head + lines + body + "\r\n"
    case "interim heads":
      String(repeating: "HTTP/1.1 103 Early Hints\r\n\(line)\r\n\r\n", count: count) + head + body + "\r\n"
    default: part
    }
  }

  @Test(
    arguments: ["trailers", "head", "interim heads"],
    [("a: b", 10_000), ("X-Long: " + String(repeating: "v", count: 1_000), 300)])
  func `heads and trailers beyond 256 KiB end the transfer, once`(_ part: String, _ lines: (String, Int)) async throws {
    let text = Self.talk(part, lines.0, count: lines.1)
    try await staged(handler: { _ in throw OriginFault.text(text) }) { fixture in
      let error = await #expect(throws: DirectDNSError.self) {
        try await fixture.client.execute(fixture.request()).body.text()
      }
      #expect(
        error?.code == .fieldsTooLarge && error?.message.contains("262144") == true, "\(String(describing: error))")
      #expect(fixture.origin.requests.count == 1)
    }
  }

  @Test(arguments: ["trailers", "head", "interim heads"])
  func `heads and trailers within 256 KiB are read`(_ part: String) async throws {
    let text = Self.talk(part, "a: b", count: 1_500)
    try await staged(handler: { _ in throw OriginFault.text(text) }) { fixture in
      let response = try await fixture.client.execute(fixture.request())
      #expect(try await response.body.text() == "body" && response.status == .ok)
      let count = response.headerFields.count + response.body.trailerFields.count
      #expect(count >= (part == "interim heads" ? 1 : 1_501))
    }
  }

  @Test func `a line of a head that is longer than libcurl takes is what it is called`() async throws {
    let text = "HTTP/1.1 200 OK\r\nX: " + String(repeating: "v", count: 200_000) + "\r\n\r\n"
    try await staged(handler: { _ in throw OriginFault.text(text) }) { fixture in
      let error = await #expect(throws: DirectDNSError.self) { try await fixture.client.execute(fixture.request()) }
      #expect(error?.code == .fieldsTooLarge && fixture.origin.requests.count == 1, "\(String(describing: error))")
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
      await fixture.origin.waitForOpenConnections(0)
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

  // MARK: Refused unprocessed

  struct Refusal: Sendable, CustomTestStringConvertible {
    var method: HTTPRequest.Method
    var fault: OriginFault
    /// Whether it comes on a connection that was used before.
    var isUsed: Bool
    var times: Int
    var testDescription: String { "\(method) \(fault) \(isUsed ? "used" : "fresh") ×\(times)" }
  }

  private static let refusals: [Refusal] = [HTTPRequest.Method.get, .post].flatMap { method in
    [false, true].flatMap { isUsed in
      [1, 2, 4].map { Refusal(method: method, fault: .refuseStream, isUsed: isUsed, times: $0) }
    }
  }

  @Test(arguments: refusals)
  func `what HTTP/2 refused unprocessed was not sent, and is sent again`(_ refusal: Refusal) async throws {
    try await staged(.http2, handler: Self.failing(refusal.times, refusal.fault)) { fixture in
      if refusal.isUsed { try await fixture.warm() }
      let body: RequestBody = refusal.method == .post ? .text("pay") : .none
      let response = try await fixture.client.execute(fixture.request(refusal.method), body: body)
      #expect(try await response.body.text() == "alive")
      #expect(fixture.arrived().count == refusal.times + 1)
    }
  }

  @Test(arguments: [HTTPRequest.Method.get, .post])
  func `a server that refuses everything is not asked for ever`(_ method: HTTPRequest.Method) async throws {
    try await staged(.http2, handler: Self.failing(.max, .refuseStream)) { fixture in
      let error = await #expect(throws: DirectDNSError.self) {
        try await fixture.client.execute(fixture.request(method), body: method == .post ? .text("pay") : .none)
      }
      #expect(error?.code == .connectionLost && fixture.arrived().count <= 40, "\(fixture.arrived().count)")
    }
  }

  private static func isCurl(atLeast version: [Int]) -> Bool {
    let parts = CurlVersion().number.split(separator: ".").compactMap { Int($0) }
    return !parts.lexicographicallyPrecedes(version)
  }

  @Test(arguments: [false, true], [false, true])
  func
    `after GOAWAY and the connection's end what it names as unprocessed is repeated, and a POST that may have arrived is not`(
      _ isProcessed: Bool, _ isUsed: Bool
    ) async throws
  {
    let fault = OriginFault.goAway(processed: isProcessed)
    try await staged(.http2, handler: Self.failing(1, fault)) { fixture in
      if isUsed { try await fixture.warm() }
      guard isProcessed else {
        let response = try await fixture.client.execute(fixture.request(.post), body: .text("pay"))
        #expect(try await response.body.text() == "alive")
        return #expect(fixture.arrived().count == 2)
      }
      let error = await #expect(throws: DirectDNSError.self) {
        try await fixture.client.execute(fixture.request(.post), body: .text("pay"))
      }
      #expect(error?.code == .connectionLost && fixture.arrived().count == 1)
    }
    try await staged(.http2, handler: Self.failing(1, fault)) { fixture in
      if isUsed { try await fixture.warm() }
      #expect(try await fixture.client.execute(fixture.request()).body.text() == "alive")
      #expect(fixture.arrived().count == 2)
    }
  }

  @Test func `a refusal of an earlier request excuses no later one`() async throws {
    let plan = Locked([OriginFault.refuseStream, .reset])
    try await staged(
      .http2,
      handler: { request in
        guard request.path == "/" else { return OriginResponse(body: "alive") }
        if let fault = plan.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { throw fault }
        return OriginResponse(body: "alive")
      }
    ) { fixture in
      try await fixture.warm()
      // Refused, sent again, and then it may have arrived.
      let error = await #expect(throws: DirectDNSError.self) {
        try await fixture.client.execute(fixture.request(.post), body: .text("pay"))
      }
      #expect(error?.code == .connectionLost && fixture.arrived().count == 2)
      for _ in 0..<3 {
        plan.withLock { $0 = [.reset] }
        let before = fixture.arrived().count
        let error = await #expect(throws: DirectDNSError.self) {
          try await fixture.client.execute(fixture.request(.post), body: .text("pay"))
        }
        #expect(error?.code == .connectionLost && fixture.arrived().count == before + 1)
      }
    }
  }

  // MARK: Answered early

  @Test(arguments: [HTTPRequest.Method.post, .put], [false, true])
  func `an answer that ends the stream before the body came is read, or its loss told with what helps`(
    _ method: HTTPRequest.Method, _ isUsed: Bool
  ) async throws {
    var answer = OriginResponse(.contentTooLarge)
    answer.resetsStream = true
    let refusal = answer
    try await staged(.http2, admit: { $0.path == "/" ? .answer(refusal) : .read }) { fixture in
      if isUsed { try await fixture.warm() }
      let (pieces, source) = AsyncStream.makeStream(of: [UInt8].self)
      let outcome = Task { try await fixture.client.execute(fixture.request(method), body: .stream(pieces)) }
      // Behind the answer on the same connection, so that libcurl has read both when the body comes.
      await fixture.origin.waitForRequests(isUsed ? 2 : 1)
      _ = try await fixture.client.execute(fixture.request(.get, "/behind")).body.text()
      source.yield(Array("pay".utf8))
      source.finish()
      switch await outcome.result {
      case .success(let response): #expect(response.status == .contentTooLarge)
      case .failure(let error):
        let error = error as? DirectDNSError
        #expect(!Self.isCurl(atLeast: [8, 1]) && error?.code == .connectionLost, "\(String(describing: error))")
        #expect(error?.message.contains("--http1.1") == true)
      }
    }
  }

  // MARK: Expect: 100-continue

  @Test(arguments: HTTPProtocolVersion.allCases, [3, 200_000])
  func `a refused expectation is dropped, once`(_ version: HTTPProtocolVersion, _ size: Int) async throws {
    try await staged(
      version,
      admit: { $0.field("expect") == nil ? .read : .answer(OriginResponse(.expectationFailed, body: "no")) }
    ) { fixture in
      let body = [UInt8](repeating: 7, count: size)
      let response = try await fixture.client.execute(
        fixture.request(.post, "/", [.expect: "100-continue"]), body: .bytes(body))
      #expect(response.status == .ok, "\(fixture.arrived().count) arrived")
      #expect(fixture.arrived().map { $0.field("expect") } == ["100-continue", nil])
      #expect(fixture.arrived().last?.body == body)
    }
  }

  @Test(arguments: HTTPProtocolVersion.allCases)
  func `a server that always answers 417 is asked twice at most`(_ version: HTTPProtocolVersion) async throws {
    try await staged(version, admit: { _ in .answer(OriginResponse(.expectationFailed, body: "no")) }) { fixture in
      let response = try await fixture.client.execute(
        fixture.request(.post, "/", [.expect: "100-continue"]), body: .text("abc"))
      #expect(response.status == .expectationFailed)
      #expect(try await response.body.text() == "no" && fixture.arrived().count == 2)
    }
  }

  @Test func `a body goes out in the end when nobody says to continue`() async throws {
    try await staged(admit: { _ in .readUnannounced }) { fixture in
      let response = try await fixture.client.execute(
        fixture.request(.put, "/", [.expect: "100-continue"]), body: .text("abc"))
      #expect(response.status == .ok && fixture.arrived().map(\.body) == [Array("abc".utf8)])
    }
  }

  @Test func `a body that is announced goes out`() async throws {
    try await staged(admit: { _ in .read }) { fixture in
      let response = try await fixture.client.execute(
        fixture.request(.put, "/", [.expect: "100-continue"]),
        body: .stream(length: 3, Pieces(bytes: [1, 2, 3])))
      #expect(response.status == .ok && fixture.arrived().map(\.body) == [[1, 2, 3]])
    }
  }
}
