// SPDX-License-Identifier: Apache-2.0
/// How many there may be.
struct PoolLimits: Sendable {
  /// Connections in all; idle ones do not count.
  var connections: Int
  var connectionsPerRoute: Int
  /// Requests on one connection that multiplexes.
  var streams: Int
  /// Milliseconds from one attempt to connect to the next.
  var attemptDelay: Int64

  /// libcurl's connection caches: one for each multi handle.
  static let caches = 16
  /// Beyond so many connections in each of its caches, another one is begun.
  static let cacheSize = 128
}

/// The requests of one loop and the connections that carry them: who waits, which connection takes the next request, which
/// address is tried when, what may be sent again, and what is closed.
///
/// A pure value, in milliseconds of its owner's clock: no socket, lock or task. Its owner tells it what happened, asks it
/// where libcurl asks, and carries out its ``actions`` once libcurl is not calling. Transfers of one route share
/// connections.
struct PoolMachine<Route: Hashable> {
  /// The connections of one route and those who use them.
  struct Pool {
    let route: Route
    var load: PoolLoad
    /// Which of libcurl's connection caches has its own.
    let cache: Int
    /// What tells it apart from every other pool that there is or was.
    let number: Int
    /// Sockets of its connections, those included that do not stand yet.
    var sockets: [Int32] = []
    /// Requests that went onto connections that stood.
    var joins = 0
    /// What attempts to connect came to since none brings a connection.
    var outage: PoolOutage?
    /// Whether it is among the changed ones.
    var isChanged = false
  }

  struct Transfer {
    let pool: SlabID<Pool>
    var state: TransferState
    let arrivedAt: Int64
    /// Its place among those that run.
    var place = 0
  }

  typealias TransferID = SlabID<Transfer>

  /// What its owner has to do, in this order.
  enum Action {
    /// Begin an attempt; `waits` for a connection that another one is opening, rather than open one of its own.
    case connect(TransferID, attempt: Int, IPAddress?, waits: Bool)
    /// End an attempt.
    case close(TransferID, attempt: Int)
    /// Find out the other family's addresses: ``join(_:_:at:)`` them if they are known, ``step(_:at:)`` on if they are not.
    case askForOthers(TransferID)
    /// An address could not be connected to.
    case report(TransferID, failed: IPAddress, HTTPTransportError)
    /// Forget what came of the response, and begin its body anew: it waits for its turn once more.
    case startOver(TransferID)
    /// Find out whether HTTP/2 refused the request; ``checked(_:wasRefused:)`` has the answer.
    case checkRefusal(TransferID, attempt: Int)
    /// It has ended. Its number means nothing from now on; its attempts are closed behind.
    case end(TransferID, Result<Void, TransferFailure>)
    /// End a connection that nobody uses.
    case endConnection(Int32)
  }

  let limits: PoolLimits
  var actions: [Action] = []
  var pools = Slab<Pool>()
  var transfers = Slab<Transfer>()
  var connections = ConnectionTable<SlabID<Pool>>()
  private var poolOf: [Route: SlabID<Pool>] = [:]
  /// How many pools there have been.
  private var poolCount = 0
  private var waiting = RequestQueue<SlabID<Pool>, TransferID>()
  /// The sum of the pools' weights.
  private var taken = 0
  /// Pools in which another request may be able to start.
  private var changed: [SlabID<Pool>] = []
  /// Those that do not wait, in no order.
  var running: [TransferID] = []
  /// Nothing is due before.
  var nextDue = Int64.max
  /// When those of the queue who have not left it will have waited for too long.
  var waitingDeadlines = TimerQueue<TransferID, Int64>()

  init(_ limits: PoolLimits) { self.limits = limits }

  /// Whether transfers have connections, or are getting them.
  var isBusy: Bool { transfers.count > waitingDeadlines.count }

  // MARK: Coming and going

  /// One more request.
  mutating func start(
    _ terms: TransferTerms, _ route: Route, _ multiplexing: PoolLoad.Multiplexing, at now: Int64
  ) -> TransferID {
    let pool = pool(route, multiplexing)
    let id = transfers.insert(Transfer(pool: pool, state: TransferState(terms), arrivedAt: now))
    if waiting.count == 0, let admission = admission(to: pool) {
      begin(id, in: pool, admission, at: now)
    } else {
      waiting.append(id, in: pool)
      noteDue(id)
      // Its pool may have room on a connection that stands, although those before it wait for one to be free.
      note(pool) { _ in }
      admitWaiting(at: now)
    }
    return id
  }

  private mutating func pool(_ route: Route, _ multiplexing: PoolLoad.Multiplexing) -> SlabID<Pool> {
    if let known = poolOf[route] { return known }
    let load = PoolLoad(
      multiplexing: multiplexing, connectionLimit: limits.connectionsPerRoute, streamLimit: limits.streams)
    poolCount += 1
    let pool = pools.insert(
      Pool(route: route, load: load, cache: connections.assignCache(limits), number: poolCount))
    poolOf[route] = pool
    return pool
  }

  /// Nobody wants it any more.
  mutating func cancel(_ id: TransferID) { finish(id, .failure(TransferFailure(.cancelled))) }

  /// Ends everything.
  mutating func stop() { for id in transfers.ids { finish(id, .failure(TransferFailure(.shutDown))) } }

  /// Ends a transfer, wherever it is.
  mutating func finish(_ id: TransferID, _ result: Result<Void, TransferFailure>) {
    guard let transfer = transfers.remove(id) else { return }
    actions.append(.end(id, result))
    for attempt in transfer.state.attempts.running { actions.append(.close(id, attempt: attempt.number)) }
    guard !transfer.state.isWaiting else {
      waitingDeadlines.set(id, at: nil)
      return note(transfer.pool) { _ in }
    }
    noteStopped(id, transfer.place)
    // What the closure needs and not the state, whose copy costs a retain for each of its parts.
    let (address, wasOpening) = (transfer.state.countedAddress, transfer.state.admission == .opening)
    let wasConnected = transfer.state.carrier != nil
    note(transfer.pool) { $0.ended(address, wasOpening: wasOpening, wasConnected: wasConnected) }
  }

  // MARK: The queue

  private func admission(to pool: SlabID<Pool>) -> PoolLoad.Admission? {
    let free = limits.connections - taken
    let admission = pools.read(pool) { $0.load.admission(free: free) }
    return admission == .reuse || admission == .open ? admission : nil
  }

  private mutating func admitWaiting(at now: Int64) {
    while let pool = waiting.nextPool {
      let free = limits.connections - taken
      switch pools.read(pool, { $0.load.admission(free: free) }) {
      case .reuse: take(from: pool, .reuse, at: now)
      case .open: take(from: pool, .open, at: now)
      case .poolIsFull, nil: waiting.parkNext()
      case .allAreTaken: return admitOntoEstablished(at: now)
      }
    }
  }

  /// Where every connection is taken, those that multiplex may still have room.
  private mutating func admitOntoEstablished(at now: Int64) {
    for pool in changed where pools.read(pool, { $0.load.multiplexing }) != .never {
      while pools.read(pool, { $0.load.admission(free: 0) }) == .reuse, waiting.isWaiting(in: pool) {
        take(from: pool, .reuse, at: now)
      }
    }
  }

  /// Begins the first that waits in a pool, if it still does.
  private mutating func take(from pool: SlabID<Pool>, _ admission: PoolLoad.Admission, at now: Int64) {
    guard let id = waiting.popFirst(in: pool), transfers.has(id) else { return }
    waitingDeadlines.set(id, at: nil)
    if let failure = outageFailure(of: id, in: pool, at: now) { return finish(id, .failure(failure)) }
    begin(id, in: pool, admission, at: now)
  }

  private mutating func begin(
    _ id: TransferID, in pool: SlabID<Pool>, _ admission: PoolLoad.Admission, at now: Int64
  ) {
    guard let multiplexing = pools.read(pool, { $0.load.multiplexing }),
      let (wanted, isProxied) = transfers.read(id, { ($0.state.terms.addresses, $0.state.terms.isProxied) })
    else { return }
    let role: TransferState.Admission =
      switch multiplexing {
      case .never: .any
      case .unknown: admission == .open ? .opening : .any
      case .always: admission == .open ? .opening : .sharing
      }
    let interleaved = ConnectionRace.interleaved(wanted)
    let addresses = pools.read(pool) { $0.load.ordered(interleaved) } ?? interleaved
    let (delay, place) = (limits.attemptDelay, running.count)
    running.append(id)
    transfers.change(id) {
      $0.state.begin(role, addresses, delay: delay, at: now)
      $0.place = place
    }
    note(pool) { $0.started(addresses.first, opens: role == .opening) }
    if isProxied {
      actions.append(.connect(id, attempt: 0, nil, waits: role == .sharing))
    } else {
      step(id, at: now)
    }
    noteDue(id)
  }

  /// Lets one that found no room wait once more, before all that came after it.
  mutating func requeue(_ id: TransferID) {
    guard let transfer = transfers[id] else { return }
    for attempt in transfer.state.attempts.running { actions.append(.close(id, attempt: attempt.number)) }
    actions.append(.startOver(id))
    transfers.change(id) { $0.state.requeue() }
    note(transfer.pool) {
      $0.ended(transfer.state.countedAddress, wasOpening: false, wasConnected: transfer.state.carrier != nil)
    }
    noteStopped(id, transfer.place)
    waiting.requeue(id, in: transfer.pool)
    noteDue(id)
  }

  // MARK: What is known of pools

  /// Changes what is known of a pool's connections, and what follows from it.
  mutating func note(_ pool: SlabID<Pool>, _ change: (inout PoolLoad) -> Void) {
    let noted = pools.change(pool) { pool in
      let before = pool.load.weight
      change(&pool.load)
      defer { pool.isChanged = true }
      return (added: pool.load.weight - before, isNews: !pool.isChanged)
    }
    guard let noted else { return }
    taken += noted.added
    if noted.isNews { changed.append(pool) }
  }

  // MARK: Time

  /// Does what is due, once all that happened was told.
  ///
  /// - Returns: the instant before which nothing will be due.
  mutating func endTurn(at now: Int64) -> Int64 {
    repeat {
      if waiting.count > 0 {
        let known = transfers
        for pool in changed { waiting.dropFirst(in: pool) { !known.has($0) } }
      }
      if waiting.count > 0, !changed.isEmpty {
        for pool in changed { waiting.unpark(pool) }
        admitWaiting(at: now)
      }
      for pool in changed {
        let isEmpty = pools.change(pool) { pool in
          pool.isChanged = false
          return pool.load.isEmpty && pool.sockets.isEmpty
        }
        guard isEmpty == true, !waiting.isWaiting(in: pool), let forgotten = pools.remove(pool) else { continue }
        poolOf[forgotten.route] = nil
      }
      changed.removeAll(keepingCapacity: true)
      if nextDue <= now { checkTimers(at: now) }
    } while !changed.isEmpty
    return nextDue
  }
}
