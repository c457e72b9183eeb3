internal import CDirectDNSCurl

/// The exchanges of one loop: who waits, who runs, on which connections.
final class CurlExchanges: CurlDriver {
  enum Command {
    case start(CurlExchange), cancel(CurlExchange)
    /// The addresses that an exchange's race asked for.
    case join(CurlExchange, [IPAddress])
    /// The reader has caught up, or the body has more.
    case resume(CurlExchange)
    /// The rest of the body is not wanted; so many bytes may still be read to keep the connection.
    case drain(CurlExchange, limit: Int)
    /// Connections to an address that is dead, or to all, are used no more.
    case closeIdle(IPAddress?)
  }

  /// One origin's connections and those who use them.
  final class Lane {
    let route: CurlRoute
    /// The handle that keeps its connections.
    let multi: CurlMulti
    var load: LaneLoad
    /// Transfers that were started and have sent nothing yet.
    var startCount = 0
    /// Sockets of its connections, those included that do not stand yet.
    var sockets: [curl_socket_t] = []
    /// Whether it is among the changed ones.
    var isChanged = false
    /// Requests that went onto connections that stood.
    var joins = 0

    init(_ route: CurlRoute, _ multi: CurlMulti, _ load: LaneLoad) {
      self.route = route
      self.multi = multi
      self.load = load
    }
  }

  /// A socket that libcurl keeps.
  struct Connection {
    let lane: Lane
    let address: IPAddress?
    var stands = false
  }

  let settings: CurlExchangeSettings
  private(set) var multis: [CurlMulti]
  var now = CurlTime.now
  let sockets: CurlSockets
  private let share = CurlShare()
  var lanes: [CurlRoute: Lane] = [:]
  var waiting = WaitingLine<Lane, CurlExchange>()
  var active: [ObjectIdentifier: CurlExchange] = [:]
  private var idleAttempts: [CurlAttempt] = []
  var connections: [curl_socket_t: Connection] = [:]
  /// The sum of the lanes' weights.
  private var taken = 0
  /// Lanes with transfers that have sent nothing yet.
  private var startedLanes: [Lane] = []
  /// Exchanges with something to hand over.
  var dirty: [CurlExchange] = []
  /// Attempts that have lost their race: to be ended once libcurl is not calling.
  var losers: [(attempt: CurlAttempt, exchange: CurlExchange)] = []
  /// Lanes in which another request may be able to start.
  var changedLanes: [Lane] = []
  var nextDue = Int64.max

  init(_ settings: CurlExchangeSettings, multi: CurlMulti) {
    self.settings = settings
    multis = [multi]
    sockets = CurlSockets(silenceLimit: 20_000, events: multi.events)
    configure(multi)
    sockets.closing = { [unowned self] in closed($0) }
  }

  private func configure(_ multi: CurlMulti) {
    // Idle connections are closed to make room, the longest idle one first; ours is the queue, so none waits in libcurl.
    multi.set(CURLMOPT_MAX_TOTAL_CONNECTIONS, settings.connectionLimit + Self.raceRoom)
    multi.set(CURLMOPT_MAXCONNECTS, settings.connectionLimit)
    multi.set(CURLMOPT_MAX_CONCURRENT_STREAMS, settings.streamLimit)
    multi.sockets = sockets
  }

  /// Connections beyond the limit, for attempts that race.
  private static let raceRoom = 32

  var isBusy: Bool { !active.isEmpty }

  func takeCrowdedSockets() -> [curl_socket_t] {
    var sockets: [curl_socket_t] = []
    for lane in startedLanes {
      if lane.startCount > 1, lane.load.multiplexing == .always {
        sockets += lane.sockets
      }
      lane.startCount = 0
    }
    startedLanes.removeAll(keepingCapacity: true)
    return sockets
  }

  func stop() {
    for exchange in active.values { finish(exchange, .failure(CurlFailure(.shutDown))) }
    handOver()
    for exchange in waiting.items where exchange.stage == .waiting {
      exchange.stage = .done
      exchange.deliver(end: .failure(CurlFailure(.shutDown)))
    }
    losers = []
    idleAttempts = []
    sockets.closing = nil
  }

  // MARK: Commands

  func carryOut(_ command: Command) {
    switch command {
    case .start(let exchange): start(exchange)
    case .cancel(let exchange):
      exchange.isCancelled = true
      switch exchange.stage {
      case .new, .done: break
      case .waiting: abandon(exchange, CurlFailure(.cancelled))
      case .running: finish(exchange, .failure(CurlFailure(.cancelled)))
      }
    case .join(let exchange, let addresses):
      guard exchange.stage == .running, exchange.winner == nil else { break }
      join(exchange, addresses)
      step(exchange, now)
      if exchange.stage == .running { noteDue(exchange) }
    case .resume(let exchange):
      if exchange.stage == .running { exchange.winner?.resume() }
    case .drain(let exchange, let limit):
      exchange.drainLeft = limit
      if exchange.stage == .running { exchange.winner?.resume() }
    case .closeIdle(let address): closeIdle(address)
    }
  }

  private func start(_ exchange: CurlExchange) {
    guard !exchange.isCancelled else {
      exchange.stage = .done
      return exchange.deliver(end: .failure(CurlFailure(.cancelled)))
    }
    let lane = lane(exchange.order.route)
    exchange.lane = lane
    nextDue = min(nextDue, exchange.order.deadline)
    if waiting.count == 0, begin(exchange, in: lane) { return }
    exchange.stage = .waiting
    waiting.append(exchange, in: lane)
    admitWaiting()
  }

  private func lane(_ route: CurlRoute) -> Lane {
    if let lane = lanes[route] { return lane }
    let multiplexing: LaneLoad.Multiplexing =
      switch route.version {
      case .http1: .never
      case .automatic: route.usesTLS ? .unknown : .never
      case .http2: .always
      }
    let lane = Lane(
      route, multiForLane(),
      LaneLoad(
        multiplexing: multiplexing, connectionLimit: settings.connectionLimitPerName, streamLimit: settings.streamLimit)
    )
    lanes[route] = lane
    return lane
  }

  /// The handle for one more lane: the one with the fewest connections, or a new one if that has many.
  ///
  /// A transfer that has ended looks for its connection among all that its handle keeps (close_connect_only in libcurl's
  /// multi.c): beside 5 000 connections to a slow server, each request to another one would take 50 µs longer.
  private func multiForLane() -> CurlMulti {
    let least = multis.reduce(multis[0]) { $1.connectionCount < $0.connectionCount ? $1 : $0 }
    guard least.connectionCount > Self.manyConnections,
      multis.count < min(Self.multiLimit, settings.connectionLimit / Self.manyConnections / 2),
      let multi = CurlMulti(index: UInt8(multis.count), events: least.events)
    else { return least }
    configure(multi)
    multis.append(multi)
    return multi
  }

  private static let manyConnections = 128
  private static let multiLimit = 16

  // MARK: The queue

  /// Starts an exchange if its lane and the caps admit it.
  private func begin(_ exchange: CurlExchange, in lane: Lane) -> Bool {
    let admission = lane.load.admission(free: settings.connectionLimit - taken)
    guard admission == .reuse || admission == .open else { return false }
    begin(exchange, in: lane, admission)
    return true
  }

  func admitWaiting() {
    while let lane = waiting.nextLane {
      let admission = lane.load.admission(free: settings.connectionLimit - taken)
      switch admission {
      case .reuse, .open:
        guard let exchange = waiting.popFirst(in: lane), exchange.stage == .waiting else { continue }
        begin(exchange, in: lane, admission)
      case .laneIsFull: waiting.parkNext()
      case .allAreTaken: return admitOntoStanding()
      }
    }
  }

  /// Where every connection is taken, those that multiplex may still have room.
  private func admitOntoStanding() {
    for lane in changedLanes where lane.load.multiplexing != .never {
      while lane.load.admission(free: 0) == .reuse, let exchange = waiting.popFirst(in: lane) {
        if exchange.stage == .waiting { begin(exchange, in: lane, .reuse) }
      }
    }
  }

  private func begin(_ exchange: CurlExchange, in lane: Lane, _ admission: LaneLoad.Admission) {
    let order = exchange.order
    exchange.stage = .running
    exchange.startedAt = now
    exchange.isOpening = admission == .open && lane.load.multiplexing != .never
    exchange.sharesConnection = admission == .reuse && lane.load.multiplexing == .always
    let addresses = lane.load.ordered(ConnectionAttempts.interleaved(order.addresses))
    exchange.line = addresses.first
    note(lane) { $0.started(exchange.line, opens: exchange.isOpening) }
    addActive(exchange)
    if order.route.proxy != nil {
      attempt(exchange, number: 0, address: nil)
    } else {
      exchange.race = ConnectionAttempts(addresses, delay: settings.attemptDelay, hasOthers: order.others != nil)
      step(exchange, now)
    }
    nextDue = min(nextDue, due(exchange))
  }

  /// Lets one that found no room wait once more, before all that came after it.
  func putBack(_ exchange: CurlExchange) {
    guard let lane = exchange.lane else { return }
    for attempt in exchange.attempts { retire(attempt) }
    removeActive(exchange)
    exchange.isTurnedAway = false
    exchange.hasBeenPutBack = true
    exchange.race = nil
    exchange.stage = .waiting
    let isConnected = exchange.winner != nil
    exchange.winner = nil
    exchange.headBytes.removeAll(keepingCapacity: true)
    note(lane) { $0.ended(exchange.line, wasOpening: false, wasConnected: isConnected) }
    waiting.putBack(exchange, in: lane)
  }

  /// Changes what is known of a lane's connections, and what follows from it.
  func note(_ lane: Lane, _ change: (inout LaneLoad) -> Void) {
    taken -= lane.load.weight
    change(&lane.load)
    taken += lane.load.weight
    guard !lane.isChanged else { return }
    lane.isChanged = true
    changedLanes.append(lane)
  }

  // MARK: Attempts and connections

  func addActive(_ exchange: CurlExchange) { active[ObjectIdentifier(exchange)] = exchange }

  func removeActive(_ exchange: CurlExchange) { active[ObjectIdentifier(exchange)] = nil }

  /// A handle for one more attempt, one that is set up for the lane if there is one; nil if libcurl has no memory for it.
  func newAttempt(in lane: Lane?) -> CurlAttempt? {
    if let place = idleAttempts.lastIndex(where: { $0.lane === lane }) { return idleAttempts.remove(at: place) }
    return idleAttempts.popLast() ?? CurlAttempt(events: self)
  }

  func send(_ attempt: CurlAttempt, _ exchange: CurlExchange, number: Int, address: IPAddress?) {
    guard let lane = exchange.lane else { return }
    attempt.prepare(
      exchange, in: lane, number: number, address: address, settings, share: share, sockets: sockets, at: now)
    exchange.attempts.append(attempt)
    if lane.startCount == 0 { startedLanes.append(lane) }
    lane.startCount += 1
    unsafe lane.multi.add(attempt.handle)
  }

  /// Ends an attempt, and keeps its handle for the next one.
  func retire(_ attempt: CurlAttempt) {
    guard let exchange = attempt.exchange, let lane = exchange.lane else { return }
    let isEmpty = attempt.dropHeldBack()
    unsafe lane.multi.remove(attempt.handle)
    if !isEmpty { attempt.freeHeldBack() }
    exchange.attempts.removeAll { $0 === attempt }
    attempt.release()
    if attempt.isClean, idleAttempts.count < Self.idleAttemptLimit { idleAttempts.append(attempt) }
  }

  /// Handles that are kept, at some 25 KB each.
  private static let idleAttemptLimit = 128

  func markDirty(_ exchange: CurlExchange) {
    guard !exchange.isDirty else { return }
    exchange.isDirty = true
    dirty.append(exchange)
  }

  func markLost(_ attempt: CurlAttempt, of exchange: CurlExchange) { losers.append((attempt, exchange)) }

  /// Wakes the timers for an exchange whose state has changed.
  func noteDue(_ exchange: CurlExchange) { nextDue = min(nextDue, due(exchange)) }

  private func closed(_ socket: curl_socket_t) {
    guard let connection = connections.removeValue(forKey: socket) else { return }
    connection.lane.multi.connectionCount -= 1
    connection.lane.sockets.removeAll { $0 == socket }
    guard connection.stands else { return }
    note(connection.lane) { $0.closed(connection.address) }
  }

  /// Ends a connection that nobody uses, to make room for another one.
  ///
  /// libcurl does so among the connections of one handle.
  func endIdleConnection(besides multi: CurlMulti) {
    guard multis.count > 1,
      let (socket, _) = connections.first(where: { _, connection in
        connection.lane.multi !== multi && connection.stands && connection.lane.load.running == 0
      })
    else { return }
    // libcurl closes it when it looks at that handle's connections next.
    closed(socket)
    directdns_end(socket)
  }

  /// Ends the connections to an address, or to all, that no exchange uses.
  private func closeIdle(_ address: IPAddress?) {
    for (socket, connection) in connections where connection.stands {
      guard address == nil || connection.address == address, !connection.lane.load.isBusy(connection.address) else {
        continue
      }
      directdns_end(socket)
    }
  }
}
