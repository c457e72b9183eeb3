// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

/// Who waits, and who connects where; what may come in every order is in ``PoolSimulationTests``.
final class PoolMachineTests: PoolFixture {
  @Test func `a request connects, is answered, and leaves its connection to the next`() {
    let first = start()
    #expect(taken() == ["connect 0.0 0.0.0.1"])
    guard case .first(isReused: false) = connect(first, 7) else { return #expect(Bool(false)) }
    machine.headIsComplete(first, isMultiplexed: false)
    machine.ended(first, attempt: 0, .complete, at: 2)
    #expect(taken() == ["end 0", "close 0.0"])
    _ = machine.endTurn(at: 2)
    let second = start()
    #expect(taken() == ["connect 0.0 0.0.0.1"])
    guard case .first(isReused: true) = machine.maySend(second, attempt: 0, at: 3) else {
      return #expect(Bool(false))
    }
    let late = machine.maySend(first, attempt: 0, at: 3)
    #expect(late.isNo, "the first one's number means nothing any more")
  }

  @Test func `beyond a route's limit requests wait, in the order of their arrival`() {
    let ids = (0..<4).map { _ in start() }
    #expect(taken() == ["connect 0.0 0.0.0.1", "connect 1.0 0.0.0.1"])
    machine.cancel(ids[2])
    #expect(taken() == ["fail 2 cancelled"])
    _ = connect(ids[0], 7)
    machine.ended(ids[0], attempt: 0, .complete, at: 5)
    _ = machine.endTurn(at: 5)
    #expect(taken() == ["end 0", "close 0.0", "connect 3.0 0.0.0.1"])
  }

  @Test func `who waits is answered by its deadline`() {
    for _ in 0..<2 { _ = start() }
    let last = start(.never, "a", terms(deadline: 900))
    _ = taken()
    #expect(machine.endTurn(at: 0) == 900)
    _ = machine.endTurn(at: 900)
    #expect(taken() == ["fail \(last.index) timed out"])
  }

  @Test func `where several share a connection, one goes ahead and the others wait for it`() {
    let first = start(.unknown)
    _ = start(.unknown)
    #expect(taken() == ["connect 0.0 0.0.0.1"])
    _ = connect(first, 7)
    machine.headIsComplete(first, isMultiplexed: true)
    _ = machine.endTurn(at: 1)
    #expect(taken() == ["connect 1.0 0.0.0.1 waits"])
  }

  @Test func `one that is cancelled, or ended with all others, may have arrived if it has a connection`() {
    let ids = [start(), start()]
    _ = connect(ids[0], 7)
    _ = taken()
    var other = machine
    machine.cancel(ids[0])
    machine.cancel(ids[1])
    other.stop()
    for machine in [machine, other] {
      let ends = machine.actions.waiting.compactMap { action -> (Machine.TransferID, Bool)? in
        if case .end(let id, .failure(let failure)) = action { (id, failure.facts.mayHaveReachedServer) } else { nil }
      }
      #expect(ends.count == 2 && ends.allSatisfy { $0.1 == ($0.0 == ids[0]) })
    }
  }

  @Test func `one that finds no room on the shared connection waits again, once`() {
    let first = start(.always)
    _ = connect(first, 7)
    _ = machine.endTurn(at: 1)
    let second = start(.always)
    _ = taken()
    let mayDial = machine.mayDial(second, attempt: 0, at: 1)
    #expect(!mayDial)
    machine.ended(second, attempt: 0, .failed(.connect("not dialled")), at: 2)
    _ = machine.endTurn(at: 2)
    #expect(taken().prefix(2) == ["close 1.0", "start over 1"])
  }

  @Test func `attempts follow each other, and a failure starts the next at once`() {
    let id = start(.never, "a", terms([near, far]))
    _ = taken()
    #expect(machine.endTurn(at: 0) == 250)
    machine.ended(id, attempt: 0, .failed(.connect("refused")), at: 20)
    #expect(taken() == ["failed 0 0.0.0.1", "close 0.0", "connect 0.1 0.0.0.2"])
    machine.ended(id, attempt: 1, .failed(.connect("refused")), at: 30)
    #expect(taken() == ["failed 0 0.0.0.2", "close 0.1", "fail 0 no connection: refused"])
  }

  @Test func `the other family is asked for, and joins`() {
    let id = start(.never, "a", terms([near], hasOthers: true))
    _ = taken()
    machine.ended(id, attempt: 0, .failed(.connect("refused")), at: 20)
    #expect(taken() == ["failed 0 0.0.0.1", "close 0.0", "ask 0"])
    machine.step(id, at: 20)
    #expect(taken() == [], "it is awaited")
    machine.join(id, [far], at: 90)
    #expect(taken() == ["connect 0.1 0.0.0.2"])
  }

  @Test func `the losers of a race are closed, and the winner's connection is the request's`() {
    let id = start(.never, "a", terms([near, far]))
    _ = machine.endTurn(at: 250)
    _ = taken()
    machine.dialled(7, id, attempt: 0)
    machine.dialled(8, id, attempt: 1)
    let passes = [machine.maySend(id, attempt: 1, at: 300), machine.maySend(id, attempt: 0, at: 301)]
    #expect(!passes[0].isNo && passes[1].isNo)
    #expect(taken() == ["close 0.0"])
  }

  @Test func `an address that is forbidden when it is dialled ends the request`() {
    let id = start(.never, "a", terms([near, far]))
    _ = taken()
    machine.forbid(near, id)
    machine.ended(id, attempt: 0, .failed(.connect("refused")), at: 1)
    guard case .end(_, .failure(let failure))? = machine.actions.waiting.last else { return #expect(Bool(false)) }
    #expect(failure.facts.forbidden == near)
  }

  @Test func `a body that breaks off is a failure, and a connection that ends before the request no response`() {
    let first = start()
    _ = connect(first, 7)
    machine.headIsComplete(first, isMultiplexed: false)
    machine.ended(first, attempt: 0, .failed(.connectionLost("reset")), at: 2)
    #expect(taken().contains { $0.hasPrefix("fail 0 connection lost") })
    let second = start()
    _ = taken()
    machine.ended(second, attempt: 0, .complete, at: 3)
    #expect(taken().contains { $0.hasPrefix("fail") && $0.contains("before the request went out") })
  }

  @Test func `a request that has ended counts no longer for what a connection takes`() {
    var machine = Machine(PoolLimits(connections: 9, connectionsPerRoute: 9, streams: 50, attemptDelay: 250))
    var ids: [Machine.TransferID] = []
    for number in 0..<3 {
      let id = machine.start(terms(), "a", .always, at: 0)
      if number == 0 { machine.dialled(7, id, attempt: 0) }
      _ = machine.maySend(id, attempt: 0, at: 1)
      ids.append(id)
    }
    for id in ids.dropFirst() { machine.ended(id, attempt: 0, .complete, at: 2) }
    let turned = machine.start(terms(), "a", .always, at: 3)
    let mayDial = machine.mayDial(turned, attempt: 0, at: 1)
    #expect(!mayDial)
    _ = machine.actions.take()
    _ = machine.start(terms(), "a", .always, at: 4)
    guard case .connect(_, attempt: 0, _, waits: false)? = machine.actions.waiting.first else {
      return #expect(Bool(false), "one stream is what the connection takes: \(machine.actions.waiting)")
    }
  }

  @Test func `when all is over, nothing is left`() {
    let id = start()
    _ = connect(id, 7)
    machine.stop()
    machine.closed(7)
    _ = machine.endTurn(at: 1)
    #expect(taken().contains("fail 0 shut down"))
    #expect(
      machine.transfers.count == 0 && machine.pools.count == 0 && machine.connections.count == 0 && !machine.isBusy)
  }
}
