// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import HTTPTypes
import Testing

@testable import DirectDNS

/// Requests that are refused unprocessed, or wait for 100 (Continue).
extension BrokenOriginTests {
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
      #expect(error?.code == .connectionLost && fixture.arrived().count <= 14, "\(fixture.arrived().count)")
      // Refused each time is not sent.
      #expect(error?.message.contains("may have reached") == false, "\(String(describing: error))")
    }
  }

  @Test(arguments: [Upload.bytes, .replayable], [false, true])
  func `what HTTP/2 refused because it wants HTTP/1.1 is sent so, each time`(
    _ upload: Upload, _ isUsed: Bool
  ) async throws {
    try await staged(
      .http2,
      handler: { request in
        if request.path == "/", request.version == .http2 { throw OriginFault.requireHTTP1 }
        return OriginResponse(body: "alive")
      }
    ) { fixture in
      for round in 1...3 {
        if isUsed { try await fixture.warm() }
        let request = try fixture.request(.put)
        let response = try await fixture.client.execute(request, body: upload.body(Array("pay".utf8)))
        #expect(try await response.body.text() == "alive")
        #expect(fixture.arrived().count { $0.version == .http1 && $0.body == Array("pay".utf8) } == round)
      }
    }
  }

  @Test(arguments: [HTTPRequest.Method.get, .post])
  func `what is lost over HTTP/1.1, behind a refusal over HTTP/2, may have arrived`(
    _ method: HTTPRequest.Method
  ) async throws {
    try await staged(
      .http2, handler: { throw $0.version == .http2 ? OriginFault.requireHTTP1 : .reset }
    ) { fixture in
      for _ in 1...2 {
        let before = fixture.arrived().count { $0.version == .http1 }
        let error = await #expect(throws: DirectDNSError.self) {
          try await fixture.client.execute(fixture.request(method), body: method == .post ? .text("pay") : .none)
        }
        #expect(error?.code == .connectionLost, "\(String(describing: error))")
        let count = fixture.arrived().count { $0.version == .http1 } - before
        // A GET may be sent again, once. Nobody says that the server has not acted on a POST that it wants over HTTP/1.1.
        #expect(method == .post ? count <= 1 : (1...2).contains(count), "\(count)")
      }
    }
  }

  /// How a request has its body.
  enum Upload: CaseIterable {
    case bytes, replayable, oneShot

    func body(_ bytes: [UInt8]) -> RequestBody {
      switch self {
      case .bytes: .bytes(bytes)
      case .replayable: .replayable(length: Int64(bytes.count)) { AsyncStream(bytes) }
      case .oneShot: .stream(AsyncStream(bytes), length: Int64(bytes.count))
      }
    }
  }

  @Test(arguments: Upload.allCases, [false, true])
  func `what was read ahead before a refusal, and not sent because the window was closed, is sent again`(
    _ upload: Upload, _ isUsed: Bool
  ) async throws {
    let bytes = (0..<400).flatMap { [UInt8](repeating: UInt8(truncatingIfNeeded: $0), count: 1_000) }
    let isFirst = Locked(true)
    try await staged(
      .http2, firstStreamWindow: 0,
      admit: { request in
        let isFirst = isFirst.withLock { isFirst in
          defer { isFirst = isFirst && request.path != "/" }
          return isFirst
        }
        if request.path == "/", isFirst { throw OriginFault.refuseStream }
        return .read
      }
    ) { fixture in
      if isUsed { try await fixture.warm() }
      do {
        _ = try await fixture.client.execute(fixture.request(.put), body: upload.body(bytes)).body.text()
        #expect(fixture.arrived().last?.body == bytes)
      } catch let error as DirectDNSError {
        #expect(upload == .oneShot && error.code == .connectionLost, "\(error)")
      }
    }
  }

  @Test(arguments: [false, true], [false, true])
  func
    `after GOAWAY and the connection's end what it names as unprocessed is retried, and a POST that may have arrived is not`(
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

  @Test func `an expectation among others is refused like one that stands alone`() async throws {
    try await staged(
      admit: { $0.field("expect") == nil ? .read : .answer(OriginResponse(.expectationFailed, body: "no")) }
    ) { fixture in
      let response = try await fixture.client.execute(
        fixture.request(.put, "/", [.expect: "luck, 100-Continue"]), body: .text("pay"))
      #expect(response.status == .ok && fixture.arrived().map { $0.field("expect") } == ["luck, 100-Continue", nil])
      #expect(fixture.arrived().last?.body == Array("pay".utf8))
    }
  }

  @Test(arguments: [HTTPRequest.Method.post, .put])
  func `a body that has arrived is sent again without the expectation where that does no harm`(
    _ method: HTTPRequest.Method
  ) async throws {
    try await staged(handler: { request in
      request.field("expect") == nil ? OriginResponse() : OriginResponse(.expectationFailed, body: "no")
    }) { fixture in
      let response = try await fixture.client.execute(
        fixture.request(method, "/", [.expect: "100-continue"]), body: .text("pay"))
      #expect(response.status == (method == .post ? .expectationFailed : .ok))
      #expect(fixture.arrived().map(\.body) == Array(repeating: Array("pay".utf8), count: method == .post ? 1 : 2))
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
        body: .stream(Pieces(bytes: [1, 2, 3]), length: 3))
      #expect(response.status == .ok && fixture.arrived().map(\.body) == [[1, 2, 3]])
    }
  }
}

extension AsyncStream<[UInt8]> {
  /// One piece.
  init(_ piece: [UInt8]) {
    self.init { pieces in
      pieces.yield(piece)
      pieces.finish()
    }
  }
}
