// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

/// How connections are counted, and which of them are ended.
final class PoolMachineConnectionsTests: PoolFixture {
  @Test func `only connections that nobody uses are ended`() {
    let first = start()
    let second = start()
    _ = connect(first, 7)
    _ = connect(second, 8)
    machine.ended(first, attempt: 0, .complete, at: 2)
    _ = taken()
    machine.closeIdle(nil)
    #expect(taken() == [], "both go to one address, which is busy")
    machine.ended(second, attempt: 0, .complete, at: 3)
    _ = taken()
    machine.closeIdle(near)
    #expect(taken() == ["end socket 7", "end socket 8"])
  }

  @Test func `of several that were opened to a proxy's addresses the one that is connected is ended`() {
    let id = start()
    for socket: Int32 in [7, 8] { machine.dialled(socket, id, attempt: 0) }
    machine.closed(8)
    machine.connected(7, id, attempt: 0)
    let verdict = machine.maySend(id, attempt: 0, at: 1)
    let isFirst = if case .first(isReused: false) = verdict { true } else { false }
    machine.ended(id, attempt: 0, .complete, at: 2)
    _ = taken()
    machine.closeIdle(nil)
    #expect(isFirst && taken() == ["end socket 7"])
  }

  @Test(arguments: [PoolLoad.Multiplexing.never, .always])
  func `on another network no request shares a connection of the old one, busy or idle`(
    _ multiplexing: PoolLoad.Multiplexing
  ) {
    let old = start(multiplexing)
    _ = connect(old, 7)
    machine.headIsComplete(old, isMultiplexed: multiplexing == .always)
    machine.closeIdle(nil)
    let new = start(multiplexing)
    #expect(machine.transfers[new]?.pool != machine.transfers[old]?.pool)
    _ = machine.endTurn(at: 1)
    _ = taken()
    machine.ended(old, attempt: 0, .complete, at: 2)
    _ = machine.endTurn(at: 2)
    #expect(taken().suffix(1) == ["end socket 7"], "nobody else would end it")
    machine.closed(7)
    _ = machine.endTurn(at: 3)
    let next = start(multiplexing)
    #expect(machine.transfers[next]?.pool == machine.transfers[new]?.pool && machine.pools.ids.count == 1)
  }

  @Test func `one that is being opened on another network ends with its attempt alone`() {
    let cut = start()
    machine.dialled(7, cut, attempt: 0)
    machine.closeIdle(nil)
    _ = taken()
    machine.cancel(cut)
    _ = machine.endTurn(at: 2)
    #expect(taken() == ["fail 0 cancelled", "close 0.0"])
  }

  @Test func `a connection that is always busy takes no request that comes ten minutes after it was opened`() {
    let end = PoolLimits.lifetime
    let first = start(.always, "a", terms(deadline: .max))
    _ = connect(first, 7)
    machine.headIsComplete(first, isMultiplexed: true)
    let joins = machine.start(terms(deadline: .max), "a", .always, at: end - 1)
    #expect(machine.pool(of: joins) == machine.pool(of: first))
    _ = taken()
    let opens = machine.start(terms(deadline: .max), "a", .always, at: end)
    #expect(machine.pool(of: opens) != machine.pool(of: first))
    #expect(taken() == ["connect \(opens.index).0 \(near)"])
    machine.cancel(joins)
    machine.ended(first, attempt: 0, .complete, at: end)
    _ = machine.endTurn(at: end)
    #expect(taken().suffix(1) == ["end socket 7"])
  }

  @Test func `it goes on taking them where there is no room for another`() {
    machine = Machine(PoolLimits(connections: 1, connectionsPerRoute: 1, streams: 2, attemptDelay: 250))
    let first = start(.always, "a", terms(deadline: .max))
    _ = connect(first, 7)
    let next = machine.start(terms(deadline: .max), "a", .always, at: PoolLimits.lifetime)
    #expect(machine.pool(of: next) == machine.pool(of: first))
  }

  @Test func `what waits beside a busy connection to a dead address is the last choice`() {
    let busy = start()
    let ended = start()
    _ = connect(busy, 7)
    _ = connect(ended, 8)
    machine.ended(ended, attempt: 0, .complete, at: 2)
    machine.closeIdle(near)
    _ = taken()
    let next = start(.never, "a", terms([far, near]))
    #expect(taken() == ["connect \(next.index).0 \(far)"])
  }

  // MARK: Limits

  /// One cache with 300 connections to `a`, of which the last ones are busy, and one with as many to `b`.
  private func full(busy: Int) -> (Machine, other: Machine.TransferID) {
    let limits = PoolLimits(connections: 600, connectionsPerRoute: 1_000, streams: 2, attemptDelay: 250)
    var machine = Machine(limits)
    var first: [Machine.TransferID] = []
    func open(_ route: String, _ socket: Int32) -> Machine.TransferID {
      let id = machine.start(terms(), route, .never, at: 0)
      machine.dialled(socket, id, attempt: 0)
      _ = machine.maySend(id, attempt: 0, at: 0)
      return id
    }
    for socket in 0..<300 { first.append(open("a", Int32(socket))) }
    for id in first.dropLast(busy) { machine.ended(id, attempt: 0, .complete, at: 1) }
    for socket in 300..<600 { _ = open("b", Int32(socket)) }
    let other = machine.start(terms(), "b", .never, at: 2)
    _ = machine.actions.take()
    return (machine, other)
  }

  private static func ended(_ machine: Machine) -> [Int32] {
    machine.actions.waiting.compactMap { if case .endConnection(let socket) = $0 { socket } else { nil } }
  }

  @Test func `beyond the limit of all connections one that nobody uses is ended in another cache`() {
    var (machine, other) = full(busy: 0)
    #expect(machine.connections.cacheSizes == [300, 300] && Self.ended(machine) == [])
    machine.dialled(600, other, attempt: 0)
    #expect(
      Self.ended(machine) == [0] && machine.connections.cacheSizes == [299, 301] && machine.connections.count == 600)
  }

  @Test func `no connection of a pool is ended that carries requests`() {
    var (machine, other) = full(busy: 1)
    machine.dialled(600, other, attempt: 0)
    #expect(Self.ended(machine) == [] && machine.connections.cacheSizes == [300, 301])
  }

  @Test func `connections count from the socket on, and until it is closed`() {
    let id = start()
    machine.dialled(7, id, attempt: 0)
    #expect(machine.connections.cacheSizes == [1])
    machine.cancel(id)
    #expect(machine.connections.cacheSizes == [1])
    machine.closed(7)
    #expect(machine.connections.cacheSizes == [0])
  }

  @Test func `idle connections are ended by their address, and only those that are established`() {
    let id = start()
    _ = connect(id, 7)
    machine.ended(id, attempt: 0, .complete, at: 1)
    let cut = start(.never, "b")
    machine.dialled(8, cut, attempt: 0)
    machine.cancel(cut)
    _ = taken()
    machine.closeIdle(far)
    #expect(taken() == [])
    machine.closeIdle(nil)
    #expect(taken() == ["end socket 7"])
  }

  @Test func `a cache that has many connections gets no more routes`() {
    var machine = Machine(PoolLimits(connections: 1_000, connectionsPerRoute: 1_000, streams: 2, attemptDelay: 250))
    for socket in 0..<200 {
      let id = machine.start(terms(), "a", .never, at: 0)
      machine.dialled(Int32(socket), id, attempt: 0)
      _ = machine.maySend(id, attempt: 0, at: 0)
    }
    let other = machine.start(terms(), "b", .never, at: 0)
    #expect(machine.transfers[other].flatMap { machine.pools[$0.pool]?.cache } == 1)
  }
}
