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
    var count = 0
    for try await piece in response.body {
      count += piece.count
      // The memory that was reserved for what had not come yet is the piece's, too.
      #expect(piece.capacity < 8 << 20)
    }
    #expect(count == 300_000)
    await client.shutdown()
    await origin.stop()
  }

  @Test func `a second reader gets an error, and the first one the body`() async throws {
    let gate = Gate()
    let origin = try await FakeOrigin.start { _ in
      OriginResponse { body in
        try await body.write("early")
        try await gate.pass()
        try await body.write("late")
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
    #expect(error.code == .invalidRequest && rest == Array("late".utf8))
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
    let words = "The body of http://shop.test:\(origin.port)'s response has more than 99999 bytes:"
    #expect(error?.code == .bodyTooLarge && error?.message.hasPrefix(words) == true)
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
