// SPDX-License-Identifier: Apache-2.0
import CDirectDNSCurl
import DirectDNSTesting
import Testing

#if canImport(Glibc)
  import Glibc
#endif

@testable import DirectDNS

@Suite(.timeLimit(.minutes(1)))
struct CurlSocketsTests {
  @Test func `a socket is known from its connection's beginning to its end`() async throws {
    let server = try await FakeProvider.start(records: ProviderFixture.records)
    let sockets = CurlSockets()
    try fetch(server.url("/resolve?name=www.shop.test"), sockets) {
      #expect(sockets.open.count == 1)
      #expect(sockets.open.map { fcntl($0, F_GETFD) } == [FD_CLOEXEC])
      #if canImport(Glibc)
        for isCorked in [true, false] {
          CurlSockets.setCorked(isCorked, Array(sockets.open))
          #expect(sockets.open.map(self.isCorked) == [isCorked])
        }
      #endif
    }
    #expect(sockets.open == [])
    await server.stop()
  }

  @Test func `a connection that has ended is told from a quiet one by its port until libcurl closes it`() async throws {
    let server = try await FakeProvider.start(records: ProviderFixture.records)
    let sockets = CurlSockets()
    var port: CInt = 0
    try fetch(server.url("/resolve?name=www.shop.test"), sockets) {
      for socket in sockets.open {
        port = CInt(directdns_local_port(socket))
        #expect(port > 0)
        #expect(!sockets.hasUnread(port: port) { _ in true })
        directdns_end_unread(socket)
        #expect(sockets.hasUnread(port: port) { $0 == socket } && !sockets.hasUnread(port: port) { _ in false })
        #expect(!sockets.hasUnread(port: port + 1) { _ in true })
      }
    }
    #expect(!sockets.hasUnread(port: port) { _ in true })
    await server.stop()
  }

  @Test func `where a connection leads is known until libcurl closes it`() async throws {
    let server = try await FakeProvider.start(records: ProviderFixture.records)
    let sockets = CurlSockets()
    var former: curl_socket_t?
    try fetch(server.url("/resolve?name=www.shop.test"), sockets) {
      for socket in sockets.open {
        former = socket
        let peer = sockets.peer(of: socket)
        #expect(peer?.address == IPAddress.loopback())
        #expect(peer.map { Int($0.port) } == server.port)
      }
    }
    #expect(former.map { sockets.peer(of: $0) == nil } == true)
    await server.stop()
  }

  @Test func `a connection is found by its local port where it leads to the server that is meant`() async throws {
    let server = try await FakeProvider.start(records: ProviderFixture.records)
    let sockets = CurlSockets()
    let routes: [(route: QueryRoute, isIts: Bool)] = [
      (.sample(addresses: ["127.0.0.2"], port: server.port), false),
      (.sample(addresses: ["127.0.0.1"], port: 1), false),
      (.sample(addresses: ["127.0.0.2", "127.0.0.1"], port: server.port), true),
    ]
    try fetch(server.url("/resolve?name=www.shop.test"), sockets) {
      #expect(sockets.open.count == 1)
      for socket in sockets.open {
        let port = CInt(directdns_local_port(socket))
        for (route, isIts) in routes {
          #expect(sockets.socket(port: port, of: route) == (isIts ? socket : nil), "\(route.addresses)")
        }
        #expect(sockets.socket(port: port + 1, of: routes[2].route) == nil)
      }
    }
    await server.stop()
  }

  @Test func `a number stands for the socket that had it last, whatever becomes of the transfer before`() throws {
    let sockets = CurlSockets()
    var closed: [curl_socket_t] = []
    sockets.closing = { closed.append($0) }
    let first = try #require(CurlHandle())
    let second = try #require(CurlHandle())
    // No file of this process has such a number.
    let socket = curl_socket_t.max
    sockets.opened(socket, by: first)
    #expect(closed == [])
    sockets.opened(socket, by: second)
    #expect(closed == [socket] && sockets.open == [socket])
    sockets.ended(first)
    #expect(closed == [socket] && sockets.open == [socket])
  }

  #if canImport(Glibc)
    @Test func `of the sockets that a transfer opened the one that is connected stays known`() throws {
      let sockets = CurlSockets()
      let handle = try #require(CurlHandle())
      let dialled = (0..<2).map { _ in socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0) }
      for socket in dialled { sockets.opened(socket, by: handle) }
      // Neither has a port.
      #expect(sockets.established(port: 0, for: handle) == dialled[0])
      #expect(sockets.open.contains(dialled[1]) != CurlVersion.closesUntold)
      #expect(sockets.established(port: 0, for: handle) == nil)
      sockets.ended(handle)
      #expect(sockets.open.contains(dialled[0]))
      for socket in dialled { close(socket) }
    }
  #endif

  @Test func `a connection that was refused leaves no socket behind`() throws {
    let sockets = CurlSockets()
    try fetch("http://127.0.0.1:1/", sockets) { #expect(sockets.open == []) }
  }

  /// Sends a request without a loop; `body` runs while its connection is open.
  private func fetch(_ url: String, _ sockets: CurlSockets, _ body: () -> Void) throws {
    let request = QueryRequest.sample(url)
    let easy = try #require(QueryHandle(request.route, sockets: sockets))
    #expect(easy.prepare(request))
    unsafe _ = curl_easy_perform(easy.handle.pointer)
    body()
  }

  #if canImport(Glibc)
    private func isCorked(_ socket: curl_socket_t) -> Bool {
      var value: CInt = 0
      var size = socklen_t(MemoryLayout<CInt>.size)
      unsafe getsockopt(socket, CInt(IPPROTO_TCP), TCP_CORK, &value, &size)
      return value != 0
    }
  #endif
}
