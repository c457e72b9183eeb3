// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTPTypes
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

/// What a client does when something is broken on the way.
@Suite(.timeLimit(.minutes(1)))
struct DirectClientFailureTests {
  func request(_ method: HTTPRequest.Method, _ origin: FakeOrigin) throws -> HTTPRequest {
    HTTPRequest(method: method, url: try WebURL(origin.url("/", host: "shop.test")))
  }

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

  private struct Dead: Error {}

  @Test func `a process without a descriptor to spare says so, and holds it against no address`() async {
    // In a process of its own, whose limit is its own.
    await #expect(processExitsWith: .success) { await OwnProcess.run { try await Self.lacksDescriptors() } }
  }

  private static func lacksDescriptors() async throws {
    let origins = [
      try await FakeOrigin.start { _ in OriginResponse(body: "one") },
      try await FakeOrigin.start { _ in OriginResponse(body: "two") },
    ]
    let client = try ClientSample.client()
    func get(_ origin: FakeOrigin) async throws -> String {
      try await client.execute(ClientSample.get(origin.url("/", host: "shop.test"))).body.text()
    }
    #expect(try await get(origins[0]) == "one")
    let heard = client.resolver.ranking.revision(high: 0, low: 0x7F00_0001)
    let error = await OpenFiles.withNone {
      await #expect(throws: DirectDNSError.self) { _ = try await get(origins[1]) }
    }
    #expect(error?.code == .connectFailed)
    #expect(error?.message.hasSuffix("this process may open no further files (ulimit -n)") == true)
    #expect(client.resolver.ranking.revision(high: 0, low: 0x7F00_0001) == heard)
    #expect(try await get(origins[1]) == "two")
  }

  @Test func `connections that are kept leave descriptors for other servers`() async {
    await #expect(processExitsWith: .success) { await OwnProcess.run { try await Self.reachesMany() } }
  }

  private static func reachesMany() async throws {
    let origin = try await FakeOrigin.start { _ in OriginResponse(body: "here") }
    // A connection takes two of them here, one for each end; a process of tests has left it files of its own.
    let count = 200 + 2 * ProcessState.descriptors
    OpenFiles.limit(to: rlim_t(count))
    let client = try ClientSample.client()
    for number in 0..<count {
      let url = origin.url("/", host: "h\(number).localhost")
      #expect(try await client.execute(ClientSample.get(url)).body.text() == "here")
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
    #expect(log.failed == ["127.0.0.1"] && log.repetitions == (method == .post ? 0 : 1))
    #expect(staying.requests.count == log.repetitions)
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

  @Test(arguments: [false, true]) func `a POST that is safe to repeat is`(_ isUsed: Bool) async throws {
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

  @Test func `a body that can be made anew is`() async throws {
    let origin = try await dying(times: 1)
    let client = try ClientSample.client()
    let body = RequestBody.replayable { Pieces(bytes: Array(repeating: 7, count: 5_000)) }
    #expect(try await client.execute(request(.put, origin), body: body).status == .ok)
    #expect(origin.requests.map(\.body.count) == [5_000, 5_000])
    await client.shutdown()
    await origin.stop()
  }

  @Test func `a body that fails ends the request with its own error`() async throws {
    let origin = try await FakeOrigin.start()
    let client = try ClientSample.client()
    let error = await #expect(throws: DirectDNSError.self) {
      try await client.execute(
        request(.put, origin), body: .stream(AsyncThrowingStream { $0.finish(throwing: Dead()) }))
    }
    #expect(error?.code == .bodyFailed && error?.underlying is Dead)
    await client.shutdown()
    await origin.stop()
  }

  @Test func `without any address that answers, every one that was tried is told`() async throws {
    let client = try ClientSample.client(names: ["shop.test": ["127.0.0.2", "127.0.0.3"]])
    let error = await #expect(throws: DirectDNSError.self) {
      try await client.execute(ClientSample.get("http://shop.test:1/"))
    }
    #expect(error?.code == .connectFailed)
    #expect(Set(error?.attempts.map(\.server) ?? []) == ["127.0.0.2", "127.0.0.3"])
    await client.shutdown()
  }

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
    #expect(error.message == "no connection to http://shop.test: its addresses are silent" && error.code == .timedOut)
    let ours = context.error(TransferFailure(.init(reason: .timedOut, timer: .connect)))
    #expect(ours.message == "no connection to http://shop.test within 5.0 seconds: its addresses are silent")
  }

  @Test(
    arguments: [
      ("http://proxy.test:3128", "https://shop.test/", "https://shop.test"),
      ("https://proxy.test:3128", "http://shop.test/", "the proxy https://proxy.test:3128"),
      (
        "https://proxy.test:3128", "https://shop.test/",
        "the proxy https://proxy.test:3128 or with https://shop.test"
      ),
    ])
  func `where TLS fails, the proxy is named if it may be the proxy's`(proxy: String, url: String, peer: String) throws {
    var configuration = DirectClientConfiguration()
    configuration.proxy = .url(try WebURL(proxy))
    let context = RequestContext(
      try WebURL(url), RequestTimeouts(), try ClientSettings(configuration), isRetryable: true)
    #expect(context.error(TransferFailure(.tls("no"))).message == "TLS with \(peer) failed: no")
    let local = context.error(TransferFailure(.tlsSetup("no"))).message
    #expect(local.hasPrefix("TLS with \(peer) could not be set up on this machine: no"))
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

  @Test func `a task that was cancelled before sends nothing`() async throws {
    let origin = try await FakeOrigin.start()
    let client = try ClientSample.client()
    let task = Task {
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      return try await client.execute(request(.get, origin))
    }
    let error = await #expect(throws: DirectDNSError.self) { try await task.value }
    #expect(error?.code == .cancelled && error?.underlying is CancellationError && origin.requests.isEmpty)
    await client.shutdown()
    await origin.stop()
  }
}
