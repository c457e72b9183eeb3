// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct ConnectionTableTests {
  private static let limits = PoolLimits(connections: 1_000, connectionsPerRoute: 1_000, streams: 2, attemptDelay: 250)
  private let near = IPAddress.ipv4(1)
  private let far = IPAddress.ipv4(2)

  @Test func `a connection is there from its socket on, and is established once`() {
    var table = ConnectionTable<String>()
    table.opened(7, of: "a", to: near, in: 0)
    #expect(table.count == 1 && table[7]?.address == near && table[7]?.isEstablished == false && table[8] == nil)
    let isNews = [table.established(7), table.established(7), table.established(8)]
    #expect(isNews == [true, false, false] && table[7]?.isEstablished == true)
    let closed = [table.closed(7), table.closed(7)]
    #expect(closed.map { $0?.pool } == ["a", nil] && table.count == 0)
  }

  @Test func `only those that are established are found`() {
    var table = ConnectionTable<String>()
    for socket in 1...3 { table.opened(Int32(socket), of: "a", to: socket == 3 ? far : near, in: 0) }
    _ = table.established(2)
    _ = table.established(3)
    #expect(Set(table.established { _ in true }) == [2, 3] && table.established { $0.address == near } == [2])
  }

  @Test func `the pools with connections to an address are told once each`() {
    var table = ConnectionTable<String>()
    for (socket, pool) in ["a", "a", "b"].enumerated() { table.opened(Int32(socket), of: pool, to: near, in: 0) }
    table.opened(9, of: "c", to: far, in: 0)
    #expect(table.pools(connectedTo: near) == ["a", "b"])
  }

  @Test func `a cache with many connections gets no more pools, and the one with the fewest the next`() {
    var table = ConnectionTable<String>()
    for socket in 0..<Int32(128) { table.opened(socket, of: "a", to: near, in: 0) }
    #expect(table.assignCache(Self.limits) == 0, "so many are not too many")
    table.opened(128, of: "a", to: near, in: 0)
    #expect(table.assignCache(Self.limits) == 1 && table.assignCache(Self.limits) == 1)
    for socket in 200..<Int32(400) { table.opened(socket, of: "b", to: near, in: 1) }
    for socket in 0..<Int32(120) { _ = table.closed(socket) }
    #expect(table.assignCache(Self.limits) == 0 && table.cacheSizes == [9, 200])
  }

  @Test(arguments: [(255, 1), (512, 2), (1_000, 3), (100_000, 16)])
  func `there are as many caches as all connections fill twice over, and sixteen at most`(_ limit: Int, _ count: Int) {
    var table = ConnectionTable<String>()
    var limits = Self.limits
    limits.connections = limit
    for socket in 0..<Int32(5_000) { table.opened(socket, of: "a", to: near, in: table.assignCache(limits)) }
    #expect(table.cacheSizes.count == count)
  }
}
