// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import Foundation
import HTTPTypes
import Testing

@testable import DirectDNS

@Suite(.timeLimit(.minutes(1)))
struct RequestBodyTests {
  private func send(
    _ body: RequestBody, _ method: HTTPRequest.Method = .put, fields: HTTPFields = [:], to origin: FakeOrigin,
    _ options: RequestOptions = RequestOptions()
  ) async throws -> DirectResponse {
    let client = try ClientSample.client()
    let url = try WebURL(origin.url("/", host: "shop.test"))
    let response = try await client.execute(
      HTTPRequest(method: method, url: url, headerFields: fields), body: body, options: options)
    _ = try await response.body.text()
    await client.shutdown()
    return response
  }

  @Test func `a file goes out as it is, with its length, and again where a redirect wants it`() async throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "body-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    let bytes = (0..<700_000).map { UInt8(truncatingIfNeeded: $0 / 3) }
    try Data(bytes).write(to: file)
    let origin = try await FakeOrigin.start { request in
      request.path == "/" ? OriginResponse(.temporaryRedirect, fields: [.location: "/there"]) : OriginResponse()
    }
    let response = try await send(.file(file.path), to: origin)
    #expect(response.status == .ok && response.hops.count == 1)
    #expect(origin.requests.map(\.body) == [bytes, bytes])
    #expect(origin.requests.map { $0.fields[.contentLength] } == ["700000", "700000"])
    await origin.stop()
  }

  @Test func `bytes may be an array, Foundation's data or the bytes of a text`() async throws {
    let origin = try await FakeOrigin.start()
    for body in [RequestBody.bytes([1, 2, 3]), .bytes(Data([1, 2, 3])), .bytes("\u{1}\u{2}\u{3}".utf8)] {
      _ = try await send(body, to: origin)
    }
    #expect(origin.requests.map(\.body) == Array(repeating: [1, 2, 3], count: 3))
    await origin.stop()
  }

  @Test(arguments: ["/no/such/file", "/", "/dev/null/x"]) func `a file that cannot be read is refused`(_ path: String) {
    let error = #expect(throws: DirectDNSError.self) { try RequestBody.file(path) }
    #expect(error?.code == .fileUnusable && error?.message.contains(path) == true)
  }

  @Test func `a redirect that needs a stream again is an error, never an empty body`() async throws {
    let origin = try await FakeOrigin.start { _ in OriginResponse(.permanentRedirect, fields: [.location: "/there"]) }
    let error = await #expect(throws: DirectDNSError.self) {
      try await send(.stream(Pieces(bytes: [1, 2, 3])), to: origin)
    }
    #expect(error?.code == .bodyNotReplayable && origin.requests.count == 1)
    await origin.stop()
  }

  @Test func `a stream that was sent is not sent again, and never as an empty body`() async throws {
    let origin = try await FakeOrigin.start()
    let body = RequestBody.stream(Pieces(bytes: [1, 2, 3]))
    _ = try await send(body, to: origin)
    let error = await #expect(throws: DirectDNSError.self) { try await send(body, to: origin) }
    #expect(error?.code == .bodyNotReplayable)
    #expect(origin.requests.filter { $0.body.isEmpty }.isEmpty)
    await origin.stop()
  }

  @Test func `a file whose place a FIFO has taken is not waited for`() async throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "body-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    try Data([1, 2, 3]).write(to: file)
    let body = try RequestBody.file(file.path)
    try FileManager.default.removeItem(at: file)
    #expect(unsafe mkfifo(file.path, 0o600) == 0)
    let origin = try await FakeOrigin.start()
    let error = await #expect(throws: DirectDNSError.self) { try await send(body, to: origin) }
    #expect(error?.code == .fileUnusable)
    await origin.stop()
  }

  @Test(arguments: [HTTPResponse.Status.found, .temporaryRedirect])
  func `a body's type goes where the body goes`(_ status: HTTPResponse.Status) async throws {
    let origin = try await FakeOrigin.start { request in
      request.path == "/" ? OriginResponse(status, fields: [.location: "/there"]) : OriginResponse()
    }
    _ = try await send(.text("{}", contentType: "application/json"), .post, to: origin)
    let isKept = status == .temporaryRedirect
    #expect(origin.requests.map(\.method) == [.post, isKept ? .post : .get])
    #expect(origin.requests.map { $0.fields[.contentType] } == ["application/json", isKept ? "application/json" : nil])
    await origin.stop()
  }

  @Test func `fields follow a body in chunks`() async throws {
    let origin = try await FakeOrigin.start()
    var body = RequestBody.text("content")
    body.trailerFields = [.contentDisposition: "checked"]
    _ = try await send(body, to: origin)
    let request = try #require(origin.requests.first)
    #expect(request.body == Array("content".utf8) && request.fields[.transferEncoding] == "chunked")
    #expect(request.fields[.trailer] == "Content-Disposition" && request.trailers[.contentDisposition] == "checked")
    await origin.stop()
  }

  @Test func `a body whose length is known can be sent in chunks all the same, more than once`() async throws {
    let origin = try await FakeOrigin.start()
    let bytes = (0..<600_000).map { UInt8(truncatingIfNeeded: $0) }
    let body = RequestBody.bytes(bytes, contentType: "a/b").chunked
    for _ in 0..<2 { _ = try await send(body, to: origin) }
    #expect(origin.requests.map(\.body) == [bytes, bytes])
    #expect(origin.requests.map { $0.fields[.transferEncoding] } == ["chunked", "chunked"])
    #expect(origin.requests.map { $0.fields[.contentType] } == ["a/b", "a/b"])
    #expect(RequestBody.none.chunked.kind == .none)
    await origin.stop()
  }

  @Test func `an expectation holds the body back until the server wants it`() async throws {
    let origin = try await FakeOrigin.start()
    _ = try await send(.text("wanted"), fields: [.expect: "100-continue"], to: origin)
    #expect(origin.requests.map(\.body) == [Array("wanted".utf8)])
    await origin.stop()
    // The last word of the server instead: success too says that the body is not needed.
    for status in [HTTPResponse.Status.contentTooLarge, .ok] {
      let strict = try await FakeOrigin.start(admit: { request in
        request.fields.contains(.expect) ? .answer(OriginResponse(status)) : .read
      })
      let response = try await send(.text("unwanted"), fields: [.expect: "100-continue"], to: strict)
      #expect(response.status == status && strict.requests.allSatisfy { $0.body.isEmpty })
      await strict.stop()
    }
  }

  @Test(arguments: [10, 2]) func `a body that is not as long as it was said to be is an error`(_ length: Int64)
    async throws
  {
    let origin = try await FakeOrigin.start()
    let error = await #expect(throws: DirectDNSError.self) {
      try await send(.stream(Pieces(bytes: [1, 2, 3]), length: length), to: origin)
    }
    #expect(error?.code == .bodyFailed && error?.message.contains("\(length) bytes") == true)
    await origin.stop()
  }

  @Test func `methods that expect content say that there is none`() async throws {
    let origin = try await FakeOrigin.start()
    for method in [HTTPRequest.Method.post, .put, .patch, .get, .delete] {
      _ = try await send(.none, method, to: origin)
    }
    #expect(origin.requests.map { $0.fields[.contentLength] } == ["0", "0", "0", nil, nil])
    #expect(origin.requests.allSatisfy { !$0.fields.contains(.contentType) && !$0.fields.contains(.expect) })
    await origin.stop()
  }

  @Test func `trailers of one request leave nothing behind for the next one's chunks`() async throws {
    let origin = try await FakeOrigin.start()
    let client = try ClientSample.client()
    let url = try WebURL(origin.url("/", host: "shop.test"))
    for _ in 0..<3 {
      var body = RequestBody.text("hello")
      body.trailerFields = [.eTag: "x"]
      for body in [body, .stream(Pieces(bytes: Array(repeating: 7, count: 200_000)))] {
        let response = try await client.execute(HTTPRequest(method: .put, url: url), body: body)
        _ = try await response.body.collect(upTo: 400_000)
        #expect(response.status == .ok)
      }
    }
    #expect(origin.requests.map(\.body.count) == [5, 200_000, 5, 200_000, 5, 200_000])
    await client.shutdown()
    await origin.stop()
  }

  @Test(arguments: [0, 3, 65_536, 500_000], [false, true])
  func `progress is told, and its last word is the whole`(_ size: Int, _ isHTTP2: Bool) async throws {
    let authority = try TestCertificateAuthority()
    let file = try authority.makeFile()
    let configuration = FakeOriginConfiguration(identity: isHTTP2 ? try authority.issue(names: ["shop.test"]) : nil)
    let origin = try await FakeOrigin.start(configuration: configuration) { _ in
      OriginResponse(generating: 300_000)
    }
    let client = try ClientSample.client { $0.trust = TrustStore(privateAuthorities: [file.path], environment: [:]) }
    let told = Locked<[TransferProgress]>([])
    let response = try await client.execute(
      HTTPRequest(method: .put, url: try WebURL(origin.url("/", host: "shop.test"))),
      body: .bytes(Array(repeating: 1, count: size)),
      options: RequestOptions(progress: { progress in told.withLock { $0.append(progress) } }))
    #expect(response.connection.httpVersion == (isHTTP2 ? .http2 : .http1_1))
    #expect(try await response.body.collect(upTo: 400_000).count == 300_000)
    let last = try #require(told.withLock { $0.last })
    #expect(last == TransferProgress(sent: Int64(size), received: 300_000, expected: 300_000))
    await client.shutdown()
    await origin.stop()
  }
}
