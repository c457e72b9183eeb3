// SPDX-License-Identifier: Apache-2.0
/// The limits of one loop's connections.
struct PoolLimits: Sendable {
  /// Connections in all; idle ones are closed to make room.
  var connections: Int
  var connectionsPerRoute: Int
  /// Requests at a time on one multiplexing connection.
  var streams: Int
  /// Milliseconds from one attempt to connect to the next.
  var attemptDelay: Int64

  /// For how many milliseconds a connection takes requests: one that is always busy would never follow a change of the
  /// server's addresses.
  static let lifetime: Int64 = 600_000
  /// The most connection caches; each is one of libcurl's multi handles.
  static let caches = 16
  /// A further cache is begun when each has more connections than this.
  static let cacheSize = 128
}

/// Decides about the requests of one loop and their connections: who waits, which connection takes the next request,
/// which address is tried when, what may be sent again, and what is closed.
///
/// A pure value without a socket, lock or task; times are milliseconds of its owner's clock. Its owner tells it events,
/// asks it when libcurl asks for a decision, and carries out its ``actions`` when no callback of libcurl is running.
/// Transfers with the same route share connections.
struct PoolMachine<Route: Hashable> {
  /// The connections of one route, and the requests on them.
  struct Pool {
    let route: Route
    var load: PoolLoad
    /// The connection cache of libcurl that its connections are in.
    let cache: Int
    /// A number that no other pool has or had.
    let number: Int
    /// The sockets of its connections, including those that are not established yet.
    var sockets: [Int32] = []
    /// How many requests have joined a connection that was there before them.
    var joins = 0
    /// Why nobody gets a connection at the moment; nil if somebody does.
    var outage: PoolOutage?
    /// Whether it is in ``PoolMachine/changed``.
    var isChanged = false
    /// Whether new requests of its route have another pool, since the network has changed or its time is over.
    var isRetired = false
    /// When it began to open connections, having none.
    var openedAt: Int64 = 0

    /// Whether it takes further requests: where several share a connection, only for as long as one lives.
    ///
    /// libcurl itself ends old connections, but none that is in use (`extract_if_dead`), as shared ones may always be.
    func takesRequests(at now: Int64) -> Bool {
      !isRetired && (load.multiplexing != .always || sockets.isEmpty || now - openedAt < PoolLimits.lifetime)
    }
  }

  struct Transfer {
    let pool: SlabID<Pool>
    var state: TransferState
    let arrivedAt: Int64
    /// Its index in ``PoolMachine/running``.
    var place = 0
  }

  typealias TransferID = SlabID<Transfer>

  /// Something that its owner has to do; actions are carried out in order.
  enum Action {
    /// Begin an attempt; if it `waits`, it waits for a connection that another one is opening instead of opening its
    /// own.
    case connect(TransferID, attempt: Int, IPAddress?, waits: Bool)
    /// End an attempt.
    case close(TransferID, attempt: Int)
    /// Find out the other family's addresses: call ``join(_:_:at:)`` if they are known at once, otherwise
    /// ``step(_:at:)``.
    case askForOthers(TransferID)
    /// Report that an address could not be connected to.
    case report(TransferID, failed: IPAddress, HTTPTransportError)
    /// Forget what has come of the response, and restart the request's body: the transfer is back in the queue.
    case startOver(TransferID)
    /// Find out whether HTTP/2 refused the request, and tell ``checked(_:wasRefused:)``.
    case checkRefusal(TransferID, attempt: Int)
    /// Have libcurl continue an upload: if the server wants no more of it, the transfer ends.
    case resumeUpload(TransferID)
    /// Find out why an upload behind a complete response sends nothing, and tell ``checked(_:_:)``.
    case checkUpload(TransferID)
    /// Report that a transfer has ended; its id is invalid from now on, and actions follow that close its attempts.
    case end(TransferID, Result<Void, TransferFailure>)
    /// End an idle connection.
    case endConnection(Int32)
  }

  let limits: PoolLimits
  var actions = ActionList<Action>()
  var pools = Slab<Pool>()
  var transfers = Slab<Transfer>()
  var connections = ConnectionTable<SlabID<Pool>>()
  private var poolOf: [Route: SlabID<Pool>] = [:]
  /// The route and the pool of the last transfer, since many in a row have the same: comparing is cheaper than hashing.
  private var last: (route: Route, pool: SlabID<Pool>)?
  /// How many pools there have been.
  private var poolCount = 0
  var waiting = RequestQueue<SlabID<Pool>, TransferID>()
  /// The sum of ``PoolLoad/weight`` of all pools.
  var taken = 0
  /// Pools that have changed: another request may be able to start, or they may have nothing left.
  var changed: [SlabID<Pool>] = []
  /// Transfers that do not wait in the queue, in no particular order.
  var running: [TransferID] = []
  /// Nothing is due before this instant.
  var nextDue = Int64.max
  /// The deadlines of the transfers that wait in the queue.
  var waitingDeadlines = TimerQueue<TransferID, Int64>()

  init(_ limits: PoolLimits) { self.limits = limits }

  /// Whether any transfer is running.
  var isBusy: Bool { transfers.count > waitingDeadlines.count }

  // MARK: Beginning and end

  /// Starts a transfer, or puts it into the queue.
  mutating func start(
    _ terms: TransferTerms, _ route: Route, _ multiplexing: PoolLoad.Multiplexing, at now: Int64
  ) -> TransferID {
    let pool = pool(route, multiplexing, at: now)
    let id = transfers.insert(Transfer(pool: pool, state: TransferState(terms), arrivedAt: now))
    if waiting.count == 0, let admission = admission(to: pool), admission == .reuse || admission == .open {
      begin(id, in: pool, admission, at: now)
    } else {
      waiting.append(id, in: pool)
      noteDue(id)
      // Its pool may have room on an established connection, although others in the queue wait for a new one.
      note(pool)
      admitWaiting(at: now)
    }
    return id
  }

  private mutating func pool(
    _ route: Route, _ multiplexing: PoolLoad.Multiplexing, at now: Int64
  ) -> SlabID<Pool> {
    if let (same, pool) = last, same == route, pools.read(pool, { $0.takesRequests(at: now) }) == true { return pool }
    if let known = poolOf[route] {
      // An old connection is better than none, where there is no room for another.
      guard pools.read(known, { $0.takesRequests(at: now) }) == false, taken < limits.connections else {
        last = (route, known)
        return known
      }
      pools.change(known) { $0.isRetired = true }
      note(known)
    }
    let load = PoolLoad(
      multiplexing: multiplexing, connectionLimit: limits.connectionsPerRoute, streamLimit: limits.streams)
    poolCount += 1
    let pool = pools.insert(
      Pool(route: route, load: load, cache: connections.assignCache(limits), number: poolCount))
    poolOf[route] = pool
    last = (route, pool)
    return pool
  }

  /// Has new requests open connections of their own; the present pools end with their transfers.
  mutating func retirePools() {
    for pool in pools.ids { pools.change(pool) { $0.isRetired = true } }
    poolOf = [:]
  }

  /// Ends the connections of a retired pool once it has no more to do: nobody else would use or end them.
  ///
  /// One that is being opened ends with the attempt that opens it.
  private mutating func endRetired(_ id: SlabID<Pool>) {
    let sockets = pools.read(id) { $0.isRetired && $0.load.running == 0 ? $0.sockets : [] } ?? []
    guard !sockets.isEmpty, !waiting.isWaiting(in: id) else { return }
    for socket in sockets where connections[socket]?.isEstablished == true { actions.append(.endConnection(socket)) }
  }

  /// Ends a transfer that nobody wants any more.
  mutating func cancel(_ id: TransferID) { abandon(id, .cancelled) }

  mutating func stop() { for id in transfers.ids { abandon(id, .shutDown) } }

  private mutating func abandon(_ id: TransferID, _ reason: HTTPTransportError) {
    guard let failure = transfers.read(id, { $0.state.abandoned(reason) }) else { return }
    finish(id, .failure(failure))
  }

  /// Ends a transfer, whether it is waiting or running.
  mutating func finish(_ id: TransferID, _ result: Result<Void, TransferFailure>) {
    guard let transfer = transfers.remove(id) else { return }
    actions.append(.end(id, result))
    for attempt in transfer.state.attempts.running { actions.append(.close(id, attempt: attempt.number)) }
    guard !transfer.state.isWaiting else {
      waitingDeadlines.set(id, at: nil)
      return note(transfer.pool)
    }
    noteStopped(id, transfer.place)
    // Only what the closure needs: capturing the whole state would cost a retain for each of its parts.
    let (address, wasOpening) = (transfer.state.countedAddress, transfer.state.admission == .opening)
    let wasConnected = transfer.state.carrier != nil
    note(transfer.pool) { $0.ended(address, wasOpening: wasOpening, wasConnected: wasConnected) }
  }

  // MARK: Pools

  /// Changes a pool's load, by default not at all, and has the pool looked at when the turn ends.
  mutating func note(_ pool: SlabID<Pool>, _ change: (inout PoolLoad) -> Void = { _ in }) {
    let noted = pools.change(pool) { pool in
      let before = pool.load.weight
      change(&pool.load)
      return (added: pool.load.weight - before, isNews: !exchange(&pool.isChanged, with: true))
    }
    guard let noted else { return }
    taken += noted.added
    if noted.isNews { changed.append(pool) }
  }

  // MARK: Time

  /// Does what is due; called at the end of a turn of the loop, after all events of the turn.
  ///
  /// - Returns: the instant before which nothing will be due.
  mutating func endTurn(at now: Int64) -> Int64 {
    repeat {
      if waiting.count > 0, !changed.isEmpty {
        for pool in changed {
          // Gone before the next one starts: a change beside this copy would first copy the memory of all transfers.
          let known = transfers
          waiting.dropFirst(in: pool) { !known.has($0) }
        }
        for pool in changed { waiting.unpark(pool) }
        admitWaiting(at: now)
      }
      for pool in changed {
        endRetired(pool)
        let isEmpty = pools.change(pool) { pool in
          pool.isChanged = false
          return pool.load.isEmpty && pool.sockets.isEmpty
        }
        guard isEmpty == true, !waiting.isWaiting(in: pool), let forgotten = pools.remove(pool) else { continue }
        if poolOf[forgotten.route] == pool { poolOf[forgotten.route] = nil }
      }
      changed.removeAll(keepingCapacity: true)
      if nextDue <= now { checkTimers(at: now) }
    } while !changed.isEmpty
    return nextDue
  }
}
