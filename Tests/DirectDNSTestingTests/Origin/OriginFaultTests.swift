// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSTesting
import HTTPTypes
import Testing

/// What a fake origin does wrong when it is told to.
@Suite(.timeLimit(.minutes(1)))
struct OriginFaultTests {
  /// curl's exit statuses.
  private static let (partialFile, emptyReply, receiveError): (Int32, Int32, Int32) = (18, 52, 56)

  @Test(arguments: ["--http1.1", "--http2"])
  func `a response that only announces one is the last word, and one that does not announce any closes`(
    version: String
  ) async throws {
    try await withSecureOrigin(answering: { request in
      var response = OriginResponse(request.path == "/100" ? .continue : .ok, body: "body")
      if request.path != "/100" { response.informational = [HTTPResponse(status: .ok)] }
      return response
    }) { origin, ca async throws in
      let interim = try await Curl.run(version, "--cacert", ca, origin.url("/100"))
      #expect(interim.status == 100 && interim.exit != 0)
      let final = try await Curl.run(version, "--cacert", ca, origin.url("/200"))
      #expect(final.status == 0 && final.exit != 0)
    }
  }

  @Test(arguments: [
    (OriginFault.close, emptyReply), (.reset, receiveError), (.refuseStream, emptyReply), (.resetStream, emptyReply),
    (.requireHTTP1, emptyReply), (.goAway(processed: true), emptyReply),
  ])
  func `a request over HTTP/1.1 is read, and the connection ends without a head`(
    fault: OriginFault, exit: Int32
  ) async throws {
    try await withOrigin(answering: { _ in throw fault }) { origin async throws in
      #expect(try await Curl.run("-d", "item=7", origin.url()).exit == exit)
      #expect(origin.requests.map(\.body) == [Array("item=7".utf8)])
    }
  }

  @Test(arguments: [(OriginFault.close, partialFile), (.reset, receiveError)])
  func `a connection dies in middle of the body`(fault: OriginFault, exit: Int32) async throws {
    try await withOrigin(answering: { _ in
      OriginResponse(length: 1000) { body in
        try await body.write("half a ")
        throw fault
      }
    }) { origin async throws in
      let reply = try await Curl.run(origin.url())
      #expect(reply.exit == exit && reply.status == 200 && reply.field("content-length") == "1000")
      // A reset may overtake what was sent before it.
      #expect(fault == .reset || reply.text == "half a ")
    }
  }

  @Test(arguments: [(OriginFault.refuseStream, UInt32(7)), (.resetStream, 2), (.requireHTTP1, 13)])
  func `a stream of HTTP/2 is ended with its code`(fault: OriginFault, code: UInt32) async throws {
    try await withSecureOrigin(answering: { _ in throw fault }) { origin, _ async throws in
      let frames = try await HTTP2Wire.get("/", port: origin.port, until: HTTP2Wire.reset)
      let reset = try #require(frames.last { $0.type == HTTP2Wire.reset })
      #expect(reset.stream == 1 && reset.number(at: 0) == code)
      #expect(origin.openConnectionCount <= 1)
    }
  }

  @Test(arguments: [(true, UInt32(1)), (false, 0)])
  func `GOAWAY names the last stream that was taken up`(processed: Bool, last: UInt32) async throws {
    try await withSecureOrigin(answering: { _ in throw OriginFault.goAway(processed: processed) }) {
      origin, _ async throws in
      let frames = try await HTTP2Wire.get("/", port: origin.port, until: HTTP2Wire.goAway)
      #expect(try #require(frames.last { $0.type == HTTP2Wire.goAway }).number(at: 0) == last)
    }
  }

  @Test func `bytes of one's own are sent as they are`() async throws {
    let text = "HTTP/1.1 200 Fine \r\nX-Folded: a\r\n b\r\nset-COOKIE: \u{e9}\r\nContent-Length: 2\r\n\r\nok"
    try await withOrigin(answering: { _ in throw OriginFault.text(text) }) { origin async throws in
      #expect(try await RawClient.exchange("GET / HTTP/1.1\r\nHost: a\r\n\r\n", with: origin.port) == text)
    }
    let authority = try TestCertificateAuthority()
    let identity = try authority.issue(names: [], addresses: [.ipv4(0x7F00_0001)])
    try await authority.withCAFile { ca async throws in
      try await withOrigin(.init(identity: identity), answering: { _ in throw OriginFault.text(text) }) {
        origin async throws in
        let reply = try await Curl.run("--http1.1", "--cacert", ca, origin.url())
        #expect(reply.text == "ok" && reply.field("x-folded") != nil)
      }
    }
  }

  @Test func `a connection goes stale without a word`() async throws {
    try await withOrigin(answering: { _ in
      var response = OriginResponse(body: "x")
      response.hangsUp = true
      return response
    }) { origin async throws in
      let text = try await RawClient.exchange("GET / HTTP/1.1\r\nHost: a\r\n\r\n", with: origin.port)
      #expect(text == "HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nx")
      _ = try await Curl.run(origin.url(), origin.url())
      #expect(origin.requests.map(\.body.count) == [0, 0, 0])
    }
  }

  @Test func `a kept connection can be closed on its next request`() async throws {
    try await withOrigin(answering: { request in
      if request.numberOnConnection == 2 { throw OriginFault.close }
      return OriginResponse(body: "x")
    }) { origin async throws in
      // curl sends a request again that met the end of a kept connection.
      let reply = try await Curl.run(origin.url("/1"), origin.url("/2"))
      #expect(reply.exit == 0)
      #expect(origin.requests.map(\.path) == ["/1", "/2", "/2"])
      #expect(origin.requests.map(\.connection) == [1, 1, 2])
    }
  }

  @Test func `a mute origin accepts and says nothing`() async throws {
    try await withSecureOrigin { origin, ca async throws in
      origin.isMute = true
      let reply = try await Curl.run("--cacert", ca, "--max-time", "0.2", origin.url())
      // The kernel has the connection before the origin hears of it.
      await origin.waitForConnections()
      #expect(reply.exit == 28 && origin.connectionCount == 1 && origin.requests.isEmpty)
    }
  }
}
