// SPDX-License-Identifier: Apache-2.0
import CDirectDNSCurl
import DirectDNSTesting
import HTTPTypes
import Testing

@testable import DirectDNS

@Suite(.timeLimit(.minutes(1)))
struct CurlMultiTests {
  private let poller: Poller
  private let multi: CurlMulti

  init() throws {
    let wakeUp = try #require(WakeUp())
    poller = try #require(Poller(wakeUp))
    multi = try #require(CurlMulti(index: 0, poller: poller))
  }

  /// Goes on with the transfers until one of them ends.
  private func firstEnd() -> CURLcode {
    var end: CURLcode?
    while end == nil {
      if multi.due <= LoopTime.now { multi.actOnTimers() }
      unsafe multi.reap { end = $1 }
      let time = end == nil ? max(0, min(multi.due, LoopTime.now + 10_000) - LoopTime.now) : 0
      _ = poller.wait(time)
      poller.forEach { socket, ready, owner in
        #expect(owner == 0)
        multi.act(on: socket, ready)
      }
    }
    return end ?? CURLE_OK
  }

  @Test func `transfers go on by their sockets and by libcurl's own timers`() async throws {
    let server = try await FakeProvider.start(records: ProviderFixture.records)
    let sockets = CurlSockets(poller: poller)
    let request = QueryRequest.sample(server.url("/resolve?name=www.shop.test"))
    let easy = try #require(QueryHandle(request.route, sockets: sockets))
    for _ in 0..<3 {
      #expect(easy.prepare(request, isHTTP1: true))
      #expect(multi.due == .max)
      #expect(multi.add(easy.handle))
      #expect(multi.due <= LoopTime.now)
      #expect(firstEnd() == CURLE_OK)
      multi.remove(easy.handle)
      #expect(easy.takeReply().status == .ok && sockets.open.count == 1)
    }
    multi.close()
    #expect(sockets.open == [])
    await server.stop()
  }

  @Test func `it keeps alive whom its connections tell of their end, until they have`() async throws {
    let server = try await FakeProvider.start(records: ProviderFixture.records)
    weak var told: CurlSockets?
    do {
      let sockets = CurlSockets(poller: poller)
      told = sockets
      multi.sockets = sockets
      let request = QueryRequest.sample(server.url("/resolve?name=www.shop.test"))
      let easy = try #require(QueryHandle(request.route, sockets: sockets))
      #expect(easy.prepare(request))
      #expect(multi.add(easy.handle))
      #expect(firstEnd() == CURLE_OK)
      multi.remove(easy.handle)
    }
    #expect(told?.open.count == 1)
    multi.close()
    #expect(told?.open.count == 0)
    await server.stop()
  }

  @Test func `a socket that is not connected yet is known until its transfer is given up`() async throws {
    let server = try await FakeProvider.start(records: ProviderFixture.records)
    let silent = try #require(SilentAddress("127.0.0.7", port: server.port, accepts: false))
    let sockets = CurlSockets(poller: poller)
    multi.sockets = sockets
    let route = QueryRoute.sample(port: server.port)
    let request = QueryRequest.sample(server.url("/resolve?name=www.shop.test"), route: route)
    let easy = try #require(QueryHandle(route, sockets: sockets))
    #expect(easy.prepare(request, to: silent.address))
    for _ in 0..<2 {
      #expect(multi.add(easy.handle))
      for _ in 0..<10 where sockets.open.isEmpty { multi.actOnTimers() }
      #expect(sockets.open.count == 1)
      multi.remove(easy.handle)
      #expect(sockets.open == [])
    }
    multi.close()
    #expect(silent.hasConnection)
    await server.stop()
  }

  @Test func `a transfer that nobody tells of goes on when all are looked at`() async throws {
    let server = try await FakeProvider.start(records: ProviderFixture.records)
    let sockets = CurlSockets(poller: poller)
    let request = QueryRequest.sample(server.url("/resolve?name=www.shop.test"))
    let easy = try #require(QueryHandle(request.route, sockets: sockets))
    #expect(easy.prepare(request))
    #expect(multi.add(easy.handle))
    var end: CURLcode?
    while end == nil {
      multi.actOnAll()
      unsafe multi.reap { end = $1 }
      _ = poller.wait(10)
    }
    #expect(end == CURLE_OK)
    multi.remove(easy.handle)
    multi.close()
    await server.stop()
  }

  @Test func `libcurl says so where it does not take a transfer, which is none then`() throws {
    let easy = try #require(CurlHandle())
    #expect(multi.add(easy))
    let isTakenTwice = multi.add(easy)
    #expect(!isTakenTwice && easy.canReceive(overPlainHTTP2: false))
    multi.remove(easy)
    multi.close()
  }

  @Test func `all transfers are looked at once more where libcurl had no memory for one`() {
    // Of a socket that it has closed.
    multi.note(CURLM_BAD_SOCKET)
    multi.note(CURLM_OK)
    #expect(multi.due == .max)
    multi.note(CURLM_OUT_OF_MEMORY)
    #expect(multi.due <= LoopTime.now + CurlMulti.retryTime)
    while multi.due > LoopTime.now { _ = poller.wait(max(0, multi.due - LoopTime.now)) }
    multi.actOnTimers()
    #expect(multi.due == .max)
    multi.close()
  }
}
