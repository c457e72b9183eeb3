// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import HTTPTypes
import Testing

@testable import DirectDNS

/// How a client ends.
@Suite(.timeLimit(.minutes(4)))
struct LifetimeTests {
  @Test func `a shutdown waits for what is under way, and takes nothing new`() async throws {
    let gate = Gate()
    let origin = try await FakeOrigin.start { _ in
      try await gate.pass()
      return OriginResponse(body: "done")
    }
    let client = try ClientSample.client()
    let request = try ClientSample.get(origin.url("/", host: "shop.test"))
    let underWay = Task { try await client.execute(request).body.text() }
    await gate.waitForArrivals()
    let isOver = Locked(false)
    let end = Task.immediate {
      await client.shutdown(within: .seconds(60))
      isOver.withLock { $0 = true }
    }
    let error = await #expect(throws: DirectDNSError.self) { try await client.execute(request) }
    #expect(error?.code == .shutDown && origin.requests.count == 1)
    #expect(!isOver.withLock { $0 })
    gate.open()
    #expect(try await underWay.value == "done")
    await end.value
    #expect(await origin.waitForOpenConnections(0))
    await origin.stop()
  }

  @Test func `at its deadline a shutdown ends what is left, those included who wait for a connection`() async throws {
    let gate = Gate()
    let origin = try await FakeOrigin.start { _ in
      try await gate.pass()
      return OriginResponse()
    }
    let client = try ClientSample.client { $0.connections = 2 }
    let request = try ClientSample.get(origin.url("/", host: "shop.test"))
    let requests = (0..<5).map { _ in Task.immediate { try await client.execute(request) } }
    await gate.waitForArrivals(2)
    await client.shutdown(within: .milliseconds(20))
    for request in requests {
      let error = await #expect(throws: DirectDNSError.self) { try await request.value }
      #expect(error?.code == .shutDown)
    }
    #expect(origin.requests.count == 2)
    #expect(await origin.waitForOpenConnections(0))
    await origin.stop()
  }

  @Test func `a shutdown waits for a body that is being read`() async throws {
    let gate = Gate()
    let origin = try await FakeOrigin.start { _ in
      OriginResponse(length: 6) { body in
        try await body.write("one")
        try await gate.pass()
        try await body.write("two")
      }
    }
    let client = try ClientSample.client()
    let response = try await client.execute(ClientSample.get(origin.url("/", host: "shop.test")))
    let isOver = Locked(false)
    let end = Task.immediate {
      await client.shutdown(within: .seconds(60))
      isOver.withLock { $0 = true }
    }
    var pieces = response.body.makeAsyncIterator()
    #expect(try await pieces.next() == Array("one".utf8))
    #expect(!isOver.withLock { $0 })
    gate.open()
    #expect(try await pieces.next() == Array("two".utf8))
    #expect(try await pieces.next() == nil)
    await end.value
    await origin.stop()
  }

  @Test(arguments: [0, 100_000])
  func `a response that is kept keeps nothing of its request`(_ size: Int) async throws {
    final class Kept: Sendable {}
    struct Known { weak var kept: Kept? }
    let origin = try await FakeOrigin.start()
    let client = try ClientSample.client()
    func post() async throws -> (DirectResponse, [Known]) {
      let (body, observer, progress) = (Kept(), Kept(), Kept())
      var options = RequestOptions(observer: { [observer] _ in _ = observer })
      options.progress = { [progress] _ in _ = progress }
      let request = HTTPRequest(method: .post, url: try WebURL(origin.url("/", host: "shop.test")))
      let content = RequestBody.replayable { [body] in
        _ = body
        return AsyncStream<[UInt8]>([UInt8](repeating: 97, count: size))
      }
      let response = try await client.execute(request, body: content, options: options)
      _ = try await response.body.collect(upTo: 1 << 20)
      return (response, [body, observer, progress].map { Known(kept: $0) })
    }
    let (response, known) = try await post()
    await client.shutdown()
    #expect(known.filter { $0.kept != nil }.isEmpty)
    #expect(response.status == .ok)
    await origin.stop()
  }

  @Test(arguments: [HTTPProtocolVersion.http1, .http2])
  func `a client that is dropped leaves neither a thread nor a descriptor, with bodies half read`(
    _ version: HTTPProtocolVersion
  ) async throws {
    // In a process of its own, where nothing else opens descriptors; an exit test cannot take the argument along.
    switch version {
    case .http1: await #expect(processExitsWith: .success) { await Self.leavesNothing(.http1) }
    case .http2: await #expect(processExitsWith: .success) { await Self.leavesNothing(.http2) }
    }
  }

  private static func leavesNothing(_ version: HTTPProtocolVersion) async {
    await OwnProcess.run { try await comeAndGo(version) }
  }

  private static func comeAndGo(_ version: HTTPProtocolVersion) async throws {
    let authority = try TestCertificateAuthority()
    let file = try authority.makeFile()
    let identity = version == .http2 ? try authority.issue(names: ["shop.test"]) : nil
    // More than the kernel holds of one that is not read.
    let large = Sanitizer.volume(of: 50_000_000, atLeast: 10_000_000)
    let origin = try await FakeOrigin.start(configuration: FakeOriginConfiguration(identity: identity)) { request in
      if request.path == "/silent" { try await Gate().pass() }
      return OriginResponse(generating: request.path == "/large" ? large : 10)
    }
    func round(_ number: Int) async throws {
      let client = try ClientSample.client {
        $0.trust = TrustStore(privateAuthorities: [file.path], environment: [:])
      }
      func get(_ path: String) throws -> HTTPRequest { try ClientSample.get(origin.url(path, host: "shop.test")) }
      let before = origin.requests.count
      // One is read, one is half read, one is dropped unread, one waits for ever.
      _ = try await client.execute(get("/")).body.text()
      let half = try await client.execute(get("/large"))
      var pieces = half.body.makeAsyncIterator()
      _ = try await pieces.next()
      _ = try await client.execute(get("/large"))
      let silent = Task { [request = try get("/silent")] in _ = try await client.execute(request) }
      await origin.waitForRequests(before + 4)
      if number.isMultiple(of: 3) { await client.shutdown(within: .zero) }
      silent.cancel()
      _ = await silent.result
    }
    try await round(0)
    #expect(await ProcessState.eventually { origin.openConnectionCount == 0 })
    // The last client may still be on its way out: room for one, where ten would be a leak.
    let (descriptors, threads) = (ProcessState.descriptors + 4, ProcessState.threads + 4)
    for number in 0..<10 { try await round(number) }
    #expect(await ProcessState.eventually { origin.openConnectionCount == 0 })
    #expect(
      await ProcessState.eventually { ProcessState.descriptors <= descriptors }, "\(ProcessState.descriptors)")
    #expect(await ProcessState.eventually { ProcessState.threads <= threads }, "\(ProcessState.threads)")
  }
}
