// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

/// The pool in moved time; what may come in every order is in ``PoolSimulationTests``.
final class PoolMachineTests {
  typealias Machine = PoolMachine<String>

  private static let limits = PoolLimits(connections: 4, connectionsPerRoute: 2, streams: 2, attemptDelay: 250)
  private let near = IPAddress.ipv4(1)
  private let far = IPAddress.ipv4(2)

  private var machine = Machine(limits)

  private func terms(_ addresses: [IPAddress]? = nil, deadline: Int64 = 60_000, hasOthers: Bool = false)
    -> TransferTerms
  {
    TransferTerms(
      addresses: addresses ?? [near], hasOthers: hasOthers, isRetryable: true, connectTimeout: 5_000,
      firstByteTimeout: 30_000, deadline: deadline)
  }

  private func taken() -> [String] {
    defer { machine.actions = [] }
    return machine.actions.map { action in
      switch action {
      case .connect(let id, let attempt, let address, let waits):
        "connect \(id.index).\(attempt) \(address.map { "\($0)" } ?? "-")\(waits ? " waits" : "")"
      case .close(let id, let attempt): "close \(id.index).\(attempt)"
      case .askForOthers(let id): "ask \(id.index)"
      case .report(let id, let address, _): "failed \(id.index) \(address)"
      case .startOver(let id): "start over \(id.index)"
      case .checkRefusal(let id, let attempt): "refused? \(id.index).\(attempt)"
      case .end(let id, .success): "end \(id.index)"
      case .end(let id, .failure(let failure)): "fail \(id.index) \(failure.reason)"
      case .endConnection(let socket): "end socket \(socket)"
      }
    }
  }

  private func start(
    _ multiplexing: PoolLoad.Multiplexing = .never, _ route: String = "a", _ terms: TransferTerms? = nil
  ) -> Machine.TransferID {
    machine.start(terms ?? self.terms(), route, multiplexing, at: 0)
  }

  /// Opens a connection, and lets the request out on it.
  private func connect(_ id: Machine.TransferID, _ socket: Int32, attempt: Int = 0) -> Machine.SendVerdict {
    let mayDial = machine.mayDial(id, attempt: attempt)
    #expect(mayDial)
    machine.dialled(socket, id, attempt: attempt)
    return machine.maySend(id, attempt: attempt, at: 1)
  }

  @Test func `a request connects, is answered, and leaves its connection to the next`() {
    let first = start()
    #expect(taken() == ["connect 0.0 0.0.0.1"])
    guard case .first(_, isReused: false) = connect(first, 7) else { return #expect(Bool(false)) }
    machine.headIsComplete(first, isMultiplexed: false)
    machine.ended(first, attempt: 0, .complete, at: 2)
    #expect(taken() == ["end 0", "close 0.0"])
    _ = machine.endTurn(at: 2)
    let second = start()
    #expect(taken() == ["connect 0.0 0.0.0.1"])
    guard case .first(_, isReused: true) = machine.maySend(second, attempt: 0, at: 3) else {
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

  @Test func `one that finds no room on the shared connection waits again, once`() {
    let first = start(.always)
    _ = connect(first, 7)
    _ = machine.endTurn(at: 1)
    let second = start(.always)
    _ = taken()
    let mayDial = machine.mayDial(second, attempt: 0)
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
    guard case .end(_, .failure(let failure))? = machine.actions.last else { return #expect(Bool(false)) }
    #expect(failure.forbidden == near)
  }

  /// A request that was sent on a connection which another one had opened: libcurl repeats it if no response comes.
  private func sentOnSharedConnection() -> Machine.TransferID {
    let first = start(.always)
    _ = connect(first, 7)
    _ = machine.endTurn(at: 1)
    let second = start(.always)
    _ = machine.maySend(second, attempt: 0, at: 2)
    _ = taken()
    return second
  }

  @Test
  func `a request that may have arrived goes out again once, and then it is asked whether it was refused`() {
    let second = sentOnSharedConnection()
    let once = machine.maySend(second, attempt: 0, at: 3)
    machine.repeats(second, attempt: 0, isRewound: true, at: 3)
    #expect(once.isAgain && machine.maySend(second, attempt: 0, at: 3).isNo)
    machine.ended(second, attempt: 0, .aborted(.cancelled), at: 4)
    #expect(taken() == ["refused? 1.0"])
    machine.checked(second, wasRefused: true)
    guard case .end(_, .failure(let failure))? = machine.actions.first else { return #expect(Bool(false)) }
    #expect(failure.wasRefused && !failure.mayHaveArrived)
  }

  @Test func `a request is not sent again whose body cannot be sent from the beginning`() {
    let second = sentOnSharedConnection()
    let verdict = machine.maySend(second, attempt: 0, at: 3)
    machine.repeats(second, attempt: 0, isRewound: false, at: 3)
    machine.ended(second, attempt: 0, .aborted(.cancelled), at: 4)
    #expect(verdict.isAgain && taken() == ["refused? 1.0"])
    machine.checked(second, wasRefused: true)
    guard case .end(_, .failure(let failure))? = machine.actions.first else { return #expect(Bool(false)) }
    #expect(failure.wasRefused && !failure.wasRetried)
  }

  @Test(arguments: [false, true])
  func `a response counts as complete without its end only if libcurl was kept from repeating its request`(
    _ wantsToRepeat: Bool
  ) {
    var terms = terms()
    terms.expectsContinue = true
    let id = start(.never, "a", terms)
    _ = connect(id, 7)
    machine.headIsComplete(id, isMultiplexed: false)
    if wantsToRepeat { #expect(machine.maySend(id, attempt: 0, at: 2).isNo) }
    _ = taken()
    machine.ended(id, attempt: 0, .aborted(.cancelled), at: 3)
    guard case .end(_, let result)? = machine.actions.first else { return #expect(Bool(false)) }
    #expect(((try? result.get()) != nil) == wantsToRepeat)
  }

  @Test func `an attempt that is not let through counts as one that joined the connection`() {
    let first = start(.always)
    _ = connect(first, 7)
    // The loser of another's race found the connection: libcurl now repeats whatever gets no response on it.
    _ = machine.endTurn(at: 1)
    let other = start(.always, "a", terms([near, far]))
    _ = machine.endTurn(at: 300)
    _ = machine.maySend(other, attempt: 1, at: 301)
    let before = machine.transfers[first]?.state.wasRefused(
      joins: machine.pools.ids.first.flatMap { machine.pools[$0]?.joins } ?? -1)
    #expect(before == false)
  }

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

  // MARK: Who may open a connection

  private var multiplexing: PoolLoad.Multiplexing? {
    machine.pools.ids.first.flatMap { machine.pools[$0]?.load.multiplexing }
  }
  private var joins: Int? { machine.pools.ids.first.flatMap { machine.pools[$0]?.joins } }

  private func mayDial(_ id: Machine.TransferID, attempt: Int = 0) -> Bool { machine.mayDial(id, attempt: attempt) }

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

  @Test func `who uses a connection that stood has joined it, and who opened one has not`() {
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

  // MARK: How it ends

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
    let mayDial = machine.mayDial(turned, attempt: 0)
    #expect(!mayDial)
    machine.actions = []
    _ = machine.start(terms(), "a", .always, at: 4)
    guard case .connect(_, attempt: 0, _, waits: false)? = machine.actions.first else {
      return #expect(Bool(false), "one stream is what the connection takes: \(machine.actions)")
    }
  }

  // MARK: Idle connections

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
    machine.actions = []
    return (machine, other)
  }

  private static func ended(_ machine: Machine) -> [Int32] {
    machine.actions.compactMap { if case .endConnection(let socket) = $0 { socket } else { nil } }
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

  @Test func `idle connections are ended by their address, and only those that stand`() {
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

extension PoolMachine.SendVerdict {
  fileprivate var isNo: Bool { if case .no = self { true } else { false } }
  fileprivate var isAgain: Bool { if case .again = self { true } else { false } }
}
