// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

/// Who may open a connection, and who has joined another one's.
final class PoolMachineConnectingTests: PoolFixture {
  // MARK: Who may open a connection

  @Test func `one that has ended opens nothing`() {
    let id = start()
    machine.cancel(id)
    let mayDial = mayDial(id)
    #expect(!mayDial)
  }

  @Test func `one that was to share a connection of unknown kind and opens its own tells that it is HTTP/1.1`() {
    let first = start(.unknown)
    _ = connect(first, 7)
    let second = start(.unknown)
    let mayDial = mayDial(second)
    #expect(mayDial && multiplexing == .never)
  }

  @Test func `the second attempt of one that was to share may open a connection`() {
    let first = start(.always)
    _ = connect(first, 7)
    let second = start(.always, "a", terms([near, far]))
    _ = machine.endTurn(at: 250)
    #expect(taken().contains("connect 1.1 0.0.0.2 waits"))
    let mayDial = mayDial(second, attempt: 1)
    #expect(mayDial)
  }

  @Test func `one whose second attempt has got a connection keeps it, though the first has found no room`() {
    let first = start(.always)
    _ = connect(first, 7)
    let second = start(.always, "a", terms([near, far]))
    _ = machine.endTurn(at: 250)
    let mayDial = [mayDial(second), mayDial(second, attempt: 1)]
    #expect(mayDial == [false, true])
    machine.dialled(8, second, attempt: 1)
    _ = machine.maySend(second, attempt: 1, at: 260)
    machine.ended(second, attempt: 0, .failed(.connect("not dialled")), at: 260)
    _ = taken()
    machine.headIsComplete(second, isMultiplexed: true)
    machine.ended(second, attempt: 1, .complete, at: 270)
    #expect(taken() == ["end 1", "close 1.1"], "it is not sent again behind its response")
  }

  /// Fills a route that multiplexes, and gives the request that its second connection carries.
  private func filled(_ connections: Int) -> Machine.TransferID {
    var last = start(.always, "a", terms([near, far]))
    _ = connect(last, 7)
    for number in 1..<max(1, connections) {
      let id = start(.always)
      _ = machine.maySend(id, attempt: 0, at: 1)
      last = start(.always, "a", terms([near, far]))
      _ = connect(last, 7 + Int32(number))
    }
    _ = taken()
    return last
  }

  @Test func `a request that libcurl sends again opens a connection where there is room for one`() {
    let id = filled(1)
    let mayDial = mayDial(id)
    #expect(mayDial && machine.transfers[id]?.state.mustRequeue == false)
  }

  @Test func `a request that libcurl sends again waits for its turn where there is no room`() {
    let id = filled(2)
    let mayDial = [mayDial(id, attempt: 1), mayDial(id)]
    #expect(mayDial == [true, false], "an attempt that does not carry it is not asked about")
    #expect(machine.transfers[id]?.state.mustRequeue == true)
    machine.ended(id, attempt: 0, .failed(.connect("not dialled")), at: 2)
    #expect(taken().suffix(1) == ["start over \(id.index)"])
  }

  @Test func `over HTTP/1.1 a request that is sent again takes the place of its connection`() {
    let ids = [start(), start()]
    for (number, id) in ids.enumerated() { _ = connect(id, 7 + Int32(number)) }
    let mayDial = mayDial(ids[1])
    #expect(mayDial)
  }

  // MARK: Who joined

  @Test func `who uses an established connection has joined it, and who opened one has not`() {
    let first = start(.always)
    _ = connect(first, 7)
    #expect(joins == 0)
    let second = start(.always)
    _ = machine.maySend(second, attempt: 0, at: 2)
    #expect(joins == 1)
  }

  @Test func `the loser of a race that opened a connection has joined none, another one has`() {
    let first = start(.never, "a", terms([near, far]))
    _ = machine.endTurn(at: 250)
    machine.dialled(7, first, attempt: 0)
    machine.dialled(8, first, attempt: 1)
    _ = machine.maySend(first, attempt: 1, at: 300)
    #expect(joins == 0)
    let second = start(.never, "a", terms([near, far]))
    _ = machine.endTurn(at: 600)
    machine.dialled(9, second, attempt: 0)
    _ = machine.maySend(second, attempt: 0, at: 601)
    #expect(joins == 0)
    let late = [machine.maySend(first, attempt: 0, at: 602), machine.maySend(first, attempt: 0, at: 603)]
    #expect(late.allSatisfy(\.isNo) && joins == 2, "it is over: what it finds now is another's")
  }

  @Test func `a request that joins another one's connection tells that it multiplexes, before any response`() {
    let first = start(.unknown)
    _ = connect(first, 7)
    #expect(multiplexing == .unknown)
    let second = start(.unknown)
    _ = machine.maySend(second, attempt: 0, at: 2)
    #expect(multiplexing == .always)
  }

  @Test(arguments: [PoolLoad.Multiplexing.unknown, .always, .never], [true, false])
  func `a response tells what the server speaks, whatever was thought before`(
    _ before: PoolLoad.Multiplexing, _ isMultiplexed: Bool
  ) {
    let id = start(before)
    _ = connect(id, 7)
    machine.headIsComplete(id, isMultiplexed: nil)
    #expect(multiplexing == before)
    let other = start(before)
    if before == .never { _ = connect(other, 8) } else { _ = machine.maySend(other, attempt: 0, at: 2) }
    machine.headIsComplete(other, isMultiplexed: isMultiplexed)
    #expect(multiplexing == (isMultiplexed ? .always : .never))
  }

  @Test(arguments: [true, false])
  func `the first response tells what a server of unknown kind speaks`(_ isMultiplexed: Bool) {
    let id = start(.unknown)
    _ = connect(id, 7)
    machine.headIsComplete(id, isMultiplexed: isMultiplexed)
    #expect(multiplexing == (isMultiplexed ? .always : .never))
  }
}
