// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import HTTPTypes
import Testing

@testable import DirectDNS

@Suite(.timeLimit(.minutes(1)))
struct ResponseBodyTests {
  @Test(arguments: [nil, 10]) func `a head comes before its body, whose pieces come as they are sent`(_ length: Int?)
    async throws
  {
    let gate = Gate()
    let origin = try await FakeOrigin.start { _ in
      OriginResponse(length: length) { body in
        try await body.write("early")
        try await gate.pass()
        try await body.write(" late")
      }
    }
    let client = try ClientSample.client()
    let response = try await client.execute(ClientSample.get(origin.url("/", host: "shop.test")))
    var pieces = response.body.makeAsyncIterator()
    #expect(try await pieces.next() == Array("early".utf8))
    gate.open()
    #expect(try await pieces.next() == Array(" late".utf8))
    #expect(try await pieces.next() == nil)
    #expect(try await pieces.next() == nil)
    await client.shutdown()
    await origin.stop()
  }

  @Test func `a long body without a length takes no more memory than what has come, whatever the buffer may hold`()
    async throws
  {
    let origin = try await FakeOrigin.start { _ in
      OriginResponse { body in try await body.write([UInt8](repeating: 7, count: 300_000)) }
    }
    let client = try ClientSample.client { $0.bufferSize = 1 << 30 }
    let response = try await client.execute(ClientSample.get(origin.url("/", host: "shop.test")))
    #expect(try await response.body.collect(upTo: 1 << 20).count == 300_000)
    await client.shutdown()
    await origin.stop()
  }

  @Test func `a second reader gets an error, and the first one the body`() async throws {
    let gate = Gate()
    let origin = try await FakeOrigin.start { _ in
      OriginResponse { body in
        try await body.write("early")
        try await gate.pass()
      }
    }
    let client = try ClientSample.client()
    let response = try await client.execute(ClientSample.get(origin.url("/", host: "shop.test")))
    var pieces = response.body.makeAsyncIterator()
    #expect(try await pieces.next() == Array("early".utf8))
    // One of them waits; which of them came first does not matter.
    let readers = (0..<2).map { _ in Task { try await response.body.collect(upTo: 100) } }
    let first = await withTaskGroup(of: Result<[UInt8], any Error>.self) { group in
      for reader in readers { group.addTask { await reader.result } }
      let first = await group.next()
      gate.open()
      return (first, await group.next())
    }
    guard case .failure(let error as DirectDNSError)? = first.0, case .success(let rest)? = first.1 else {
      Issue.record("\(first)")
      return
    }
    #expect(error.code == .invalidRequest && rest.isEmpty)
    await client.shutdown()
    await origin.stop()
  }

  @Test func `text is read as UTF-8, and what is none is repaired`() async throws {
    let origin = try await FakeOrigin.start { request in
      OriginResponse(body: request.path == "/good" ? Array("grün".utf8) : [0x67, 0xFF, 0x6E])
    }
    let client = try ClientSample.client()
    #expect(try await client.get(origin.url("/good", host: "shop.test")).body.text() == "grün")
    #expect(try await client.get(origin.url("/bad", host: "shop.test")).body.text() == "g\u{FFFD}n")
    let error = await #expect(throws: DirectDNSError.self) {
      try await client.get(origin.url("/good", host: "shop.test")).body.text(upTo: 4)
    }
    #expect(error?.code == .bodyTooLarge)
    await client.shutdown()
    await origin.stop()
  }

  @Test func `a body is collected up to a limit, and beyond it the transfer ends`() async throws {
    let origin = try await FakeOrigin.start { _ in OriginResponse(generating: 100_000) }
    let client = try ClientSample.client()
    let request = try ClientSample.get(origin.url("/", host: "shop.test"))
    #expect(try await client.execute(request).body.collect(upTo: 100_000).count == 100_000)
    let error = await #expect(throws: DirectDNSError.self) {
      try await client.execute(request).body.collect(upTo: 99_999)
    }
    #expect(error?.code == .bodyTooLarge && error?.message.contains("99999") == true)
    await client.shutdown()
    await origin.stop()
  }

  @Test func `a reader that does not read makes the server wait`() async throws {
    let origin = try await FakeOrigin.start { _ in
      OriginResponse(length: 16 << 20) { body in
        let piece = [UInt8](repeating: 7, count: 1 << 16)
        for _ in 0..<256 {
          try await body.write(piece)
        }
      }
    }
    let client = try ClientSample.client { $0.bufferSize = 100_000 }
    let response = try await client.execute(ClientSample.get(origin.url("/", host: "shop.test")))
    var pieces = response.body.makeAsyncIterator()
    let first = try #require(try await pieces.next())
    #expect(first.count <= 100_000)
    var count = first.count
    while let piece = try await pieces.next() {
      #expect(piece.count <= 100_000)
      count += piece.count
    }
    #expect(count == 16 << 20)
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
      guard request.path == "/long" else { return OriginResponse(body: "short") }
      return OriginResponse(length: 1 << 30) { body in
        try await body.write("beginning")
        try await gate.pass()
      }
    }
    let client = try ClientSample.client()
    do {
      let dropped = try await client.execute(ClientSample.get(origin.url("/long", host: "shop.test")))
      #expect(dropped.status == .ok)
    }
    #expect(await origin.waitForOpenConnections(0))
    #expect(try await client.execute(ClientSample.get(origin.url("/", host: "shop.test"))).body.text() == "short")
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
    await client.shutdown()
    await origin.stop()
  }

  @Test(arguments: [false, true]) func `fields behind a body are there at its end`(_ isSecure: Bool) async throws {
    let authority = try TestCertificateAuthority()
    let file = try authority.makeFile()
    let identity = isSecure ? try authority.issue(names: ["shop.test"]) : nil
    let origin = try await FakeOrigin.start(configuration: FakeOriginConfiguration(identity: identity)) { _ in
      var response = OriginResponse(body: "content")
      response.trailers = [.contentDisposition: "checked"]
      return response
    }
    let client = try ClientSample.client { $0.trust = TrustStore(privateAuthorities: [file.path], environment: [:]) }
    let response = try await client.execute(ClientSample.get(origin.url("/", host: "shop.test")))
    #expect(try await response.body.text() == "content")
    #expect(response.body.trailerFields[.contentDisposition] == "checked")
    #expect(response.connection.httpVersion == (isSecure ? .http2 : .http1_1))
    await client.shutdown()
    await origin.stop()
  }

  @Test func `what is compressed stays so, unless it is to be decoded`() async throws {
    let origin = try await FakeOrigin.start { _ in OriginResponse(body: "plain text").gzipped() }
    let request = try ClientSample.get(origin.url("/", host: "shop.test"))
    let client = try ClientSample.client()
    #expect(try await client.execute(request).body.collect(upTo: 1000) != Array("plain text".utf8))
    let decoding = RequestOptions(decompresses: true)
    #expect(try await client.execute(request, options: decoding).body.text() == "plain text")
    #expect(origin.requests[0].fields[.acceptEncoding] == nil)
    #expect(origin.requests[1].fields[.acceptEncoding]?.contains("gzip") == true)
    await client.shutdown()
    await origin.stop()
  }

  @Test func `what stands behind compressed data is an error that says so`() async throws {
    var twice = OriginResponse(body: "plain text").gzipped()
    twice.body += twice.body
    let response = twice
    let origin = try await FakeOrigin.start { _ in response }
    let client = try ClientSample.client()
    let error = await #expect(throws: DirectDNSError.self) {
      let request = try ClientSample.get(origin.url("/", host: "shop.test"))
      _ = try await client.execute(request, options: RequestOptions(decompresses: true)).body.text()
    }
    #expect(error?.code == .malformedResponse && error?.message.contains("follows what could be decompressed") == true)
    await client.shutdown()
    await origin.stop()
  }

  @Test func `a response of many heads is the last one`() async throws {
    let origin = try await FakeOrigin.start { _ in
      var response = OriginResponse(body: "x")
      response.informational = [HTTPResponse(status: .init(code: 103), headerFields: [.link: "</a.css>"])]
      return response
    }
    let client = try ClientSample.client()
    let response = try await client.execute(ClientSample.get(origin.url("/", host: "shop.test")))
    #expect(response.status == .ok && !response.headerFields.contains(.link))
    await client.shutdown()
    await origin.stop()
  }
}

extension HTTPField.Name {
  fileprivate static let link = HTTPField.Name("Link") ?? .via
}
