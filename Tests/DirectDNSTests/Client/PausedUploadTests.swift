// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import HTTPTypes
import Testing

@testable import DirectDNS

/// Uploads whose source has nothing to send for a while.
@Suite(.timeLimit(.minutes(1)))
struct PausedUploadTests {
  /// A body of one piece, which does not end before somebody says so.
  private func paused() -> (RequestBody, AsyncStream<[UInt8]>.Continuation) {
    let (pieces, source) = AsyncStream.makeStream(of: [UInt8].self)
    source.yield(Array("first".utf8))
    return (.stream(pieces), source)
  }

  /// Lets some time pass: that which another request has for its first byte.
  private func pass(_ client: DirectClient) async throws {
    let silent = try #require(TalkativeServer("", then: ""))
    let options = RequestOptions(timeouts: RequestTimeouts(firstByte: .milliseconds(400)))
    await #expect(throws: DirectDNSError.self) {
      try await client.execute(ClientSample.get("http://shop.test:\(silent.port)/"), options: options)
    }
    await silent.speak()
    silent.stop()
  }

  @Test(arguments: ["202 Accepted\r\nContent-Length: 0\r\n\r\n", "200 OK\r\nContent-Length: 2\r\n\r\nok"])
  func `over HTTP/1.1 an upload goes on behind its answer, however long its source pauses`(
    _ answer: String
  ) async throws {
    let server = try #require(ReadingServer("HTTP/1.1 " + answer))
    let client = try ClientSample.client()
    let (body, source) = paused()
    let response = try await client.post("http://shop.test:\(server.port)/", body: body)
    try await pass(client)
    source.yield(Array(", second".utf8))
    source.finish()
    let text = try await response.body.text()
    #expect(answer.hasSuffix("\r\n\r\n" + text))
    #expect(await server.body() == "5\r\nfirst\r\n8\r\n, second\r\n0\r\n\r\n")
    await client.shutdown()
  }

  @Test func `what the kernel keeps of a body is little, so that a server which reads slowly is not taken for silent`()
    async throws
  {
    let silent = try #require(TalkativeServer("", then: ""))
    let client = try ClientSample.client { $0.timeouts.firstByte = .milliseconds(400) }
    let sent = Locked<Int64>(0)
    var options = RequestOptions()
    options.progress = { progress in sent.withLock { $0 = progress.sent } }
    let request = HTTPRequest(method: .put, url: try WebURL("http://shop.test:\(silent.port)/"))
    let error = await #expect(throws: DirectDNSError.self) {
      try await client.execute(request, body: .bytes([UInt8](repeating: 1, count: 32 << 20)), options: options)
    }
    #expect(error?.code == .timedOut)
    let count = sent.withLock(\.self)
    #expect(count > 0 && count < 1 << 20, "\(count)")
    await client.shutdown()
    await silent.speak()
    silent.stop()
  }

  @Test func `a body that pauses costs nothing of the server's time for the first byte`() async throws {
    let origin = try await FakeOrigin.start()
    let client = try ClientSample.client { $0.timeouts.firstByte = .seconds(1) }
    let (body, source) = paused()
    let url = origin.url("/", host: "shop.test")
    let outcome = Task { try await client.post(url, body: body).body.text() }
    await origin.waitForConnections()
    // Another request's time for the first byte is over before the body goes on.
    let silent = try #require(TalkativeServer("", then: ""))
    let error = await #expect(throws: DirectDNSError.self) {
      try await client.get("http://shop.test:\(silent.port)/")
    }
    #expect(error?.code == .timedOut)
    source.yield(Array(", second".utf8))
    source.finish()
    let text = try await outcome.value
    #expect(text.hasSuffix("first, second"))
    await client.shutdown()
    await origin.stop()
    await silent.speak()
    silent.stop()
  }

  @Test func `once its body has ended the time for the first byte runs`() async throws {
    let server = try #require(TalkativeServer("", then: ""))
    let client = try ClientSample.client { $0.timeouts.firstByte = .milliseconds(200) }
    let (body, source) = paused()
    let outcome = Task { try await client.post("http://shop.test:\(server.port)/", body: body) }
    source.finish()
    let error = await #expect(throws: DirectDNSError.self) { try await outcome.value }
    #expect(error?.code == .timedOut && error?.message.contains("0.2 ") == true)
    await client.shutdown()
    await server.speak()
    server.stop()
  }

  @Test(arguments: [
    "413 Content Too Large\r\nContent-Length: 2\r\n\r\nno",
    "401 Unauthorized\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n",
    "413 Content Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno",
    "200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno",
  ])
  func `an answer that wants no more of a body that pauses ends with its own end`(_ answer: String) async throws {
    let server = try #require(TalkativeServer("HTTP/1.1 " + answer, then: ""))
    let client = try ClientSample.client()
    let (body, source) = paused()
    let response = try await client.post("http://shop.test:\(server.port)/", body: body)
    #expect(answer.hasPrefix("\(response.status.code)"))
    let text = try await response.body.text()
    #expect(text == "no")
    source.finish()
    await client.shutdown()
    await server.speak()
    server.stop()
  }

  @Test(
    arguments: [
      ("", .writing), ("HTTP/1.1 200 OK\r\nServer: x\r\n", .writing), ("HTTP/1.1 103 Early Hints\r\n\r\n", .writing),
      ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfi", .writing),
      ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfi", .all),
    ] as [(String, ReadingServer.End)])
  func `a connection that is of no more use to a request is lost at once, even while the body pauses`(
    _ answer: String, _ end: ReadingServer.End
  ) async throws {
    let server = try #require(ReadingServer(answer, ending: end))
    let client = try ClientSample.client()
    let (body, source) = paused()
    let error = await #expect(throws: DirectDNSError.self) {
      try await client.post("http://shop.test:\(server.port)/", body: body).body.text()
    }
    #expect(error?.code == .connectionLost)
    source.finish()
    await client.shutdown()
    _ = await server.body()
  }

  @Test func `one on which the server says no more behind the whole response is not: it may read on`() async throws {
    let server = try #require(ReadingServer("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", ending: .writing))
    let client = try ClientSample.client()
    let (body, source) = paused()
    let response = try await client.post("http://shop.test:\(server.port)/", body: body)
    try await pass(client)
    source.yield(Array(", second".utf8))
    source.finish()
    #expect(try await response.body.text() == "ok")
    #expect(await server.body() == "5\r\nfirst\r\n8\r\n, second\r\n0\r\n\r\n")
    await client.shutdown()
  }

  /// RFC 9113 §8.1: the server may answer before it has the body, and may still want it.
  @Test func `over HTTP/2 an upload goes on behind its answer, however long its source pauses`() async throws {
    let authority = try TestCertificateAuthority()
    let file = try authority.makeFile()
    let answer = OriginResponse(.ok, length: 2) { try await $0.write("ok") }
    let configuration = FakeOriginConfiguration(
      identity: try authority.issue(names: ["shop.test"]), httpVersions: [.http2])
    let origin = try await FakeOrigin.start(configuration: configuration, admit: { _ in .answer(answer) })
    let client = try ClientSample.client {
      $0.trust = TrustStore(privateAuthorities: [file.path], environment: [:])
    }
    let sent = Locked<Int64>(0)
    var options = RequestOptions()
    options.progress = { progress in sent.withLock { $0 = progress.sent } }
    let (body, source) = paused()
    let request = HTTPRequest(method: .post, url: try WebURL(origin.url("/", host: "shop.test")))
    let response = try await client.execute(request, body: body, options: options)
    let text = Task { try await response.body.text() }
    // Another request's time is over before the body goes on.
    let silent = try #require(TalkativeServer("", then: ""))
    var impatient = RequestOptions()
    impatient.timeouts = RequestTimeouts(firstByte: .milliseconds(400))
    await #expect(throws: DirectDNSError.self) {
      try await client.execute(ClientSample.get("http://shop.test:\(silent.port)/"), options: impatient)
    }
    source.yield(Array(", second".utf8))
    source.finish()
    let whole = try await text.value
    #expect(response.status == .ok && whole == "ok")
    #expect(sent.withLock(\.self) == 13)
    await client.shutdown()
    await origin.stop()
    await silent.speak()
    silent.stop()
  }

  @Test(arguments: HTTPProtocolVersion.allCases, [nil, 2])
  func `so does one that ends its stream or its connection`(
    _ version: HTTPProtocolVersion, _ length: Int?
  ) async throws {
    let authority = try TestCertificateAuthority()
    let file = try authority.makeFile()
    let refusal = OriginResponse(.contentTooLarge, length: length) { try await $0.write("no") }
    let configuration = FakeOriginConfiguration(
      identity: try authority.issue(names: ["shop.test"]), httpVersions: [version])
    let origin = try await FakeOrigin.start(configuration: configuration, admit: { _ in .answer(refusal) })
    let client = try ClientSample.client {
      $0.trust = TrustStore(privateAuthorities: [file.path], environment: [:])
    }
    let (body, source) = paused()
    let response = try await client.post(origin.url("/", host: "shop.test"), body: body)
    let text = try await response.body.text()
    #expect(response.status == .contentTooLarge && text == "no")
    source.finish()
    await client.shutdown()
    await origin.stop()
  }
}
