// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import HTTPTypes
import Testing

/// What a fake origin does with a request before it has read its body.
@Suite(.timeLimit(.minutes(1)))
struct AdmissionTests {
  private func curl(_ flag: String, _ ca: String, _ more: String..., to origin: FakeOrigin) async throws -> Curl.Reply {
    try await Curl.run(
      flag, "--cacert", ca, "-H", "Expect: 100-continue", "--expect100-timeout", more.first ?? "15", "-d", "item=7",
      origin.url())
  }

  @Test(arguments: ["--http1.1", "--http2"])
  func `100 Continue is sent by default`(flag: String) async throws {
    try await withSecureOrigin { origin, ca async throws in
      let reply = try await curl(flag, ca, to: origin)
      #expect(reply.exit == 0 && reply.status == 100)
      #expect(origin.requests.map(\.body) == [Array("item=7".utf8)])
    }
  }

  @Test(arguments: ["--http1.1", "--http2"])
  func `100 Continue can be left out`(flag: String) async throws {
    try await withSecureOrigin(admit: { _ in .readUnannounced }) { origin, ca async throws in
      let reply = try await curl(flag, ca, "0.01", to: origin)
      #expect(reply.exit == 0 && reply.status == 200)
      #expect(origin.requests.map(\.body) == [Array("item=7".utf8)])
    }
  }

  // Over HTTP/2 curl 7.88 asks again and again, fifty times.
  @Test func `417 refuses the body, and the same request is read without the question`() async throws {
    let flag = "--http1.1"
    try await withSecureOrigin(admit: { request in
      request.field("Expect") == nil ? .read : .answer(OriginResponse(.expectationFailed, body: "no"))
    }) { origin, ca async throws in
      let reply = try await curl(flag, ca, to: origin)
      #expect(reply.exit == 0 && reply.status == 417 && reply.text == "no")
      #expect(try await Curl.run(flag, "--cacert", ca, "-d", "item=7", origin.url()).status == 200)
      #expect(origin.requests.map(\.bodyLength) == [0, 6])
    }
  }

  @Test(arguments: ["--http1.1", "--http2"])
  func `a body that is on its way is answered early and thrown away`(flag: String) async throws {
    let bytes = [UInt8](repeating: 7, count: 5_000_000)
    try await withSecureOrigin(admit: { _ in .answer(OriginResponse(.contentTooLarge, body: "too large")) }) {
      origin, ca async throws in
      let reply = try await Curl.run(
        flag, "--cacert", ca, "-H", "Expect:", "--data-binary", "@-", origin.url(), input: bytes)
      #expect(reply.exit == 0 && reply.status == 413 && reply.text == "too large")
      #expect(origin.requests.map(\.bodyLength) == [0])
    }
  }

  @Test(arguments: ["--http1.1", "--http2"])
  func `the body stays with the client until it is decided`(flag: String) async throws {
    let gate = Gate()
    let bytes = [UInt8](repeating: 7, count: 5_000_000)
    try await withSecureOrigin(admit: { request in
      #expect(
        request.bodyLength == 0 && request.numberOnConnection == 1
          && (request.version == .http2) == request.rawHead.isEmpty)
      try await gate.pass()
      return .read
    }) { origin, ca async throws in
      async let reply = Curl.run(
        flag, "--cacert", ca, "-H", "Expect:", "--data-binary", "@-", origin.url(), input: bytes)
      await gate.waitForArrivals()
      #expect(origin.requests.isEmpty)
      gate.open()
      #expect(try await reply.status == 200)
      #expect(origin.requests.map(\.body) == [bytes])
    }
  }

  @Test func `a request without a body is admitted too, and keeps its connection`() async throws {
    try await withOrigin(admit: { $0.path == "/no" ? .answer(OriginResponse(.forbidden)) : .read }) {
      origin async throws in
      let reply = try await Curl.run(origin.url("/no"), origin.url("/yes"), origin.url("/no"))
      #expect(reply.exit == 0 && reply.status == 403)
      #expect(origin.requests.map(\.path) == ["/no", "/yes", "/no"])
      #expect(origin.requests.map(\.numberOnConnection) == [1, 2, 3])
    }
  }

  @Test func `what the gatekeeper throws happens`() async throws {
    try await withOrigin(admit: { _ in throw OriginFault.reset }) { origin async throws in
      #expect(try await Curl.run("-d", "item=7", origin.url()).exit == 56)
      #expect(origin.requests.count == 1)
    }
  }
}
