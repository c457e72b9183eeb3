// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

/// Which DNS requests wait, and for how long; what may come in every order is in ``QueryPoolSimulationTests``.
final class QueryPoolMachineTests: QueryPoolFixture {
  @Test func `beyond the limit queries wait in their order, and those that have left are passed over`() {
    let ids = (0..<6).map { _ in start() }
    #expect(taken() == (0..<3).map { "begin \($0) by \($0) at 0.0.0.1" })
    machine.cancel(ids[3], at: 1)
    #expect(taken() == ["fail 3 cancelled"])
    #expect(connect(1, port: 9))
    reply(1)
    #expect(taken() == ["reply 1 from 1", "stop 1", "begin 4 by 1 at 0.0.0.1"])
    machine.cancel(ids[0], at: 3)
    #expect(taken() == ["fail 0 cancelled", "stop 0", "begin 5 by 0 at 0.0.0.1"])
    machine.cancel(ids[0], at: 3)
    #expect(taken().isEmpty, "a number that has ended means nothing any more")
  }

  @Test func `who waits is answered by its deadline, whatever its place`() {
    for _ in 0..<3 { start(deadline: 9_000) }
    for deadline in [900, 300, 600] as [Int64] { start(deadline: deadline) }
    _ = taken()
    #expect(machine.endTurn(at: 0) == 300)
    #expect(machine.endTurn(at: 700) == 900)
    #expect(taken() == ["fail 4 timed out", "fail 5 timed out"])
    #expect(machine.endTurn(at: 900) == 9_000)
    #expect(taken() == ["fail 3 timed out"])
  }

  @Test func `a server that speaks HTTP/1.1 gets as many queries as it may have connections`() {
    for _ in 0..<4 { start() }
    _ = taken()
    #expect(connect(0, port: 9))
    reply(0, isHTTP2: false)
    #expect(taken() == ["reply 0 from 0", "stop 0"], "two others are under way")
    #expect(connect(1, port: 10))
    reply(1, isHTTP2: true)
    #expect(taken() == ["reply 1 from 1", "stop 1", "begin 3 by 1 at 0.0.0.1"])
  }

  @Test func `all end with the loop`() {
    for _ in 0..<4 { start() }
    _ = taken()
    machine.stop()
    #expect(taken().filter { $0.hasPrefix("fail") } == (0..<4).map { "fail \($0) \(HTTPTransportError.shutDown)" })
    #expect(machine.isEmpty && machine.running == 0)
  }
}
