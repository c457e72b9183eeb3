// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTPTypes
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

/// What is sent again when a connection ends, and what never is.
extension DirectClientFailureTests {
  /// A server whose connections end once after a request, before anything is answered.
  private func dying(times: Int, identity: TLSIdentity? = nil) async throws -> FakeOrigin {
    let left = Locked(times)
    return try await FakeOrigin.start(configuration: FakeOriginConfiguration(identity: identity)) { request in
      let dies = left.withLock { left in
        guard request.path == "/", left > 0 else { return false }
        left -= 1
        return true
      }
      if dies { throw Dead() }
      return OriginResponse(body: "alive")
    }
  }

  @Test(arguments: [HTTPRequest.Method.get, .head, .put, .delete, .options])
  func `a request that does no harm twice is sent again when the connection ends, once`(
    _ method: HTTPRequest.Method
  ) async throws {
    let origin = try await dying(times: 1)
    let client = try ClientSample.client()
    let response = try await client.execute(request(method, origin))
    #expect(response.status == .ok)
    #expect(origin.requests.count == 2)
    await client.shutdown(within: .zero)
    await origin.stop()
    let worse = try await dying(times: 2)
    let other = try ClientSample.client()
    let error = await #expect(throws: DirectDNSError.self) { try await other.execute(request(method, worse)) }
    #expect(error?.code == .connectionLost && worse.requests.count == 2)
    await other.shutdown()
    await worse.stop()
  }

  /// A server that answers one request, and is gone when it has read the next one: its port first, then the connection.
  ///
  /// Behind the same port of 127.0.0.2 is one that stays.
  private func vanishing() async throws -> FakeOrigin {
    let place = try #require(LoopbackListener())
    let (listener, port) = (place.descriptor, place.port)
    let staying = try await FakeOrigin.start(
      configuration: FakeOriginConfiguration(address: Sample.address("127.0.0.2"), port: Int(port))
    ) { _ in OriginResponse(body: "two") }
    Thread {
      let connection = accept(listener, nil, nil)
      TalkativeServer.answer(connection, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none")
      TalkativeServer.answer(connection, "")
      close(listener)
      close(connection)
    }.start()
    return staying
  }

  @Test(arguments: [HTTPRequest.Method.get, .put, .delete, .post])
  func `on a kept connection whose server is gone, what does no harm twice goes to another address`(
    _ method: HTTPRequest.Method
  ) async throws {
    let staying = try await vanishing()
    let client = try ClientSample.client(names: ["shop.test": ["127.0.0.1", "127.0.0.2"]])
    #expect(try await client.execute(request(.get, staying)).body.text() == "one")
    let log = RequestLog()
    if method == .post {
      let error = await #expect(throws: DirectDNSError.self) {
        try await client.execute(request(.post, staying), body: .text("pay"), options: log.options)
      }
      #expect(error?.code == .connectionLost && error?.message.contains("may have reached the server") == true)
      #expect(error?.mayHaveReachedServer == true)
    } else {
      let response = try await client.execute(request(method, staying), options: log.options)
      #expect(try await response.body.text() == "two")
      #expect(response.connection.remoteAddress == IPAddress("127.0.0.2"))
    }
    #expect(log.failed == ["127.0.0.1"] && log.retries == (method == .post ? 0 : 1))
    #expect(staying.requests.count == log.retries)
    await client.shutdown()
    await staying.stop()
  }

  @Test(arguments: [false, true])
  func `a POST that may have reached the server is never sent twice, on a used connection either`(
    _ isUsed: Bool
  ) async throws {
    let origin = try await dying(times: 1)
    let client = try ClientSample.client()
    if isUsed {
      _ = try await client.execute(ClientSample.get(origin.url("/warm", host: "shop.test"))).body.text()
    }
    let before = origin.requests.count
    let error = await #expect(throws: DirectDNSError.self) {
      try await client.execute(request(.post, origin), body: .text("pay"))
    }
    #expect(error?.code == .connectionLost && error?.message.contains("may have reached the server") == true)
    #expect(origin.requests.count == before + 1)
    let second = try await client.execute(
      request(.post, origin), body: .text("pay"), options: RequestOptions(isSafeToRetry: true))
    #expect(second.status == .ok)
    await client.shutdown()
    await origin.stop()
  }

  @Test(arguments: [false, true]) func `a POST that is safe to retry is`(_ isUsed: Bool) async throws {
    let origin = try await dying(times: 1)
    let client = try ClientSample.client()
    if isUsed {
      _ = try await client.execute(ClientSample.get(origin.url("/warm", host: "shop.test"))).body.text()
    }
    let sent = Locked<[Int64]>([])
    let options = RequestOptions(
      isSafeToRetry: true, progress: { progress in sent.withLock { $0.append(progress.sent) } })
    let response = try await client.execute(request(.post, origin), body: .text("pay"), options: options)
    #expect(try await response.body.text() == "alive")
    // What went out in vain is no part of the whole.
    #expect(sent.withLock(\.last) == 3 && sent.withLock { $0.allSatisfy { $0 <= 3 } })
    #expect(origin.requests.filter { $0.path == "/" }.map(\.body) == [Array("pay".utf8), Array("pay".utf8)])
    await client.shutdown()
    await origin.stop()
  }

  @Test func `a stream that was sent is not sent again`() async throws {
    let origin = try await dying(times: 1)
    let client = try ClientSample.client()
    let error = await #expect(throws: DirectDNSError.self) {
      try await client.execute(request(.put, origin), body: .stream(Pieces(bytes: [1, 2, 3])))
    }
    #expect(error?.code == .connectionLost && origin.requests.count == 1)
    await client.shutdown()
    await origin.stop()
  }

  @Test func `a stream that was lost with a kept connection is told so, and its address has not failed`() async throws {
    let origin = try await dying(times: 1)
    let client = try ClientSample.client()
    _ = try await client.execute(ClientSample.get(origin.url("/warm", host: "shop.test"))).body.text()
    let log = RequestLog()
    let error = await #expect(throws: DirectDNSError.self) {
      try await client.execute(request(.put, origin), body: .stream(Pieces(bytes: [1, 2, 3])), options: log.options)
    }
    #expect(error?.code == .connectionLost && error?.message.contains("may have reached the server") == true)
    #expect(error?.attempts.isEmpty == true && log.failed.isEmpty, "\(String(describing: error))")
    #expect(origin.requests.count == 2)
    await client.shutdown()
    await origin.stop()
  }

  @Test func `a body that can be made anew is`() async throws {
    let origin = try await dying(times: 1)
    let client = try ClientSample.client()
    let body = RequestBody.replayable { Pieces(bytes: Array(repeating: 7, count: 5_000)) }
    #expect(try await client.execute(request(.put, origin), body: body).status == .ok)
    #expect(origin.requests.map(\.body.count) == [5_000, 5_000])
    await client.shutdown()
    await origin.stop()
  }
}
