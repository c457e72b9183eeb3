// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct PoolMachineTimersTests {
  private typealias Machine = PoolMachine<String>

  private static func machine(connections: Int) -> Machine {
    Machine(PoolLimits(connections: connections, connectionsPerRoute: connections, streams: 1, attemptDelay: 250))
  }

  private static func start(_ machine: inout Machine, until deadline: Int64) -> Machine.TransferID {
    let terms = TransferTerms(
      addresses: [.ipv4(1)], isRetryable: true, connectTimeout: 60_000, firstByteTimeout: 30_000, deadline: deadline)
    return machine.start(terms, "a", .never, at: 0)
  }

  /// Whose time was over by then.
  private static func ended(_ machine: inout Machine, at now: Int64) -> [Machine.TransferID] {
    _ = machine.endTurn(at: now)
    return (machine.actions.take() ?? []).compactMap { if case .end(let id, _) = $0 { id } else { nil } }
  }

  @Test func `those that wait end by their own time, and are waited for no longer than that`() {
    var machine = Self.machine(connections: 1)
    let runs = Self.start(&machine, until: 900)
    let waits = [300, 200, 400].map { Self.start(&machine, until: $0) }
    let due = machine.endTurn(at: 0)
    #expect(due == 200 && machine.running == [runs])
    for (now, id) in [(200, waits[1]), (300, waits[0]), (400, waits[2])] {
      #expect(Self.ended(&machine, at: Int64(now) - 1) == [])
      #expect(Self.ended(&machine, at: Int64(now)) == [id])
    }
    #expect(machine.endTurn(at: 400) == 900)
  }

  @Test func `one that ends leaves its place to another, whose time is kept`() {
    var machine = Self.machine(connections: 3)
    let ids = [500, 600, 700].map { Self.start(&machine, until: $0) }
    machine.cancel(ids[0])
    _ = machine.actions.take()
    #expect(Set(machine.running) == [ids[1], ids[2]])
    machine.cancel(ids[1])
    _ = machine.actions.take()
    #expect(machine.running == [ids[2]])
    let next = Self.start(&machine, until: 650)
    #expect(Self.ended(&machine, at: 650) == [next])
    #expect(Self.ended(&machine, at: 700) == [ids[2]] && machine.running.isEmpty)
  }

  @Test func `one that waits again is no longer among those that run`() {
    var machine = Self.machine(connections: 1)
    let first = Self.start(&machine, until: 800)
    machine.requeue(first)
    #expect(machine.running.isEmpty && !machine.isBusy)
    _ = machine.endTurn(at: 1)
    #expect(machine.running == [first] && machine.isBusy && machine.endTurn(at: 1) == 800)
  }

  @Test func `one whose end is hastened while it waits ends then`() {
    var machine = Self.machine(connections: 1)
    let first = Self.start(&machine, until: 800)
    let second = Self.start(&machine, until: 900)
    machine.requeue(first)
    machine.cancel(second)
    machine.shortenDeadline(first, until: 700)
    #expect(Self.ended(&machine, at: 0) == [second])
    #expect(Self.ended(&machine, at: 699) == [])
    #expect(Self.ended(&machine, at: 700) == [first] && !machine.isBusy)
  }
}
