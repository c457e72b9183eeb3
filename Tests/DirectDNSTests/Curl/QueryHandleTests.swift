// SPDX-License-Identifier: Apache-2.0
import CDirectDNSCurl
import DirectDNSTesting
import HTTPTypes
import Testing

@testable import DirectDNS

struct QueryHandleTests {
  private let route = QueryRoute(
    origin: Origin(Sample.url("http://127.0.0.1:1/")), trust: CurlTrust(), width: 50)

  private let sockets = CurlSockets()

  @Test func `a handle leads back to its object`() throws {
    let easy = try #require(QueryHandle(route, sockets: sockets))
    let other = try #require(QueryHandle(route, sockets: sockets))
    #expect(unsafe CurlHandle.owner(of: easy.handle.pointer, as: QueryHandle.self) === easy)
    #expect(unsafe CurlHandle.owner(of: other.handle.pointer, as: QueryHandle.self) === other)
  }

  @Test func `a handle that sent nothing has an empty response`() throws {
    let easy = try #require(QueryHandle(route, sockets: sockets))
    let message = HTTPMessage(url: "http://127.0.0.1:1/", fields: [.accept: "x"], body: [1])
    #expect(easy.prepare(QueryRequest(route: route, message: message, timeout: 1)))
    let reply = easy.takeReply()
    #expect(reply.status.code == 0 && reply.body == [] && reply.age == nil && reply.address == nil)
  }

  @Test func `a handle that libcurl had no memory for an option of is used again as a new one`() throws {
    let easy = try #require(QueryHandle(route, sockets: sockets))
    let request = QueryRequest(route: route, message: HTTPMessage(url: "http://127.0.0.1:1/"), timeout: 1)
    let old = unsafe easy.handle.pointer
    easy.handle.note(CURLE_UNKNOWN_OPTION)
    #expect(easy.prepare(request, to: .ipv4(0x7F00_0001)))
    #expect(unsafe easy.handle.pointer == old)
    easy.handle.note(CURLE_OUT_OF_MEMORY)
    #expect(easy.handle.lacksOption)
    #expect(easy.prepare(request) && !easy.handle.lacksOption)
    #expect(easy.address == .ipv4(0x7F00_0001))
    #expect(unsafe easy.handle.pointer != old)
  }

  @Test func `a handle keeps alive whom it tells of the end of its connections`() throws {
    weak var told: CurlSockets?
    var easy: QueryHandle?
    do {
      let sockets = CurlSockets()
      told = sockets
      easy = QueryHandle(route, sockets: sockets)
    }
    #expect(easy != nil && told != nil)
    easy = nil
    #expect(told == nil)
  }

  @Test func `handles that performed by themselves go with their connections`() async throws {
    let server = try await FakeProvider.start(records: ProviderFixture.records)
    let request = QueryRequest.sample(server.url("/resolve?name=www.shop.test"))
    for _ in 0..<20 {
      let sockets = CurlSockets()
      var easy = QueryHandle(request.route, sockets: sockets)
      #expect(easy?.prepare(request) == true)
      easy?.followTLS()
      #expect(easy?.perform() == CURLE_OK && easy?.takeReply().status == .ok && easy?.handle.isHTTP2 == false)
      #expect(sockets.open.count == 1)
      easy = nil
      #expect(sockets.open == [])
    }
    await server.stop()
  }

  @Test func `a thousand handles come and go`() {
    for _ in 0..<1000 { #expect(QueryHandle(route, sockets: sockets) != nil) }
  }
}
