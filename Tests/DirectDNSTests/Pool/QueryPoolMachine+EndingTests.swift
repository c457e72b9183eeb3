// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

/// What is sent again, and which connection serves no longer.
final class QueryPoolMachineEndingTests: QueryPoolFixture {
  struct Loss: Sendable, CustomTestStringConvertible {
    let end: AttemptEnd
    let hasResponse: Bool
    let isRetried: Bool
    var testDescription: String { "\(end)\(hasResponse ? " within the response" : "")" }
  }

  @Test(arguments: [
    Loss(end: .connectionEnded, hasResponse: false, isRetried: true),
    Loss(end: .connectionEnded, hasResponse: true, isRetried: false),
    Loss(end: .sendFailed, hasResponse: false, isRetried: true),
    Loss(end: .sendFailed, hasResponse: true, isRetried: false),
    Loss(end: .http2, hasResponse: false, isRetried: true),
    Loss(end: .http2, hasResponse: true, isRetried: true),
    Loss(end: .other, hasResponse: false, isRetried: false),
  ])
  func `a query whose connection was lost is sent again, once`(_ loss: Loss) {
    start()
    let error = HTTPTransportError.connectionLost("gone")
    for isFirst in [true, false] {
      #expect(connect(0, port: 9))
      _ = machine.endTurn(at: 1)
      _ = taken()
      if loss.hasResponse { machine.responded(0) }
      machine.ended(0, .failed(error, loss.end), at: 2)
      guard isFirst, loss.isRetried else { break }
      #expect(taken() == ["stop 0", "begin 0 by 0 at 0.0.0.1"])
    }
    #expect(taken() == ["fail 0 \(error)", "stop 0"])
  }

  /// Ends a connection under all queries that are on it, as libcurl reports that: one after the other.
  private func lose(_ port: Int32, at now: Int64) -> [String] {
    let users = machine.handles.indices.filter {
      machine.handles[$0].query != nil && machine.handles[$0].stage == .sent && machine.handles[$0].port == port
    }
    for handle in users { machine.ended(handle, .failed(.connectionLost("gone"), .connectionEnded), at: now) }
    return taken().filter { !$0.hasPrefix("stop") }
  }

  @Test func `queries that are lost together twice go on a connection each, so that one cannot fail the others`() {
    for _ in 0..<3 { start() }
    _ = taken()
    for handle in 0..<3 { #expect(handle == 0 ? connect(0, port: 9) : join(handle, port: 9)) }
    #expect(lose(9, at: 2).sorted() == (0..<3).map { "begin \($0) by \($0) at 0.0.0.1" }, "together once more")
    for handle in 0..<3 { #expect(join(handle, port: 10)) }
    #expect(lose(10, at: 3).sorted() == (0..<3).map { "begin \($0) by \($0) at 0.0.0.1 alone" })
    for handle in 0..<3 { #expect(connect(handle, port: 11 + Int32(handle), at: 4)) }
    #expect(lose(11, at: 5) == ["fail 0 \(HTTPTransportError.connectionLost("gone"))"], "it was alone: it is the cause")
    for handle in 1..<3 { reply(handle, at: 6) }
    #expect(taken().filter { !$0.hasPrefix("stop") } == ["reply 1 from 1", "reply 2 from 2"])
  }

  @Test func `one that others have joined on its own connection, and that was lost with them, goes once more`() {
    for _ in 0..<2 { start() }
    for (round, port) in ([9, 10, 11, 12] as [Int32]).enumerated() {
      _ = taken()
      for handle in 0..<2 { #expect(join(handle, port: port)) }
      let isLast = round == 3
      #expect(lose(port, at: 2).allSatisfy { $0.hasPrefix(isLast ? "fail" : "begin") }, "\(round)")
    }
    #expect(machine.isEmpty)
  }

  // MARK: Silence

  /// Sends a query on a connection that is there, which times out after that time.
  private func timeOut(_ port: Int32, from start: Int64, after time: Int64) -> [String] {
    self.start(deadline: start + time, at: start)
    #expect(join(0, port: port))
    _ = machine.endTurn(at: start + time)
    return taken().filter { $0.hasPrefix("end connection") }
  }

  @Test func `a connection that says nothing for a second after a query serves no longer`() {
    #expect(timeOut(9, from: 0, after: 400).isEmpty)
    #expect(timeOut(9, from: 500, after: 400).isEmpty)
    #expect(timeOut(9, from: 900, after: 400) == ["end connection 9"])
    #expect(timeOut(9, from: 1_400, after: 400).isEmpty, "the count begins anew")
  }

  @Test func `a reply on the connection meanwhile shows that it lives`() {
    #expect(timeOut(9, from: 0, after: 600).isEmpty)
    start(at: 700)
    #expect(join(0, port: 9))
    reply(0, at: 800)
    #expect(timeOut(9, from: 900, after: 600).isEmpty)
    #expect(timeOut(10, from: 1_500, after: 1_000) == ["end connection 10"])
  }

  /// Three connections, of which the first two have replied at 10 and the third at that instant.
  private func keepThree(repliedAt last: Int64) {
    for _ in 0..<3 { start(at: 0) }
    for handle in 0..<3 { #expect(connect(handle, port: 7 + Int32(handle))) }
    // The handle of the last reply is the next query's.
    reply(2, at: last)
    for handle in [1, 0] { reply(handle, at: 10) }
    _ = taken()
  }

  @Test(arguments: [(3_000, true), (999, false)])
  func `a connection that is lost behind a silence takes the idle ones with it that have not replied since`(
    silence: Int64, endsOthers: Bool
  ) {
    keepThree(repliedAt: 100)
    start(deadline: 9_000, at: 20)
    let handle = machine.handles.firstIndex { $0.query != nil } ?? 0
    #expect(join(handle, port: 7))
    machine.ended(handle, .failed(.connectionLost("gone"), .connectionEnded), at: 20 + silence)
    let actions = taken()
    #expect(actions.filter { $0.hasPrefix("end connection") } == (endsOthers ? ["end connection 8"] : []))
    #expect(actions.last?.hasPrefix("begin") == true, "the query goes out behind that")
  }

  @Test(arguments: [(3_000, false), (999, true)])
  func `libcurl sends no query again by itself on a kept connection behind a silence`(
    silence: Int64, mayBeSent: Bool
  ) {
    keepThree(repliedAt: 10)
    start(deadline: 9_000, at: 20)
    let handle = machine.handles.firstIndex { $0.query != nil } ?? 0
    #expect(join(handle, port: 7, at: 20))
    _ = taken()
    #expect(join(handle, port: 8, at: 20 + silence) == mayBeSent)
    guard !mayBeSent else { return }
    machine.ended(handle, .failed(.cancelled, .other), at: 20 + silence)
    let actions = taken()
    #expect(actions.filter { $0.hasPrefix("end connection") } == ["end connection 8", "end connection 9"])
    #expect(actions.last?.hasPrefix("begin") == true, "the query goes out on a new one")
  }

  @Test func `and where it opens a new one for it, the kept ones end`() {
    keepThree(repliedAt: 10)
    start(deadline: 9_000, at: 20)
    let handle = machine.handles.firstIndex { $0.query != nil } ?? 0
    #expect(join(handle, port: 7, at: 20))
    _ = taken()
    #expect(connect(handle, port: 10, at: 3_020))
    #expect(taken() == ["end connection 8", "end connection 9"])
  }

  @Test func `one that a query is on stays, and so do the others where a query was cancelled`() {
    keepThree(repliedAt: 10)
    let first = start(deadline: 9_000, at: 20)
    start(deadline: 9_000, at: 30)
    let running = machine.handles.indices.filter { machine.handles[$0].query != nil }
    for (handle, port) in zip(running, [7, 8] as [Int32]) { #expect(join(handle, port: port)) }
    _ = taken()
    machine.cancel(first, at: 2_000)
    #expect(taken().filter { $0.hasPrefix("end connection") } == ["end connection 7"])
    let second = start(deadline: 3_000, at: 2_000)
    let handle = machine.handles.firstIndex { $0.query == second } ?? 0
    #expect(join(handle, port: 10))
    _ = machine.endTurn(at: 3_000)
    let ended = taken().filter { $0.hasPrefix("end connection") }
    #expect(ended == ["end connection 10", "end connection 9"], "of a query that has timed out")
  }

  @Test func `one that has replied since the silence began stays, though not since the last query`() {
    for _ in 0..<2 { start() }
    for handle in 0..<2 { #expect(connect(handle, port: 7 + Int32(handle))) }
    for handle in [1, 0] { reply(handle, at: 10) }
    let first = start(deadline: 9_000, at: 1_000)
    start(deadline: 9_000, at: 1_000)
    for handle in 0..<2 { #expect(join(handle, port: 7 + Int32(handle))) }
    reply(1, at: 1_100)
    machine.cancel(first, at: 1_150)
    start(deadline: 2_100, at: 2_000)
    #expect(join(0, port: 7))
    _ = taken()
    _ = machine.endTurn(at: 2_100)
    #expect(taken().filter { $0.hasPrefix("end connection") } == ["end connection 7"])
  }

  @Test func `over HTTP/1.1 the idle one is known, too, when another handle has taken its connection`() {
    for _ in 0..<2 { start() }
    for handle in 0..<2 { #expect(connect(handle, port: 7 + Int32(handle), isHTTP2: false)) }
    for handle in 0..<2 { reply(handle, isHTTP2: false, at: 10) }
    start(at: 20)
    #expect(join(1, port: 7, isHTTP2: false))
    reply(1, isHTTP2: false, at: 30)
    start(deadline: 9_000, at: 40)
    #expect(join(1, port: 7, isHTTP2: false))
    _ = taken()
    machine.ended(1, .failed(.connectionLost("gone"), .connectionEnded), at: 3_040)
    #expect(taken().filter { $0.hasPrefix("end connection") } == ["end connection 8"])
  }

  /// Sends a query on a connection that is there, and cancels it after that time.
  private func cancel(_ port: Int32, from start: Int64, after time: Int64) -> [String] {
    let id = self.start(deadline: start + 5_000, at: start)
    #expect(join(0, port: port))
    machine.cancel(id, at: start + time)
    return taken().filter { $0.hasPrefix("end connection") }
  }

  @Test func `a query that was cancelled after a second without a word on its connection counts as one timed out`() {
    #expect(cancel(9, from: 0, after: 999).isEmpty)
    #expect(cancel(10, from: 2_000, after: 1_000) == ["end connection 10"])
  }

  @Test func `where queries are always cancelled early, the third on a silent connection ends it`() {
    #expect(cancel(9, from: 0, after: 150).isEmpty)
    #expect(cancel(9, from: 25_000, after: 150).isEmpty)
    #expect(cancel(9, from: 50_000, after: 150) == ["end connection 9"])
    for round in 0..<3 as Range<Int64> {
      #expect(cancel(10, from: 60_000 + round * 200, after: 150).isEmpty, "all within a second")
    }
    start(at: 70_000)
    #expect(join(0, port: 10))
    reply(0, at: 70_010)
    #expect(cancel(10, from: 80_000, after: 150).isEmpty, "it has replied in between")
  }

  @Test func `an address that has said nothing goes last`() {
    start(deadline: 100)
    machine.dialled(0, at: 0)
    _ = machine.endTurn(at: 100)
    #expect(order() == ["0.0.0.2", "0.0.0.3", "0.0.0.1"])
  }
}
