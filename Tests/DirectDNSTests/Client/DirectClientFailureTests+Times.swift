// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

/// What takes longer than it may.
extension DirectClientFailureTests {
  @Test func `a server that says nothing costs the time of the first byte, and no second request`() async throws {
    let origin = try await FakeOrigin.start { _ in
      try await Gate().pass()
      return OriginResponse()
    }
    let client = try ClientSample.client { $0.timeouts.firstByte = .milliseconds(400) }
    let error = await #expect(throws: DirectDNSError.self) { try await client.execute(request(.get, origin)) }
    await origin.waitForRequests(1)
    #expect(error?.code == .timedOut && error?.message.contains("0.4 ") == true && origin.requests.count == 1)
    await client.shutdown()
    await origin.stop()
  }

  @Test func `where the kernel gives up connecting, no time of ours is told`() throws {
    let settings = try ClientSettings(DirectClientConfiguration())
    let context = RequestContext(try WebURL("http://shop.test/"), RequestTimeouts(), settings, isRetryable: true)
    let error = context.error(TransferFailure(.timedOut))
    #expect(error.message == "No connection to http://shop.test: its addresses are silent." && error.code == .timedOut)
    let ours = context.error(TransferFailure(.init(reason: .timedOut, timer: .connect)))
    #expect(ours.message == "No connection to http://shop.test within 5.0 seconds: its addresses are silent.")
  }

  @Test func `a request whose time is over names the timeout that is to be raised`() throws {
    let timeouts = RequestTimeouts(firstByte: .seconds(1), idle: .seconds(2), total: .seconds(3))
    let settings = try ClientSettings(DirectClientConfiguration())
    let context = RequestContext(try WebURL("http://shop.test/"), timeouts, settings, isRetryable: true)
    for (timer, words) in [
      (TransferFailure.Timer.firstByte, "before the head of its response was whole (timeouts.firstByte)."),
      (.firstByte, "for 1.0 seconds"), (.idle, "for 2.0 seconds (timeouts.idle)."),
      (.total, "within 3.0 seconds (timeouts.total)."),
    ] {
      let message = context.error(TransferFailure(.init(reason: .timedOut, timer: timer))).message
      #expect(message.contains(words), "\(message)")
    }
  }

  @Test func `a body that goes silent costs the time that its pauses may take`() async throws {
    let server = try #require(TalkativeServer("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nfirst", then: ""))
    let client = try ClientSample.client { $0.timeouts.idle = .milliseconds(300) }
    let response = try await client.execute(ClientSample.get("http://shop.test:\(server.port)/"))
    var received: [UInt8] = []
    let error = await #expect(throws: DirectDNSError.self) {
      for try await piece in response.body { received += piece }
    }
    #expect(error?.code == .timedOut && error?.message.contains("0.3 ") == true && received == Array("first".utf8))
    await client.shutdown()
    await server.speak()
    server.stop()
  }

  @Test func `what comes counts for the pauses of a body, though it decodes to nothing`() async throws {
    let gates = (0..<3).map { _ in Gate() }
    // A member of gzip whose name is long (RFC 1952 §2.3), then `ok` in a stored block, its checksum and length.
    let head: [UInt8] = [0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 255]
    let rest: [UInt8] = [0, 1, 2, 0, 0xfd, 0xff, 0x6f, 0x6b, 0x47, 0xdd, 0xdc, 0x79, 2, 0, 0, 0]
    let origin = try await FakeOrigin.start { _ in
      OriginResponse(fields: [.contentEncoding: "gzip"]) { body in
        try await body.write(head)
        for gate in gates {
          try await gate.pass()
          try await body.write("name")
        }
        try await body.write(rest)
      }
    }
    let client = try ClientSample.client {
      $0.timeouts.idle = .seconds(2)
      $0.decompresses = true
    }
    let response = try await client.execute(request(.get, origin))
    let text = Task { try await response.body.text() }
    for gate in gates {
      await gate.waitForArrivals()
      // Another request's time is over before the body goes on.
      let silent = try #require(TalkativeServer("", then: ""))
      let options = RequestOptions(timeouts: RequestTimeouts(firstByte: .milliseconds(800)))
      await #expect(throws: DirectDNSError.self) {
        try await client.execute(ClientSample.get("http://shop.test:\(silent.port)/"), options: options)
      }
      await silent.speak()
      silent.stop()
      gate.open()
    }
    #expect(try await text.value == "ok")
    await client.shutdown()
    await origin.stop()
  }

  @Test func `the whole time covers waiting for a connection`() async throws {
    let origin = try await FakeOrigin.start { request in
      if request.path == "/slow" { try await Gate().pass() }
      return OriginResponse()
    }
    let client = try ClientSample.client { $0.connections = 1 }
    let slow = Task { try await client.execute(ClientSample.get(origin.url("/slow", host: "shop.test"))) }
    await origin.waitForRequests(1)
    let options = RequestOptions(timeouts: RequestTimeouts(total: .milliseconds(60)))
    let error = await #expect(throws: DirectDNSError.self) {
      try await client.execute(request(.get, origin), options: options)
    }
    #expect(error?.code == .timedOut && origin.requests.count == 1)
    slow.cancel()
    let cancelled = await #expect(throws: DirectDNSError.self) { try await slow.value }
    #expect(cancelled?.code == .cancelled)
    await client.shutdown()
    await origin.stop()
  }
}
