// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct PoolLoadTests {
  private let near = IPAddress("192.0.2.1")
  private let far = IPAddress("192.0.2.2")

  private func pool(_ multiplexing: PoolLoad.Multiplexing, connections: Int = 3, streams: Int = 2) -> PoolLoad {
    PoolLoad(multiplexing: multiplexing, connectionLimit: connections, streamLimit: streams)
  }

  @Test func `HTTP/1.1 opens a connection for each request, up to the pool's limit`() {
    var pool = pool(.never)
    for count in 1...3 {
      #expect(pool.admission(free: 10) == .open)
      pool.started(near, opens: false)
      pool.established(near)
      #expect(pool.weight == count)
    }
    #expect(pool.admission(free: 10) == .poolIsFull)
    pool.ended(near, wasOpening: false, wasConnected: true)
    #expect(pool.admission(free: 10) == .reuse && pool.weight == 2)
  }

  @Test func `without a free connection of all nothing is opened`() {
    #expect(pool(.never).admission(free: 0) == .allInUse)
    #expect(pool(.unknown).admission(free: 0) == .allInUse)
  }

  @Test func `while nobody knows what a server speaks, one goes ahead and the others wait`() {
    var pool = pool(.unknown)
    #expect(pool.admission(free: 10) == .open)
    pool.started(near, opens: true)
    #expect(pool.admission(free: 10) == .poolIsFull)
    pool.established(near)
    pool.connected(near, insteadOf: near, opened: true)
    #expect(pool.admission(free: 10) == .reuse, "one more finds out what the connection can do")
    pool.started(near, opens: false)
    #expect(pool.admission(free: 10) == .poolIsFull, "the others wait for what it finds")
    pool.learned(isMultiplexed: true)
    #expect(pool.admission(free: 10) == .open, "two streams are taken")
  }

  @Test func `one that goes ahead and fails makes room for the next to do so`() {
    var pool = pool(.unknown)
    pool.started(near, opens: true)
    pool.ended(near, wasOpening: true, wasConnected: false)
    #expect(pool.admission(free: 10) == .open && pool.isEmpty)
  }

  @Test func `HTTP/2 fills its connections before it opens another one`() {
    var pool = pool(.always, connections: 2, streams: 2)
    pool.started(near, opens: true)
    pool.established(near)
    pool.connected(near, insteadOf: near, opened: true)
    #expect(pool.admission(free: 0) == .reuse, "a stream takes no connection of all")
    pool.started(near, opens: false)
    #expect(pool.admission(free: 1) == .open && pool.weight == 1)
    pool.started(near, opens: true)
    pool.established(near)
    pool.connected(near, insteadOf: near, opened: true)
    pool.started(near, opens: false)
    #expect(pool.admission(free: 10) == .poolIsFull && pool.weight == 2)
  }

  @Test func `a request that must open a connection of its own tells what the server speaks, or how much it takes`() {
    var unknown = pool(.unknown, streams: 50)
    unknown.started(near, opens: true)
    unknown.established(near)
    unknown.connected(near, insteadOf: near, opened: true)
    unknown.started(near, opens: false)
    unknown.overflowed()
    #expect(unknown.multiplexing == .never)

    var known = pool(.always, streams: 50)
    known.started(near, opens: true)
    known.established(near)
    known.connected(near, insteadOf: near, opened: true)
    for number in 0..<20 {
      known.started(near, opens: false)
      if number < 9 { known.connected(near, insteadOf: near, opened: false) }
    }
    known.overflowed()
    for _ in 9..<20 { known.ended(near, wasOpening: false, wasConnected: false) }
    #expect(known.admission(free: 10) == .open, "ten streams are what it takes")
    known.ended(near, wasOpening: false, wasConnected: true)
    #expect(known.admission(free: 10) == .reuse)
  }

  @Test func `a response tells what the server speaks, and a later one may tell otherwise`() {
    var pool = pool(.unknown)
    pool.learned(isMultiplexed: true)
    #expect(pool.multiplexing == .always)
    pool.learned(isMultiplexed: false)
    #expect(pool.multiplexing == .never)
  }

  @Test func `a pool weighs what is established and what is being opened, and an idle one nothing`() {
    var pool = pool(.always, connections: 3, streams: 1)
    #expect(pool.weight == 0)
    pool.started(near, opens: true)
    #expect(pool.weight == 1)
    pool.established(near)
    pool.connected(near, insteadOf: near, opened: true)
    pool.started(near, opens: true)
    #expect(pool.weight == 2)
    pool.ended(near, wasOpening: true, wasConnected: false)
    #expect(pool.weight == 1)
    pool.ended(near, wasOpening: false, wasConnected: true)
    #expect(pool.weight == 0 && !pool.isEmpty)
  }

  @Test func `a request that opens a connection takes no room on those that are established`() {
    var unknown = pool(.unknown)
    unknown.started(near, opens: true)
    unknown.established(near)
    #expect(unknown.admission(free: 10) == .reuse)
    var known = pool(.always, streams: 2)
    known.started(near, opens: true)
    known.established(near)
    known.connected(near, insteadOf: near, opened: true)
    known.started(near, opens: true)
    #expect(known.admission(free: 10) == .reuse)
  }

  @Test func `the first response tells that a server speaks HTTP/1.1, too`() {
    var pool = pool(.unknown)
    pool.learned(isMultiplexed: false)
    #expect(pool.multiplexing == .never)
  }

  @Test func `connections are shared while they carry more requests than there are of them`() {
    var pool = pool(.always, streams: 10)
    #expect(!pool.isShared(near))
    pool.started(near, opens: true)
    pool.established(near)
    pool.connected(near, insteadOf: near, opened: true)
    #expect(!pool.isShared(near) && !pool.isShared(far))
    pool.started(near, opens: false)
    #expect(pool.isShared(near))
    pool.established(near)
    pool.established(near)
    #expect(!pool.isShared(near))
    pool.closed(near)
    #expect(!pool.isShared(near), "two connections, two requests")
    pool.closed(near)
    #expect(pool.isShared(near))
  }

  @Test func `a server that takes fewer streams is asked for one at least, and without a connection tells nothing`() {
    var pool = pool(.always, streams: 50)
    pool.started(near, opens: true)
    pool.overflowed()
    pool.established(near)
    pool.connected(near, insteadOf: near, opened: true)
    #expect(pool.admission(free: 10) == .reuse)
    pool.started(near, opens: false)
    pool.overflowed()
    pool.ended(near, wasOpening: false, wasConnected: false)
    #expect(pool.admission(free: 10) == .open, "one stream is what it takes")
  }

  @Test func `what one connection took is forgotten with it`() {
    var pool = pool(.always, streams: 50)
    pool.started(near, opens: true)
    pool.established(near)
    pool.connected(near, insteadOf: near, opened: true)
    pool.started(near, opens: false)
    pool.overflowed()
    #expect(pool.admission(free: 10) == .open, "one stream is what it takes")
    // It was ending (GOAWAY): the next one takes as many as any.
    pool.established(near)
    pool.connected(near, insteadOf: near, opened: false)
    pool.closed(near)
    #expect(pool.admission(free: 10) == .reuse)
  }

  @Test func `a connection that nobody uses says nothing of how many requests one takes`() {
    var pool = pool(.always, streams: 50)
    pool.started(near, opens: true)
    pool.established(near)
    pool.connected(near, insteadOf: near, opened: true)
    pool.ended(near, wasOpening: false, wasConnected: true)
    // To another address, since the answer changed.
    pool.started(far, opens: true)
    pool.overflowed()
    pool.established(far)
    pool.connected(far, insteadOf: far, opened: true)
    #expect(pool.admission(free: 10) == .reuse)
  }

  @Test func `streams that have ended do not count for what a connection takes`() {
    var pool = pool(.always, streams: 50)
    pool.started(near, opens: true)
    pool.established(near)
    pool.connected(near, insteadOf: near, opened: true)
    for _ in 0..<5 {
      pool.started(near, opens: false)
      pool.connected(near, insteadOf: near, opened: false)
    }
    pool.ended(near, wasOpening: false, wasConnected: true)
    pool.ended(near, wasOpening: false, wasConnected: true)
    pool.overflowed()
    #expect(pool.admission(free: 10) == .open, "four of four")
    pool.ended(near, wasOpening: false, wasConnected: true)
    #expect(pool.admission(free: 10) == .reuse, "three of four")
  }

  @Test func `an address is busy until its last request has ended`() {
    var pool = pool(.never)
    pool.started(near, opens: false)
    pool.started(near, opens: false)
    pool.ended(near, wasOpening: false, wasConnected: false)
    #expect(pool.isBusy(near))
    pool.ended(near, wasOpening: false, wasConnected: false)
    #expect(!pool.isBusy(near) && pool.isEmpty)
  }

  @Test func `an address whose connection has room comes first, in the order of the addresses`() throws {
    let addresses = [try #require(far), try #require(near)]
    var pool = pool(.never)
    #expect(pool.ordered(addresses) == addresses)
    pool.started(near, opens: false)
    pool.established(near)
    #expect(pool.ordered(addresses) == addresses, "its connection is taken")
    #expect(pool.isBusy(near) && !pool.isBusy(far))
    pool.ended(near, wasOpening: false, wasConnected: true)
    #expect(pool.ordered(addresses) == addresses.reversed())
    #expect(pool.ordered([addresses[0]]) == [addresses[0]], "an address that is not in the answer is not used")
    pool.closed(near)
    #expect(pool.ordered(addresses) == addresses && pool.isEmpty)
  }

  @Test func `an address that died while it was used comes first no more, until it is connected to`() throws {
    let addresses = [try #require(far), try #require(near)]
    let dead = addresses[1]
    var pool = pool(.never)
    for _ in 0..<2 {
      pool.started(near, opens: false)
      pool.established(near)
    }
    pool.ended(near, wasOpening: false, wasConnected: true)
    #expect(pool.ordered(addresses) == [dead, addresses[0]])
    pool.died(dead)
    #expect(pool.ordered(addresses) == addresses)
    pool.established(near)
    #expect(pool.ordered(addresses) == [dead, addresses[0]])
  }

  @Test func `a connection that carries many requests goes on when another one to its address cannot be made`() throws {
    let addresses = [try #require(far), try #require(near)]
    var pool = pool(.always)
    pool.started(near, opens: true)
    pool.established(near)
    pool.connected(near, insteadOf: near, opened: true)
    pool.died(addresses[1])
    #expect(pool.ordered(addresses) == addresses.reversed())
  }

  @Test func `a request that got its connection to another address is counted there`() throws {
    var pool = pool(.never)
    pool.started(far, opens: false)
    pool.established(near)
    pool.connected(near, insteadOf: far, opened: false)
    #expect(pool.isBusy(near) && !pool.isBusy(far))
    pool.ended(near, wasOpening: false, wasConnected: true)
    #expect(pool.ordered([try #require(far), try #require(near)]).first == near)
    pool.closed(near)
    #expect(pool.isEmpty)
  }
}
