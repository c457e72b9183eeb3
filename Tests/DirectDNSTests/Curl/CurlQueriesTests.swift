// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import HTTPTypes
import Testing

@testable import DirectDNS

/// What the loop's thread decides: who runs, who waits, and for how long.
@Suite(.timeLimit(.minutes(1)))
struct CurlQueriesTests {
  private func withServer(
    _ body: (_ server: FakeProvider, _ loop: Loop<CurlQueries>, _ url: String) async throws -> Void
  )
    async throws
  {
    let server = try await FakeProvider.start(records: ProviderFixture.records)
    let loop = Loop<CurlQueries>()
    try await body(server, loop, server.url("/resolve?name="))
    loop.stop()
    await server.stop()
  }

  @Test func `the thread may end only while nothing runs or waits`() throws {
    let poller = try #require(WakeUp().flatMap { Poller($0) })
    let driver = try #require(CurlQueries((), poller: poller, resumption: TaskResumption()))
    let route = QueryRoute.sample(width: 1)
    let queries = (0..<2).map { _ in CurlQuery(.sample("http://127.0.0.1:1/", route: route), for: Nobody()) }
    #expect(driver.idleLimit == 120_000)
    for query in queries {
      driver.carryOut(.start(query))
      #expect(driver.idleLimit == nil)
    }
    for query in queries { driver.carryOut(.cancel(query)) }
    _ = driver.turn(hasNews: true)
    #expect(driver.idleLimit == 120_000)
    driver.stop()
    driver.close()
  }

  private final class Nobody: CurlRecipient {
    func receive(_ queries: ArraySlice<CurlQuery>) {}
  }

  @Test func `a pool has its own width and queue`() async throws {
    try await withServer { server, loop, url async throws in
      server.misbehave(.hold)
      let one = QueryRoute.sample(width: 1)
      let many = QueryRoute.sample()
      let narrow = (0..<4).map { loop.begin(.sample(url + "a\($0).flood.test", route: one)) }
      await server.waitForHeld(1)
      let wide = (0..<3).map { loop.begin(.sample(url + "b\($0).flood.test", route: many)) }
      await server.waitForHeld(4)
      #expect(server.requests.count == 4)
      server.behave()
      server.release()
      for task in narrow + wide { #expect(try await task.value.get().status == .ok) }
    }
  }

  @Test(arguments: [["doh.test", "doh.test"], ["doh.test", "dns.test"]])
  func `what one pool sends holds nothing up of another to the same server, whatever that is called`(
    _ hosts: [String]
  ) async throws {
    try await withServer { server, loop, _ async throws in
      server.misbehave(.hold)
      let tasks = hosts.enumerated().flatMap { scope, host in
        let route = QueryRoute.sample(
          host: host, addresses: ["127.0.0.1"], port: server.port, scope: scope, connections: 2)
        let url = "http://\(host):\(server.port)/resolve?name="
        return (0..<2).map { loop.begin(.sample(url + "n\($0).flood.test", route: route)) }
      }
      await server.waitForHeld(4)
      #expect(server.requests.count == 4)
      server.behave()
      server.release()
      for task in tasks { #expect(try await task.value.get().status == .ok) }
    }
  }

  @Test func `a pool of one serves in the order of arrival, and passes over who left`() async throws {
    try await withServer { server, loop, url async throws in
      server.misbehave(.hold, times: 1)
      let route = QueryRoute.sample(width: 1)
      let tasks = (0..<6).map { loop.begin(.sample(url + "n\($0).flood.test", route: route)) }
      await server.waitForHeld(1)
      tasks[2].cancel()
      tasks[5].cancel()
      #expect(await tasks[2].value.failure == .cancelled)
      #expect(await tasks[5].value.failure == .cancelled)
      server.release()
      for index in [0, 1, 3, 4] { #expect(try await tasks[index].value.get().status == .ok) }
      #expect(server.requests.compactMap(\.name) == [0, 1, 3, 4].map { "n\($0).flood.test" })
    }
  }

  @Test func `each of those who wait has its own time`() async throws {
    try await withServer { server, loop, url async throws in
      server.misbehave(.hold, times: 1)
      let route = QueryRoute.sample(width: 1)
      let first = loop.begin(.sample(url + "first.flood.test", route: route))
      await server.waitForHeld(1)
      let times: [Int64] = [20_000, 40, 20_000, 20, 60]
      let waiting = times.map { loop.begin(.sample(url + "n\($0).flood.test", timeout: $0, route: route)) }
      for index in [1, 3, 4] { #expect(await waiting[index].value.failure == .timedOut) }
      server.release()
      for task in [first, waiting[0], waiting[2]] { #expect(try await task.value.get().status == .ok) }
      #expect(server.requests.count == 3)
    }
  }

  @Test func `each of those who run has its own time, kept by the loop itself`() async throws {
    try await withServer { server, loop, url async throws in
      server.misbehave(.hold)
      let times: [Int64] = [20_000, 60, 20_000, 20, 40]
      let running = times.map { loop.begin(.sample(url + "n\($0).flood.test", timeout: $0)) }
      for index in [1, 3, 4] { #expect(await running[index].value.failure == .timedOut) }
      server.behave()
      server.release()
      for index in [0, 2] { #expect(try await running[index].value.get().status == .ok) }
    }
  }

  @Test func `hundreds that a silent server holds all end in time, and those behind them are sent`() async throws {
    try await withServer { server, loop, url async throws in
      server.misbehave(.hold)
      let route = QueryRoute.sample(width: 50)
      let tasks = (0..<400).map {
        loop.begin(.sample(url + "n\($0).flood.test", timeout: 50 + Int64($0), route: route))
      }
      for task in tasks { #expect(await task.value.failure == .timedOut) }
      server.behave()
      server.release()
      #expect(try await loop.perform(.sample(url + "www.shop.test", route: route)).status == .ok)
    }
  }

  @Test func `a pool whose request failed goes on with the next`() async throws {
    try await withServer { server, loop, url async throws in
      server.misbehave(.close, times: 2)
      let route = QueryRoute.sample(width: 1)
      let tasks = (0..<4).map { loop.begin(.sample(url + "n\($0).flood.test", route: route)) }
      var replies = 0
      for task in tasks { if case .success = await task.value { replies += 1 } }
      // libcurl retries a request by itself when a used connection turns out to be closed.
      #expect(replies >= 2)
    }
  }

  @Test func `the same origin at other addresses is another pool, and going back and forth works`()
    async throws
  {
    try await withServer { server, loop, _ async throws in
      let routes = [["127.0.0.1"], ["127.0.0.2", "127.0.0.1"]].enumerated().map {
        QueryRoute.sample(addresses: $1, port: server.port, scope: $0)
      }
      let url = "http://doh.test:\(server.port)/resolve?name=www.shop.test"
      for _ in 0..<5 {
        for route in routes { #expect(try await loop.perform(.sample(url, route: route)).status == .ok) }
      }
      // One for each of them, which the other does not get.
      #expect(server.connectionCount == 2)
    }
  }
}
