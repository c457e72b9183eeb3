// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTPTypes
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

/// Whether a request that failed may have arrived.
extension DirectClientFailureTests {
  @Test func `what was lost once, and then cannot go out again, is told as lost`() async throws {
    let place = try #require(LoopbackListener())
    let (listener, port) = (place.descriptor, place.port)
    Thread {
      let connection = accept(listener, nil, nil)
      close(listener)
      TalkativeServer.answer(connection, "")
      close(connection)
    }.start()
    let client = try ClientSample.client()
    let error = await #expect(throws: DirectDNSError.self) { try await client.delete("http://shop.test:\(port)/") }
    #expect(error?.code == .connectionLost && error?.mayHaveReachedServer == true)
    let message = error?.message ?? ""
    #expect(message.contains("ended before a response came") && message.contains("it was to be sent once more, and no"))
    #expect(error?.attempts.map(\.server) == ["127.0.0.1"])
    await client.shutdown()
  }

  @Test(arguments: ["200 OK", "204 No Content", "403 Forbidden"])
  func `a connection whose server has answered in place of the permission to send a body carries no other request`(
    _ status: String
  ) async throws {
    let place = try #require(LoopbackListener())
    let (listener, port) = (place.descriptor, place.port)
    Thread {
      let connection = accept(listener, nil, nil)
      let length = status.hasPrefix("204") ? "" : "Content-Length: 0\r\n"
      TalkativeServer.answer(connection, "HTTP/1.1 \(status)\r\n\(length)\r\n")
      // Its next request, if it gets one, would be the body.
      let isRight = TalkativeServer.answer(connection, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong").isEmpty
      close(connection)
      let next = isRight ? accept(listener, nil, nil) : -1
      close(listener)
      guard next >= 0 else { return }
      TalkativeServer.answer(next, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nright")
      close(next)
    }.start()
    let client = try ClientSample.client()
    let url = "http://shop.test:\(port)/"
    let upload = HTTPRequest(method: .put, url: try WebURL(url), headerFields: [.expect: "100-continue"])
    let response = try await client.execute(upload, body: .text("body"))
    #expect(status.hasPrefix("\(response.status.code) "))
    _ = try await response.body.text()
    #expect(try await client.execute(ClientSample.get(url)).body.text() == "right")
    await client.shutdown()
  }

  @Test func `a connection whose server still waits for the rest of a body carries no other request`() async throws {
    let place = try #require(LoopbackListener())
    let (listener, port) = (place.descriptor, place.port)
    let hasCome = AsyncStream.makeStream(of: Void.self)
    let come = hasCome.continuation
    let (isIdle, isOver) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    Thread {
      // The older of two connections, which libcurl prefers once it is idle.
      let older = accept(listener, nil, nil)
      TalkativeServer.answer(older, "")
      come.finish()
      let newer = accept(listener, nil, nil)
      TalkativeServer.answer(newer, "")
      TalkativeServer.say(older, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none")
      isIdle.wait()
      // A part of the body, which ends as a head does; then its next request, if it gets one.
      TalkativeServer.answer(newer, "HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n")
      TalkativeServer.answer(newer, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong")
      // It comes over the older one, or a third.
      let right = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nright"
      Thread {
        TalkativeServer.answer(older, right)
        close(older)
      }.start()
      let third = accept(listener, nil, nil)
      if third >= 0 { TalkativeServer.answer(third, right) }
      isOver.wait()
      for descriptor in [newer, third, listener] where descriptor >= 0 { close(descriptor) }
    }.start()
    let client = try ClientSample.client()
    let url = "http://shop.test:\(port)/"
    let first = Task { try await client.execute(ClientSample.get(url)).body.text() }
    for await _ in hasCome.stream {}
    let pieces = AsyncStream.makeStream(of: [UInt8].self)
    pieces.continuation.yield(Array("\r\n\r\n".utf8))
    let upload = HTTPRequest(method: .put, url: try WebURL(url), headerFields: [.expect: "100-continue"])
    let second = Task { try await client.execute(upload, body: .stream(pieces.stream)).status }
    #expect(try await first.value == "one")
    isIdle.signal()
    #expect(try await second.value == .expectationFailed)
    pieces.continuation.finish()
    #expect(try await client.execute(ClientSample.get(url)).body.text() == "right")
    await client.shutdown()
    shutdown(listener, CInt(SHUT_RDWR))
    isOver.signal()
  }

  @Test(
    arguments: [
      ("http://shop.test:1/", .connectFailed), ("http://nowhere.invalid/", .nameNotFound),
      ("http://169.254.169.254/", .addressForbidden), ("ftp://shop.test/", .redirectRefused), ("/", .tooManyRedirects),
    ] as [(String, DirectDNSError.Code)])
  func `behind a redirect every error is one of a request that has arrived, and the same at once is not`(
    _ target: String, _ code: DirectDNSError.Code
  ) async throws {
    let origin = try await FakeOrigin.start { request in
      OriginResponse(request.path == "/" ? .seeOther : .ok, fields: [.location: target])
    }
    let policy = AddressPolicy(.publicOnly, allowedNetworks: [try #require(IPNetwork("127.0.0.0/8"))])
    let client = try ClientSample.client(policy: policy)
    let error = await #expect(throws: DirectDNSError.self) { try await client.execute(request(.post, origin)) }
    #expect(error?.code == code && error?.mayHaveReachedServer == true, "\(String(describing: error))")
    if target.hasPrefix("http:") {
      let first = await #expect(throws: DirectDNSError.self) { try await client.post(target, body: .none) }
      #expect(first?.code == code && first?.mayHaveReachedServer == false)
    }
    await client.shutdown()
    await origin.stop()
  }

  @Test(arguments: [false, true])
  func `who is cancelled, or shut down, while the server works may have been heard`(_ isCancelled: Bool) async throws {
    let origin = try await FakeOrigin.start { _ in
      try await Gate().pass()
      return OriginResponse()
    }
    let client = try ClientSample.client()
    let task = Task { try await client.execute(request(.post, origin)) }
    await origin.waitForRequests(1)
    if isCancelled { task.cancel() } else { await client.shutdown(within: .zero) }
    let error = await #expect(throws: DirectDNSError.self) { try await task.value }
    #expect(error?.mayHaveReachedServer == true)
    await client.shutdown()
    await origin.stop()
  }

  @Test func `what cannot be read of an answer, and what it is too long for, came from a server`() async throws {
    let origin = try await FakeOrigin.start { request in
      switch request.path {
      case "/head": throw OriginFault.text("nonsense\r\n\r\n")
      case "/fields": throw OriginFault.text("HTTP/1.1 200 OK\r\nA: \(String(repeating: "a", count: 300_000))\r\n\r\n")
      case "/chunks": throw OriginFault.text("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nmany\r\n")
      default: return OriginResponse(body: "long")
      }
    }
    let client = try ClientSample.client()
    for (path, code) in [
      ("/head", .malformedResponse), ("/fields", .fieldsTooLarge), ("/chunks", .malformedResponse),
      ("/body", .bodyTooLarge),
    ] as [(String, DirectDNSError.Code)] {
      let error = await #expect(throws: DirectDNSError.self) {
        try await client.post(origin.url(path, host: "shop.test"), body: .none).body.text(upTo: 3)
      }
      #expect(error?.code == code && error?.mayHaveReachedServer == true, "\(path): \(String(describing: error))")
    }
    await client.shutdown()
    await origin.stop()
  }
}
