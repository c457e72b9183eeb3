// SPDX-License-Identifier: Apache-2.0
@testable import DirectDNS

/// A made-up world around a ``PoolMachine``: callers, servers and what libcurl does between them, all of it from one seed.
///
/// Callers, what libcurl does, and what must hold are in files of their own. Every event ends with ``check(_:)``.
struct PoolWorld: SimulatedWorld {
  typealias Machine = PoolMachine<Int>
  typealias ID = Machine.TransferID

  /// What whoever carries out the decisions does wrongly on purpose, so that it is seen whether the checks notice.
  enum Slip: CaseIterable {
    /// A timer is not set after an event.
    case losesWakeUp
    case losesConnect
    case losesClose
    /// An end is told twice.
    case endsTwice
    /// What may not be sent is sent all the same.
    case sendsAnyway
    case dialsForbidden
    /// The machine does not hear that a socket was closed.
    case losesClosing
    /// A body that can be read once is sent for a second time.
    case replaysBody
    /// Nobody looks at an upload behind a complete response.
    case losesCheck
    /// An attempt dials another server's address.
    case mixesAddresses
  }

  /// What a server is like.
  struct Server {
    var speaks: Speech
    /// What was said of it beforehand.
    var known: PoolLoad.Multiplexing
    /// Streams that it takes on one connection.
    var streams: Int
    /// How each of its addresses is reached.
    var addresses: [IPAddress: Reach]
    /// Those of the family that comes late.
    var late: [IPAddress]
    /// How the proxy before it is reached; nil without one.
    var proxy: Reach?
  }

  enum Speech { case http1, http2 }
  enum Reach: CaseIterable { case fine, refused, silent, forbidden }

  enum Event {
    case arrive(Int)
    case cancel(Int)
    case late(ID)
    case closeIdle(IPAddress?)
    case begin(AttemptID)
    case established(AttemptID)
    case refused(AttemptID)
    case reply(Sending, Reply)
    case finished(Sending)
    /// A piece of a body goes out, and so many follow.
    case piece(Sending, left: Int)
    case asked(ID, Bool)
    /// The server says that it takes no more requests on a connection, and refuses the last of those that it has
    /// (RFC 9113 §6.8).
    case goAway(Int32)
    case dies(Int32)
    case timer
  }

  struct AttemptID: Hashable {
    let transfer: ID
    let number: Int
  }

  /// One of the times that libcurl sends the request of an attempt.
  struct Sending {
    let attempt: AttemptID
    let number: Int
  }

  /// What a server does with a request that has reached it.
  enum Reply: CaseIterable { case whole, cutOff, reset, refusedStream, expectationFailed, nothing }

  let slip: Slip?
  /// Whether it prints what happens.
  var isTold = false
  var random: SeededGenerator
  var machine: Machine
  var now: Int64 = 0
  var servers: [Server] = []
  var callers: [Caller] = []
  var callerOf: [ID: Int] = [:]
  /// Transfers whose response nobody reads, and that have not ended.
  var discarded: Set<ID> = []
  var agenda = Agenda<Event>()
  /// When it wakes the machine if nothing happens before.
  private var timer = Int64.max
  private(set) var events = 0
  var sendings = 0
  // What libcurl has.
  var attempts: [AttemptID: Attempt] = [:]
  var sockets: [Int32: Socket] = [:]
  var nextSocket: Int32 = 3
  /// What is wrong, if anything is.
  var faults: [String] = []

  init(seed: UInt64, slip: Slip? = nil) {
    self.slip = slip
    random = SeededGenerator(seed: seed)
    let limits = PoolLimits(
      connections: Int.random(in: 1...12, using: &random), connectionsPerRoute: Int.random(in: 1...5, using: &random),
      streams: Int.random(in: 1...6, using: &random), attemptDelay: 250)
    machine = Machine(limits)
    for number in 0..<Int.random(in: 1...4, using: &random) { servers.append(server(number)) }
    let count = Int.random(in: 1...60, using: &random)
    for number in 0..<count { enter(number) }
  }

  private mutating func server(_ number: Int) -> Server {
    let speaks: Speech = chance(0.5) ? .http1 : .http2
    // Over TLS nobody knows before the first connection; without it HTTP/2 is spoken by prior knowledge.
    let known: PoolLoad.Multiplexing = chance(0.4) ? .unknown : speaks == .http1 ? .never : .always
    var addresses: [IPAddress: Reach] = [:]
    let isBroken = chance(0.1)
    for place in 1...Int.random(in: 1...4, using: &random) {
      let address: IPAddress =
        chance(0.5) ? .ipv4(UInt32(number) << 8 | UInt32(place)) : .ipv6(high: UInt64(number), low: UInt64(place))
      addresses[address] = isBroken || chance(0.4) ? Reach.allCases.randomElement(using: &random) : .fine
    }
    let late = addresses.keys.sorted { $0.description < $1.description }.filter { $0.family == .ipv4 }
    let proxies = [Reach.fine, .fine, .fine, .refused, .silent]
    return Server(
      speaks: speaks, known: known, streams: Int.random(in: 1...8, using: &random), addresses: addresses,
      late: late.count < addresses.count && chance(0.3) ? late : [],
      proxy: chance(0.2) ? proxies.randomElement(using: &random) : nil)
  }

  /// Runs until nobody has anything left to do.
  ///
  /// - Returns: what was wrong.
  mutating func run() -> [String] {
    while faults.isEmpty, events < 200_000 {
      guard let next = agenda.next, next.at <= timer || machine.transfers.count == 0 else {
        guard machine.transfers.count > 0, timer < .max else { break }
        now = max(now, timer)
        happen(.timer)
        continue
      }
      agenda.removeNext()
      now = max(now, next.at)
      happen(next.event)
    }
    if faults.isEmpty { checkEnd() }
    return faults
  }

  private mutating func happen(_ event: Event) {
    events += 1
    say("\(event)")
    carryOut(event)
    perform()
    var due = machine.endTurn(at: now)
    while !machine.actions.isEmpty {
      perform()
      due = machine.endTurn(at: now)
    }
    if !slips(.losesWakeUp, 0.5) { timer = due }
    check(event)
  }

  private mutating func carryOut(_ event: Event) {
    switch event {
    case .arrive(let caller): start(caller)
    case .cancel(let caller):
      callers[caller].isCancelled = true
      // Also long after it has ended, as from a task that did not know yet.
      if let id = callers[caller].id { machine.cancel(id) }
    case .late(let id):
      guard let caller = callerOf[id] else { break }
      machine.join(id, servers[callers[caller].server].late, at: now)
    case .closeIdle(let address): machine.closeIdle(address)
    case .asked(let id, let wasRefused): machine.checked(id, wasRefused: wasRefused)
    case .timer: break
    case .begin, .established, .refused, .reply, .finished, .piece, .goAway, .dies: carryOutByCurl(event)
    }
  }

  private mutating func perform() {
    while var due = machine.actions.take() {
      for action in due { perform(action) }
      machine.actions.reuse(&due)
    }
  }

  private mutating func perform(_ action: Machine.Action) {
    say("  do \(action)")
    switch action {
    case .connect(let id, let number, let address, let waits):
      if !slips(.losesConnect, 0.02) { connect(id, number, address, waits: waits) }
    case .close(let id, let number):
      if !slips(.losesClose, 0.02) { close(AttemptID(transfer: id, number: number)) }
    case .askForOthers(let id):
      if chance(0.3), let caller = callerOf[id] {
        machine.join(id, servers[callers[caller].server].late, at: now)
      } else {
        plan(.late(id), in: 0...6_000)
        machine.step(id, at: now)
      }
    case .startOver(let id): startOver(id)
    case .report: break
    case .checkRefusal(let id, let number):
      plan(.asked(id, attempts[AttemptID(transfer: id, number: number)]?.wasRefused ?? false), in: 0...50)
    case .resumeUpload: break
    case .checkUpload(let id):
      let isStuck = attempts.contains { $0.key.transfer == id && $0.value.stuckSince != nil }
      if isStuck, chance(0.7), !slips(.losesCheck, 1) { machine.checked(id, UploadFacts()) }
    case .end(let id, let result):
      ended(id, result)
      if slips(.endsTwice, 0.02) { ended(id, result) }
    case .endConnection(let socket): plan(.dies(socket), in: 0...5)
    }
  }
}
