// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import HTTPTypes
import Testing

@testable import DirectDNS

/// Readers that are slow, or leave before the end.
extension ResponseBodyTests {
  @Test func `a reader that does not read makes the server wait`() async throws {
    // More than both ends' sockets hold.
    let length = 64 << 20
    let written = Locked(0)
    let origin = try await FakeOrigin.start { _ in
      OriginResponse(length: length) { body in
        let piece = [UInt8](repeating: 7, count: 1 << 16)
        for _ in 0..<length / piece.count {
          try await body.write(piece)
          written.withLock { $0 += piece.count }
        }
      }
    }
    let client = try ClientSample.client { $0.bufferSize = 100_000 }
    let response = try await client.execute(ClientSample.get(origin.url("/", host: "shop.test")))
    let transfer = try #require(response.body.transfer)
    #expect(await ProcessState.eventually { transfer.isPaused })
    // Another exchange gives the server the time to go on, if it could.
    let other = try await client.execute(ClientSample.get(origin.url("/other", host: "shop.test")))
    other.body.cancel()
    #expect(transfer.unreadCount <= 100_000 && transfer.isPaused && written.withLock { $0 } < length)
    var pieces = response.body.makeAsyncIterator()
    var count = 0
    while let piece = try await pieces.next() {
      #expect(piece.count <= 100_000)
      count += piece.count
    }
    #expect(count == length)
    await client.shutdown()
    await origin.stop()
  }

  @Test(arguments: [false, true])
  func `what was held back for a reader who left is never another one's`(_ isAlone: Bool) async throws {
    let gate = Gate()
    try await staged(gate: gate) { origin, client in
      let other = try ClientSample.get(origin.url("/other", host: "shop.test"))
      // With another request on the connection, libcurl keeps what it holds back beyond the transfer.
      let beside = isAlone ? nil : Task.immediate { try await client.execute(other).body.text() }
      if !isAlone { await gate.waitForArrivals() }
      for path in ["/a", "/b", "/c", "/d"] {
        let left = try await client.execute(ClientSample.get(origin.url(path, host: "shop.test")))
        #expect(await ProcessState.eventually { left.body.transfer?.isPaused == true })
        left.body.cancel()
        let read = try await client.execute(ClientSample.get(origin.url(path.uppercased(), host: "shop.test")))
        #expect(await ProcessState.eventually { read.body.transfer?.isPaused == true })
        let body = try await read.body.collect(upTo: 1 << 20)
        #expect(body.count == 1 << 20 && body.allSatisfy { $0 == path.uppercased().utf8.last }, "\(path)")
      }
      gate.open()
      #expect(try await beside?.value ?? "other" == "other")
    }
  }

  @Test func `what was held back for readers whose connection died is never another one's`() async throws {
    let gate = Gate()
    try await staged(gate: gate) { origin, client in
      for path in ["/a", "/b"] {
        var left: [DirectResponse] = []
        for _ in 0..<2 { left.append(try await client.execute(ClientSample.get(origin.url(path, host: "shop.test")))) }
        for response in left {
          #expect(await ProcessState.eventually { response.body.transfer?.isPaused == true })
        }
        await origin.closeConnections()
        for response in left {
          await #expect(throws: DirectDNSError.self) { try await response.body.collect(upTo: .max) }
        }
        let read = try await client.execute(ClientSample.get(origin.url(path.uppercased(), host: "shop.test")))
        #expect(await ProcessState.eventually { read.body.transfer?.isPaused == true })
        let body = try await read.body.collect(upTo: 1 << 20)
        #expect(body.count == 1 << 20 && body.allSatisfy { $0 == path.uppercased().utf8.last }, "\(path)")
      }
    }
  }

  /// A server of long bodies over HTTP/2, each of one letter, and a client that buffers little.
  private func staged(gate: Gate, _ body: (FakeOrigin, DirectClient) async throws -> Void) async throws {
    let authority = try TestCertificateAuthority()
    let file = try authority.makeFile()
    let identity = try authority.issue(names: ["shop.test"])
    let origin = try await FakeOrigin.start(configuration: FakeOriginConfiguration(identity: identity)) { request in
      if request.path == "/other" {
        try await gate.pass()
        return OriginResponse(body: "other")
      }
      // More than libcurl takes in for one stream, so that whoever does not read it never has all.
      let count = request.path == request.path.lowercased() ? 40 : 1
      let piece = [UInt8](repeating: request.path.utf8.last ?? 0, count: 1 << 20)
      return OriginResponse(length: count << 20) { body in for _ in 0..<count { try await body.write(piece) } }
    }
    let client = try ClientSample.client {
      $0.trust = TrustStore(privateAuthorities: [file.path], environment: [:])
      $0.bufferSize = 20_000
    }
    try await body(origin, client)
    await client.shutdown()
    await origin.stop()
  }

  @Test func `dropping a body unread ends its transfer and no other`() async throws {
    let gate = Gate()
    let origin = try await FakeOrigin.start { request in
      OriginResponse(length: request.path == "/long" ? 1 << 30 : 9) { body in
        try await body.write("first")
        try await gate.pass()
        try await body.write("last")
      }
    }
    let client = try ClientSample.client()
    let other = try await client.execute(ClientSample.get(origin.url("/", host: "shop.test")))
    do {
      let dropped = try await client.execute(ClientSample.get(origin.url("/long", host: "shop.test")))
      #expect(dropped.status == .ok && origin.openConnectionCount == 2)
    }
    #expect(await origin.waitForOpenConnections(1))
    gate.open()
    #expect(try await other.body.text() == "firstlast")
    await client.shutdown()
    await origin.stop()
  }

  @Test func `a body outlives the client that was dropped`() async throws {
    let gate = Gate()
    let origin = try await FakeOrigin.start { _ in
      OriginResponse { body in
        try await body.write("a")
        try await gate.pass()
        try await body.write("b")
      }
    }
    let response = try await ClientSample.client().execute(ClientSample.get(origin.url("/", host: "shop.test")))
    gate.open()
    #expect(try await response.body.text() == "ab")
    await origin.stop()
  }

  @Test func `who is cancelled while there is always something to read gets what has come, and then an error`()
    async throws
  {
    let origin = try await FakeOrigin.start { _ in OriginResponse(generating: 1 << 40) }
    let client = try ClientSample.client()
    let response = try await client.execute(ClientSample.get(origin.url("/", host: "shop.test")))
    let transfer = try #require(response.body.transfer)
    let reader = Task {
      var pieces = response.body.makeAsyncIterator()
      #expect(try await pieces.next() != nil)
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      while let piece = try await pieces.next() {
        // A reader that is slower than the server: there is something each time.
        while transfer.unreadCount == 0, !transfer.hasEnded { await Task.yield() }
        guard !piece.isEmpty else { break }
      }
    }
    let error = await #expect(throws: DirectDNSError.self) { try await reader.value }
    #expect(error?.code == .cancelled)
    #expect(await origin.waitForOpenConnections(0))
    await client.shutdown()
    await origin.stop()
  }

  @Test func `cancelling the reader ends the transfer with an error`() async throws {
    let gate = Gate()
    let origin = try await FakeOrigin.start { _ in
      OriginResponse { body in
        try await body.write("a")
        try await gate.pass()
      }
    }
    let client = try ClientSample.client()
    let response = try await client.execute(ClientSample.get(origin.url("/", host: "shop.test")))
    let reader = Task { try await response.body.text() }
    await gate.waitForArrivals(1)
    reader.cancel()
    let error = await #expect(throws: DirectDNSError.self) { try await reader.value }
    #expect(error?.code == .cancelled)
    #expect(await origin.waitForOpenConnections(0))
    await client.shutdown()
    await origin.stop()
  }
}
