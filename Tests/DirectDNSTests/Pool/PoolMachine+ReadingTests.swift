// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

/// What the owner of a pool's machine may ask.
final class PoolMachineReadingTests: PoolFixture {
  @Test func `a transfer is there until it has ended, and in one pool with others of its route`() {
    #expect(machine.isEmpty)
    let (first, second, other) = (start(), start(), start(.never, "b"))
    #expect(!machine.isEmpty && machine.pool(of: first) != nil)
    #expect(machine.pool(of: first) == machine.pool(of: second) && machine.pool(of: first) != machine.pool(of: other))
    for id in [first, second, other] { machine.cancel(id) }
    #expect(machine.isEmpty && machine.pool(of: first) == nil && machine.sockets(of: first).isEmpty)
  }

  @Test func `each pool has a scope of its own within its cache`() throws {
    let pools = try [start(), start(.never, "b")].map { try #require(machine.pool(of: $0)) }
    let places = try pools.map { try #require(machine.place(of: $0)) }
    #expect(places.map(\.cache) == [0, 0] && places[0].scope != places[1].scope)
  }

  @Test(arguments: [(PoolLoad.Multiplexing.never, true), (.unknown, false), (.always, false)])
  func `connections are serial where that is known`(_ multiplexing: PoolLoad.Multiplexing, _ isSerial: Bool) throws {
    let id = start(multiplexing)
    let pool = try #require(machine.pool(of: id))
    #expect(machine.isSerial(pool) == isSerial)
    machine.cancel(id)
  }

  @Test(arguments: [(PoolLoad.Multiplexing.never, [] as [Int32]), (.unknown, []), (.always, [7])])
  func `sockets are shared where each connection carries several requests`(
    _ multiplexing: PoolLoad.Multiplexing, _ shared: [Int32]
  ) throws {
    let id = start(multiplexing)
    #expect(machine.sockets(of: id).isEmpty)
    _ = connect(id, 7)
    #expect(machine.sockets(of: id) == [7])
    #expect(machine.sharedSockets(of: try #require(machine.pool(of: id))) == shared)
  }

  @Test func `a connection leads where its pool and its address say, as long as it is there`() throws {
    let (first, other) = (start(), start(.never, "b"))
    _ = connect(first, 7)
    _ = connect(other, 8)
    let pool = try #require(machine.pool(of: first))
    for (socket, address) in [(7, near), (7, far), (8, near), (9, near)] as [(Int32, IPAddress)] {
      #expect(machine.leads(socket, into: pool, to: address) == (socket == 7 && address == near))
    }
    machine.closed(7)
    #expect(!machine.leads(7, into: pool, to: near))
  }

  @Test func `a transfer's connection is known once it has one, and whether that was there before`() throws {
    let first = start(.always)
    #expect(machine.connection(of: first) == nil)
    _ = connect(first, 7)
    let second = start(.always)
    _ = machine.maySend(second, attempt: 0, at: 5)
    let connections = try [first, second].map { try #require(machine.connection(of: $0)) }
    #expect(
      connections.map(\.isReused) == [false, true] && connections.map(\.since) == [1, 5]
        && connections.map(\.address) == [near, near])
    #expect(connections.allSatisfy { $0.slower.isEmpty && $0.failedAddresses.isEmpty && !$0.wasRetried })
  }
}
