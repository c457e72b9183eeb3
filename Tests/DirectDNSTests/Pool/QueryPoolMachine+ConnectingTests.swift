// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

/// Which address is tried when, and whose connection a query gets.
final class QueryPoolMachineConnectingTests: QueryPoolFixture {
  @Test func `the next address is tried after 250 ms, and at once when one is refused`() {
    start()
    machine.dialled(0, at: 0)
    #expect(machine.endTurn(at: 0) == 250)
    _ = taken()
    #expect(machine.endTurn(at: 250) == 500)
    #expect(taken() == ["begin 0 by 1 at 0.0.0.2"])
    machine.dialled(1, at: 250)
    machine.ended(1, .failed(.connect("refused"), .other), at: 260)
    #expect(taken() == ["begin 0 by 2 at 0.0.0.3", "stop 1"])
    #expect(machine.endTurn(at: 500) == 3_000)
    #expect(taken().isEmpty)
  }

  @Test func `a query that waits for another's connection begins no race of its own`() {
    start()
    start()
    machine.dialled(0, at: 0)
    _ = taken()
    _ = machine.endTurn(at: 250)
    #expect(taken() == ["begin 0 by 2 at 0.0.0.2"])
  }

  @Test func `the first connection is for every query that has none, and its address is the next one's first`() {
    start()
    start()
    machine.dialled(0, at: 0)
    _ = machine.endTurn(at: 250)
    _ = taken()
    #expect(connect(2, port: 9, at: 260))
    #expect(!join(0, port: 10), "a query is sent once")
    _ = machine.endTurn(at: 260)
    #expect(taken() == ["stop 0", "stop 1", "begin 1 by 1 at 0.0.0.2"])
    #expect(order() == ["0.0.0.2", "0.0.0.1", "0.0.0.3"])
    start(at: 300)
    #expect(taken() == ["begin 2 by 0 at 0.0.0.2"])
  }

  @Test func `what fails in the turn in which another query's connection came goes on at that address`() {
    start()
    start()
    for handle in 0...1 { machine.dialled(handle, at: 0) }
    _ = machine.endTurn(at: 250)
    #expect(connect(2, port: 9, at: 260))
    machine.ended(1, .failed(.connect("refused"), .other), at: 260)
    machine.ended(0, .failed(.cancelled, .other), at: 260)
    _ = machine.endTurn(at: 260)
    #expect(!taken().contains { $0.hasPrefix("fail") })
    #expect(machine.handles.filter { $0.query != nil }.map(\.address) == [.ipv4(2), .ipv4(2)])
  }

  @Test func `a race that every address has lost is told with the last reason`() {
    start()
    machine.dialled(0, at: 0)
    for handle in [0, 1, 0] {
      machine.dialled(handle, at: 0)
      _ = taken()
      machine.ended(handle, .failed(.connect("refused"), .other), at: 1)
    }
    #expect(taken() == ["fail 0 \(HTTPTransportError.connect("refused"))", "stop 0"])
  }

  @Test func `a connection is opened for the next query although the one that opens it was cancelled`() {
    let first = start()
    machine.dialled(0, at: 0)
    _ = taken()
    machine.cancel(first, at: 150)
    #expect(taken() == ["leave 0"])
    machine.cancel(first, at: 160)
    #expect(taken().isEmpty)
    // Its race goes on.
    _ = machine.endTurn(at: 250)
    #expect(taken() == ["begin 0 by 1 at 0.0.0.2"])
    machine.dialled(1, at: 250)
    start(at: 260)
    #expect(taken() == ["begin 1 by 2 at 0.0.0.1"])
    #expect(!join(1, port: 9), "nothing is sent for it")
    machine.ended(1, .failed(.cancelled, .other), at: 300)
    #expect(
      taken() == ["stop 0", "stop 2", "begin 1 by 2 at 0.0.0.2", "forget 0", "stop 1"],
      "who waits for another address goes to the one that is established")
    #expect(order() == ["0.0.0.2", "0.0.0.1", "0.0.0.3"])
  }

  @Test func `one connection at a time is opened so, it takes nobody's place, and its time is that of its query`() {
    let ids = (0..<3).map { _ in start(deadline: 1_000) }
    for handle in 0..<2 { machine.dialled(handle, at: 0) }
    start(deadline: 2_000)
    _ = taken()
    machine.cancel(ids[0], at: 150)
    #expect(taken() == ["leave 0", "begin 3 by 3 at 0.0.0.1"])
    machine.cancel(ids[1], at: 150)
    #expect(taken() == ["fail 1 cancelled", "stop 1"])
    machine.cancel(ids[2], at: 150)
    #expect(taken() == ["fail 2 cancelled", "stop 2"])
    _ = machine.endTurn(at: 1_000)
    #expect(taken().suffix(2).contains("stop 0") && machine.addresses.last == .ipv4(1))
    machine.stop()
    #expect(machine.isEmpty && machine.running == 0)
  }

  // MARK: HTTP/1.1

  @Test func `over HTTP/1.1 it goes out, its reply is dropped, and its connection is there for the next one`() {
    let first = start()
    machine.dialled(0, at: 0)
    machine.cancel(first, at: 150)
    #expect(taken() == ["begin 0 by 0 at 0.0.0.1", "leave 0"])
    #expect(join(0, port: 9, isHTTP2: false))
    _ = machine.endTurn(at: 200)
    #expect(taken().isEmpty)
    reply(0, isHTTP2: false, at: 300)
    #expect(taken() == ["forget 0", "stop 0"])
    #expect(machine.isEmpty && machine.running == 0 && machine.isSerial && machine.silent.isEmpty)
  }

  @Test(arguments: [false, true])
  func `one that was cancelled after it had been sent is kept where its connection would end with it`(_ isHTTP2: Bool) {
    let first = start()
    #expect(connect(0, port: 9, isHTTP2: isHTTP2))
    _ = machine.endTurn(at: 10)
    _ = taken()
    machine.cancel(first, at: 150)
    #expect(machine.silent.count == 1)
    #expect(taken() == (isHTTP2 ? ["fail 0 cancelled", "stop 0"] : ["leave 0"]))
  }

  @Test func `it ends when its time is over, with its connection, and with the loop`() {
    for isOver in [true, false] {
      let id = start(deadline: 1_000)
      #expect(connect(0, port: 9, isHTTP2: false))
      machine.cancel(id, at: 150)
      _ = taken()
      if isOver { _ = machine.endTurn(at: 1_000) } else { machine.stop() }
      #expect(taken().suffix(2) == ["forget 0", "stop 0"])
    }
    #expect(machine.isEmpty && machine.running == 0)
  }

  @Test(arguments: [AttemptEnd.sendFailed, .connectionEnded, .streamEnded, .http2, .other])
  func `it is not sent again whatever its connection ends by`(_ end: AttemptEnd) {
    let id = start()
    #expect(connect(0, port: 9, isHTTP2: false))
    machine.cancel(id, at: 150)
    _ = taken()
    machine.ended(0, .failed(.connectionLost("gone"), end), at: 200)
    #expect(taken() == ["forget 0", "stop 0"])
  }

  @Test func `a connection that takes a new handle is opened once more only for who is waited for`() {
    let ids = (0..<2).map { _ in start() }
    for handle in 0...1 { machine.dialled(handle, at: 0) }
    machine.cancel(ids[0], at: 150)
    #expect(!machine.mayStartOver(0) && machine.mayStartOver(1))
    #expect(machine.isSerial && !machine.speaksHTTP2, "the next one begins with a handle that can use it")
  }

  @Test func `a server may speak HTTP/1.1 until it has spoken HTTP/2, and from when it speaks HTTP/1.1 again`() {
    #expect(!machine.speaksHTTP2)
    for isHTTP2 in [false, true, false] {
      start()
      #expect(connect(0, port: 9, isHTTP2: isHTTP2))
      #expect(machine.speaksHTTP2 || !isHTTP2)
      reply(0, isHTTP2: isHTTP2)
      #expect(machine.speaksHTTP2 == isHTTP2 && machine.isSerial == !isHTTP2)
    }
  }

  @Test func `it ends when another's connection comes first, at another address`() {
    let ids = (0..<2).map { _ in start() }
    machine.dialled(1, at: 0)
    machine.dialled(0, at: 100)
    machine.cancel(ids[0], at: 150)
    _ = machine.endTurn(at: 250)
    _ = taken()
    #expect(connect(2, port: 9, isHTTP2: false, at: 260))
    _ = machine.endTurn(at: 260)
    #expect(taken() == ["forget 0", "stop 0", "stop 1"])
  }

  @Test func `another's connection leaves it alone once it has been sent`() {
    let ids = (0..<2).map { _ in start() }
    #expect(connect(0, port: 9, isHTTP2: false, at: 0))
    machine.cancel(ids[0], at: 150)
    machine.dialled(1, at: 160)
    _ = machine.endTurn(at: 410)
    _ = taken()
    #expect(connect(2, port: 10, isHTTP2: false, at: 420))
    _ = machine.endTurn(at: 420)
    #expect(taken() == ["stop 1"])
  }

  @Test func `it ends when queries that are waited for need all connections`() {
    machine.isSerial = true
    let ids = (0..<2).map { _ in start() }
    for handle in 0...1 { #expect(connect(handle, port: 9 + Int32(handle), isHTTP2: false)) }
    machine.cancel(ids[0], at: 150)
    _ = machine.endTurn(at: 150)
    _ = taken()
    start(at: 200)
    #expect(taken() == ["begin 2 by 2 at 0.0.0.1"])
    #expect(machine.silent.count == 1)
    _ = machine.endTurn(at: 200)
    #expect(taken() == ["forget 0", "stop 0"] && machine.silent.isEmpty)
  }

  @Test func `it may hold others up only as long as they wait to share its connection`() {
    let first = start()
    machine.dialled(0, at: 0)
    for _ in 0..<2 { start() }
    machine.cancel(first, at: 150)
    _ = machine.endTurn(at: 150)
    #expect(!taken().contains("forget 0"))
    #expect(join(0, port: 9, isHTTP2: false))
    _ = machine.endTurn(at: 200)
    #expect(taken() == ["forget 0", "stop 0"])
  }

  @Test func `what is wrong on this machine is tried at no other address`() {
    start()
    machine.dialled(0, at: 0)
    _ = taken()
    machine.ended(0, .failed(.noSocket("no files"), .other), at: 1)
    #expect(taken() == ["fail 0 \(HTTPTransportError.noSocket("no files"))", "stop 0"])
  }
}
