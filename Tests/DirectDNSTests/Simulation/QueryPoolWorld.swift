// SPDX-License-Identifier: Apache-2.0
@testable import DirectDNS

/// A made-up world around a ``QueryPoolMachine``: callers, a server of several addresses, and libcurl between them, all of
/// it from one seed.
///
/// What libcurl does and what must hold are in files of their own. Every event ends with ``check()``.
struct QueryPoolWorld: SimulatedWorld {
  typealias Machine = QueryPoolMachine
  typealias ID = Machine.QueryID

  /// What whoever carries out the decisions does wrongly on purpose, so that it is seen whether the checks notice.
  enum Slip: CaseIterable {
    /// A timer is not set after an event.
    case losesWakeUp
    case losesBegin
    case losesStop
    /// An end is told twice.
    case endsTwice
    /// A query is sent although another attempt has won.
    case sendsAnyway
    /// The machine does not hear that a connection was opened.
    case losesDial
  }

  /// How one of the server's addresses is reached.
  enum Reach: CaseIterable { case fine, refused, silent }

  struct Caller {
    let deadline: Int64
    let leavesAt: Int64?
    var id: ID?
    var answers = 0
    /// When a connection was opened for it first, or one was lost that had vanished.
    var dialledAt: Int64?
    /// Whether its query was under way when the connections vanished.
    var isCaught = false
    /// How many times its query reached the server.
    var sendings = 0
    /// How many times of these it had been cancelled.
    var sendingsUnwanted = 0
    /// Whether the server ends the connection that brings its query.
    let isDropped: Bool
  }

  enum Event {
    case arrive(Int)
    case leave(Int)
    /// libcurl begins the transfer of a handle.
    case begin(Transfer)
    case established(Transfer)
    case refused(Transfer)
    case replied(Transfer)
    case dies(Int32)
    /// All connections that are there vanish without a word, as behind a NAT that forgets them.
    case vanish
    case timer
  }

  /// One transfer of a handle; what happens later to an earlier one means nothing.
  struct Transfer: Hashable {
    let handle: Int
    let number: Int
  }

  let slip: Slip?
  /// Whether it prints what happens.
  var isTold = false
  var random: SeededGenerator
  var machine: Machine
  var now: Int64 = 0
  let isHTTP2: Bool
  let reach: [IPAddress: Reach]
  /// Whether every query that reaches the server is answered.
  let isReliable: Bool
  /// Whether the server ends the whole connection at the query of some callers.
  let dropsSome: Bool
  var callers: [Caller] = []
  var callerOf: [ID: Int] = [:]
  // What libcurl has.
  var current: [Int: (transfer: Transfer, query: ID, address: IPAddress?)] = [:]
  var dialling: Set<Transfer> = []
  /// The transfers that must not use a connection which is there.
  var alone: Set<Transfer> = []
  /// Each connection's transfers, and the one that it was opened for, by its local port.
  var connections: [Int32: (address: IPAddress?, users: Set<Transfer>, opener: Transfer)] = [:]
  /// The connections that have vanished: what is sent on them is not acknowledged.
  var vanished: Set<Int32> = []
  /// Whether one of them is lost, on which a query went out after that.
  var isLossKnown = false
  var nextPort: Int32 = 40_000
  var begun = 0
  var agenda = Agenda<Event>()
  private var timer = Int64.max
  private(set) var events = 0
  /// What is wrong, if anything is.
  var faults: [String] = []

  init(seed: UInt64, slip: Slip? = nil) {
    self.slip = slip
    random = SeededGenerator(seed: seed)
    isHTTP2 = Bool.random(using: &random)
    isReliable = Bool.random(using: &random)
    dropsSome = isReliable && isHTTP2 && Bool.random(using: &random)
    // Over HTTP/1.1 several are kept, each known to the machine as long as there is one address.
    let vanishes = !isHTTP2 && Bool.random(using: &random)
    var reach: [IPAddress: Reach] = [:]
    for place in 0..<(vanishes ? 1 : Int.random(in: 1...4, using: &random)) {
      let isFine = Double.random(in: 0..<1, using: &random) < 0.5
      let address: IPAddress = isFine ? .ipv4(UInt32(place)) : .ipv6(high: 1, low: UInt64(place))
      reach[address] = Bool.random(using: &random) ? .fine : Reach.allCases.randomElement(using: &random)
    }
    self.reach = reach
    let limits = Machine.Limits(
      width: Int.random(in: 1...20, using: &random), connections: Int.random(in: 1...6, using: &random))
    machine = Machine(
      limits, isSerial: !isHTTP2 && Bool.random(using: &random),
      addresses: reach.keys.sorted { $0.description < $1.description }.shuffled(using: &random))
    if vanishes { plan(.vanish, in: 1_000...4_000) }
    for number in 0..<Int.random(in: 1...60, using: &random) {
      // Many at once, so that many connections are kept that few use later.
      let isEarly = vanishes && chance(0.8)
      let arrival = Int64.random(in: 0...(isEarly ? 500 : 4_000), using: &random)
      let leaves = chance(0.1) ? arrival + Int64.random(in: 0...2_000, using: &random) : nil
      callers.append(
        Caller(
          deadline: arrival + Int64.random(in: 50...(vanishes ? 5_000 : 3_000), using: &random), leavesAt: leaves,
          isDropped: dropsSome && number == 0))
      plan(.arrive(number), at: arrival)
      if let leaves { plan(.leave(number), at: leaves) }
    }
  }

  // MARK: Time

  /// How many milliseconds a turn of the loop lasts if it is behind.
  static let turn: Int64 = 40

  /// Runs until nobody has anything left to do.
  ///
  /// - Returns: what was wrong.
  mutating func run() -> [String] {
    while faults.isEmpty, events < 100_000 {
      guard let next = agenda.next, next.at <= timer || machine.isEmpty else {
        guard !machine.isEmpty, timer < .max else { break }
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
    checkProgress()
    carryOut(event)
    // Where the loop is behind, several things happen in one turn.
    let latest = now + Self.turn
    while chance(0.5), let next = agenda.next, next.at <= latest, next.at < timer {
      agenda.removeNext()
      now = max(now, next.at)
      carryOut(next.event)
    }
    perform()
    var due = machine.endTurn(at: now)
    while !machine.actions.isEmpty {
      perform()
      due = machine.endTurn(at: now)
    }
    if !slips(.losesWakeUp, 0.5) { timer = due }
    check()
  }

  private mutating func carryOut(_ event: Event) {
    events += 1
    say("\(event)")
    switch event {
    case .arrive(let number):
      let id = machine.start(deadline: callers[number].deadline, at: now)
      callers[number].id = id
      callerOf[id] = number
      perform()
    case .leave(let number):
      if let id = callers[number].id { machine.cancel(id, at: now) }
      perform()
    case .begin, .established, .refused, .replied, .dies, .vanish: carryOutByCurl(event)
    case .timer: break
    }
  }

  // MARK: Actions

  mutating func perform() {
    while var due = machine.actions.take() {
      for action in due { perform(action) }
      machine.actions.reuse(&due)
    }
  }

  private mutating func perform(_ action: Machine.Action) {
    say("  do \(action)")
    switch action {
    case .begin(let id, let handle, let address, let sharing):
      if current[handle] != nil { fault("handle \(handle) is in use") }
      begun += 1
      let transfer = Transfer(handle: handle, number: begun)
      current[handle] = (transfer, id, address)
      if sharing == .own { alone.insert(transfer) }
      if !slips(.losesBegin, 0.05) { plan(.begin(transfer), in: 0...1) }
    case .stop(let handle): if !slips(.losesStop, 0.02) { stop(handle) }
    case .reply(let id, _): answer(id)
    case .fail(let id, let error):
      answer(id)
      if slips(.endsTwice, 0.2) { answer(id) }
      guard let number = callerOf[id] else { break }
      checkFailure(of: number, error)
    case .leave(let id): answer(id)
    case .forget: break
    case .endConnection(let port):
      // libcurl looks at an idle one before it uses it.
      if connections[port]?.users.isEmpty == true { connections[port] = nil } else { plan(.dies(port), in: 0...2) }
    }
  }

  private mutating func answer(_ id: ID) {
    guard let number = callerOf[id] else { return fault("an end of \(id), which nobody began") }
    callers[number].answers += 1
    callers[number].id = nil
    if now > callers[number].deadline + Self.turn { fault("caller \(number) was answered after its deadline") }
  }
}
