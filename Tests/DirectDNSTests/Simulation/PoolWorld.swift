@testable import DirectDNS

/// A made-up world around a ``PoolMachine``: callers, servers and what libcurl does between them, all of it from one seed.
///
/// What libcurl does is in the other file. Every event ends with ``check()``.
struct PoolWorld {
  typealias Machine = PoolMachine<Int>
  typealias ID = Machine.TransferID

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
  }

  enum Speech { case http1, http2 }
  enum Reach: CaseIterable { case fine, refused, silent, forbidden }

  /// A request, over all the times that it is sent.
  struct Caller {
    let server: Int
    let isRetryable: Bool
    let canStartOver: Bool
    let deadline: Int64
    var history = RetryRule.History()
    /// How often a server may have acted on it.
    var processed = 0
    var answers = 0
    var isCancelled = false
    var id: ID?
  }

  enum Event {
    case arrive(Int)
    case cancel(Int)
    case late(ID)
    case closeIdle(IPAddress?)
    case begin(AttemptID)
    case established(AttemptID)
    case refused(AttemptID)
    case reply(AttemptID, Reply)
    case finished(AttemptID)
    case asked(ID, Bool)
    /// The server ends a connection: with a reset, or after it has said that it takes no more (RFC 9113 §6.8).
    case dies(Int32)
    case timer
  }

  struct AttemptID: Hashable {
    let transfer: ID
    let number: Int
  }

  /// What a server does with a request that has reached it.
  enum Reply: CaseIterable { case whole, cutOff, reset, refusedStream, nothing }

  var random: SeededGenerator
  var machine: Machine
  var now: Int64 = 0
  var servers: [Server] = []
  var callers: [Caller] = []
  var callerOf: [ID: Int] = [:]
  /// What will happen, the next thing last.
  private var agenda: [(at: Int64, order: Int, event: Event)] = []
  private var order = 0
  private(set) var events = 0
  // What libcurl has.
  var attempts: [AttemptID: Attempt] = [:]
  var sockets: [Int32: Socket] = [:]
  var nextSocket: Int32 = 3
  /// What is wrong, if anything is.
  private(set) var faults: [String] = []

  init(seed: UInt64) {
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
    return Server(
      speaks: speaks, known: known, streams: Int.random(in: 1...8, using: &random), addresses: addresses,
      late: late.count < addresses.count && chance(0.3) ? late : [])
  }

  private mutating func enter(_ number: Int) {
    let arrival = Int64.random(in: 0...3_000, using: &random)
    callers.append(
      Caller(
        server: Int.random(in: servers.indices, using: &random), isRetryable: chance(0.6), canStartOver: chance(0.8),
        deadline: arrival + Int64.random(in: 50...20_000, using: &random)))
    plan(.arrive(number), at: arrival)
    if chance(0.15) { plan(.cancel(number), at: arrival + Int64.random(in: 0...2_000, using: &random)) }
    if chance(0.05) { plan(.closeIdle(nil), at: arrival) }
  }

  // MARK: Time

  mutating func chance(_ probability: Double) -> Bool { Double.random(in: 0..<1, using: &random) < probability }

  mutating func plan(_ event: Event, in delay: ClosedRange<Int64>) {
    plan(event, at: now + Int64.random(in: delay, using: &random))
  }

  private mutating func plan(_ event: Event, at time: Int64) {
    order += 1
    let place = agenda.lastIndex { $0.at > time || ($0.at == time && $0.order > order) }
    agenda.insert((time, order, event), at: place.map { $0 + 1 } ?? 0)
  }

  /// Runs until nobody has anything left to do.
  ///
  /// - Returns: what was wrong.
  mutating func run() -> [String] {
    while faults.isEmpty, events < 200_000 {
      let due = machine.nextDue
      guard let next = agenda.last, next.at <= due || machine.transfers.count == 0 else {
        guard machine.transfers.count > 0 else { break }
        now = max(now, due)
        happen(.timer)
        continue
      }
      agenda.removeLast()
      now = max(now, next.at)
      happen(next.event)
    }
    if faults.isEmpty { checkEnd() }
    return faults
  }

  private mutating func happen(_ event: Event) {
    events += 1
    carryOut(event)
    perform()
    _ = machine.settle(at: now)
    while !machine.actions.isEmpty {
      perform()
      _ = machine.settle(at: now)
    }
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
    case .asked(let id, let wasRefused): machine.asked(id, wasRefused: wasRefused)
    case .timer: break
    case .begin, .established, .refused, .reply, .finished, .dies: carryOutByCurl(event)
    }
  }

  // MARK: Callers

  private mutating func start(_ number: Int) {
    let caller = callers[number]
    guard !caller.isCancelled else { return callers[number].answers += 1 }
    let server = servers[caller.server]
    let addresses = server.addresses.keys.filter { !server.late.contains($0) }.sorted {
      $0.description < $1.description
    }
    let terms = TransferTerms(
      addresses: addresses, hasOthers: !server.late.isEmpty,
      isRetryable: caller.isRetryable && !caller.history.hasRetried,
      canStartOver: caller.canStartOver, connectTimeout: 5_000, firstByteTimeout: 2_000, deadline: caller.deadline)
    let id = machine.start(terms, caller.server, server.known, at: now)
    callers[number].id = id
    callerOf[id] = number
  }

  private mutating func ended(_ id: ID, _ result: Result<Void, TransferFailure>) {
    guard let number = callerOf.removeValue(forKey: id) else { return fault("\(id) ended twice, or never began") }
    callers[number].id = nil
    if case .failure(let failure) = result, now < callers[number].deadline, !callers[number].isCancelled {
      let caller = callers[number]
      let isAgain = callers[number].history.allows(
        failure, isRetryable: caller.isRetryable, canBeReplayed: caller.canStartOver)
      if isAgain { return plan(.arrive(number), in: 0...0) }
    }
    callers[number].answers += 1
    if now > callers[number].deadline { fault("caller \(number) was answered after its deadline") }
  }

  private mutating func perform() {
    while !machine.actions.isEmpty {
      let actions = machine.actions
      machine.actions = []
      for action in actions {
        switch action {
        case .connect(let id, let number, let address, let waits): connect(id, number, address, waits: waits)
        case .close(let id, let number): close(AttemptID(transfer: id, number: number))
        case .askForOthers(let id):
          if chance(0.3), let caller = callerOf[id] {
            machine.join(id, servers[callers[caller].server].late, at: now)
          } else {
            plan(.late(id), in: 0...6_000)
            machine.step(id, at: now)
          }
        case .tell, .startOver: break
        case .ask(let id, let number):
          plan(.asked(id, attempts[AttemptID(transfer: id, number: number)]?.wasRefused ?? false), in: 0...50)
        case .end(let id, let result): ended(id, result)
        case .endConnection(let socket): plan(.dies(socket), in: 0...5)
        }
      }
    }
  }

  // MARK: Invariants

  mutating func fault(_ text: String) { faults.append("at \(now) ms, event \(events): \(text)") }

  private mutating func check(_ event: Event) {
    for (number, caller) in callers.enumerated() {
      if caller.answers > 1 { fault("caller \(number) was answered \(caller.answers) times") }
      let limit = caller.isRetryable ? 2 : 1
      if caller.processed > limit { fault("caller \(number)'s request was processed \(caller.processed) times") }
    }
    let pools = machine.pools.ids.compactMap { machine.pools[$0] }
    let free = machine.limits.connections - pools.reduce(0) { $0 + $1.load.weight }
    for pool in pools where pool.load.multiplexing == .never && servers[pool.route].known == .never {
      if pool.load.running > machine.limits.connectionsPerRoute {
        fault("route \(pool.route) has \(pool.load.running) requests under way")
      }
    }
    if servers.allSatisfy({ $0.known == .never }), free < 0 { fault("\(-free) connections too many are taken") }
    for id in machine.transfers.ids {
      guard let transfer = machine.transfers[id], transfer.state.isWaiting else { continue }
      let admission = machine.pools[transfer.pool]?.load.admission(free: free)
      if admission == .reuse || admission == .open { fault("\(id) waits although it could start, after \(event)") }
    }
    for (socket, connection) in sockets where connection.isEstablished {
      if connection.users.count > streams(connection.server) { fault("socket \(socket) carries too many requests") }
    }
  }

  private mutating func checkEnd() {
    for (number, caller) in callers.enumerated() where caller.answers != 1 {
      fault("caller \(number) was answered \(caller.answers) times")
    }
    if machine.transfers.count > 0 || !attempts.isEmpty { fault("something is still under way") }
    for socket in Array(sockets.keys) {
      sockets[socket] = nil
      machine.closed(socket)
    }
    _ = machine.settle(at: now)
    if machine.pools.count > 0 || !machine.connections.isEmpty { fault("pools are left") }
  }
}
