// SPDX-License-Identifier: Apache-2.0
/// How a transfer gets its connection, and how connections come and go.
extension PoolMachine {
  /// Starts the attempts that are due; a transfer without any left has failed.
  mutating func step(_ id: TransferID, at now: Int64) {
    while let (step, waits) = transfers.change(
      id, { ($0.state.attempts.step(at: now), $0.state.admission == .sharing) })
    {
      switch step {
      case .start(let address, let number):
        actions.append(.connect(id, attempt: number, address, waits: waits))
      // What is known of them already takes its turn with the rest: whoever asks steps on.
      case .ask: return actions.append(.askForOthers(id))
      case .lost:
        guard let failure = transfers.read(id, { $0.state.connectFailure }) else { return }
        return failToConnect(id, failure, at: now)
      case .wait, .rest: return
      }
    }
  }

  /// The addresses that a transfer's race asked for, as far as they may be dialled.
  mutating func join(_ id: TransferID, _ addresses: [IPAddress], at now: Int64) {
    transfers.change(id) { $0.state.attempts.join(addresses) }
    step(id, at: now)
    noteDue(id)
  }

  // MARK: What libcurl asks

  /// Whether an attempt may open a connection: where several requests share one, only the one that goes ahead may, and
  /// those who find no room wait for it.
  mutating func mayDial(_ id: TransferID, attempt number: Int) -> Bool {
    // A copy: connections are rare.
    guard let transfer = transfers[id], let pool = pools[transfer.pool] else { return false }
    let state = transfer.state
    if state.admission == .opening { return true }
    if let carrier = state.carrier {
      guard carrier.attempt == number else { return true }
      // libcurl sends it once more, on a connection of its own: beyond the cap it waits for its turn like all others. Not
      // one whose response is there: it is the repetition without an expectation, which ``TransferState`` ends.
      let isFull = pool.load.multiplexing == .always && pool.sockets.count >= limits.connectionsPerRoute
      guard isFull, state.isAwaitingResponse, state.mayBeSentAgain(joins: pool.joins) else { return true }
      transfers.change(id) { $0.state.requireRequeueOfSent() }
      return false
    }
    guard number == 0 else { return true }
    switch pool.load.multiplexing {
    case .never: return true
    case .unknown:
      note(transfer.pool) { $0.overflowed() }
      return true
    case .always:
      note(transfer.pool) { $0.overflowed() }
      return transfers.change(id) { $0.state.requireRequeue() } != true
    }
  }

  /// An address that libcurl was about to dial is forbidden.
  mutating func forbid(_ address: IPAddress, _ id: TransferID) {
    transfers.change(id) { $0.state.forbid(address) }
  }

  /// An attempt opened a socket.
  mutating func dialled(_ socket: Int32, _ id: TransferID, attempt number: Int) {
    let dialled = transfers.change(id) { transfer in
      transfer.state.attempts.dialled(socket, by: number)
      return (pool: transfer.pool, address: transfer.state.attempts[number]?.address)
    }
    guard let dialled else { return }
    let noted = pools.change(dialled.pool) { pool in
      pool.sockets.append(socket)
      return pool.cache
    }
    guard let cache = noted else { return }
    connections.opened(socket, of: dialled.pool, to: dialled.address, in: cache)
    if connections.count > limits.connections { endIdleConnection(besides: cache) }
  }

  /// Whether a request may be sent on the connection that now stands.
  enum SendVerdict {
    case no
    case first(TransferState.Carrier, isReused: Bool)
    /// libcurl sends it once more, on another connection.
    case again
  }

  /// A connection stands for an attempt.
  mutating func maySend(_ id: TransferID, attempt number: Int, at now: Int64) -> SendVerdict {
    let found = transfers.read(id) { (pool: $0.pool, isCarrier: $0.state.carrier?.attempt == number) }
    guard let (pool, isCarrier) = found else { return .no }
    let verdict =
      isCarrier ? mayRetry(id, pool, attempt: number, at: now) : mayBegin(id, pool, attempt: number, at: now)
    // Also one that is not let through: libcurl has noted by now that another one uses the connection, and repeats
    // whatever gets no response on it.
    if case .no = verdict, transfers.change(id, { $0.state.attempts.takeDialled(by: number) }) != true {
      noteJoin(pool)
    }
    return verdict
  }

  /// Whether an attempt is the first that stands, and so carries the request.
  private mutating func mayBegin(
    _ id: TransferID, _ pool: SlabID<Pool>, attempt number: Int, at now: Int64
  ) -> SendVerdict {
    guard let begun = transfers.change(id, { $0.state.connected(number, at: now) }) ?? nil else { return .no }
    noteEstablished(begun.attempt, pool)
    noteJoin(id, pool, attempt: number, begun.carrier.address)
    note(pool) { $0.connected(begun.carrier.address, insteadOf: begun.countedAddress, opened: begun.wasOpening) }
    for loser in begun.losers { actions.append(.close(id, attempt: loser)) }
    noteDue(id)
    return .first(begun.carrier, isReused: begun.attempt.socket == nil)
  }

  /// Whether libcurl may send a request once more, on another connection.
  ///
  /// It wants to when HTTP/2 refused the request unprocessed, and when a connection that others had used too ended
  /// without a byte of response: then the server may have got the request and closed only then. It also wants to leave
  /// out an expectation that was refused (417), which ``DirectClient`` does by itself.
  private mutating func mayRetry(
    _ id: TransferID, _ pool: SlabID<Pool>, attempt number: Int, at now: Int64
  ) -> SendVerdict {
    guard let state = transfers[id]?.state, let joins = pools.read(pool, { $0.joins }) else { return .no }
    // libcurl keeps the connection, whatever becomes of the request.
    noteEstablished(state.attempts[number], pool)
    guard case .sent = state.phase else { return .no }
    guard state.mayBeSentAgain(joins: joins) else {
      transfers.change(id) { $0.state.refuseRetry() }
      return .no
    }
    transfers.change(id) { transfer in
      transfer.state.noteRetry(joins: joins)
      transfer.state.sent(at: now)
    }
    noteJoin(id, pool, attempt: number, state.attempts[number]?.address)
    return .again
  }

  /// Notes whether a request opened its connection: as long as nobody joins it there, libcurl repeats the request for
  /// one reason alone, which is that it was refused.
  private mutating func noteJoin(
    _ id: TransferID, _ pool: SlabID<Pool>, attempt number: Int, _ address: IPAddress?
  ) {
    let isNew = transfers.change(id) { $0.state.attempts.takeDialled(by: number) } ?? false
    if !isNew { noteJoin(pool) }
    if !isNew, pools.read(pool, { $0.load.multiplexing == .unknown && $0.load.isShared(address) }) == true {
      note(pool) { $0.learned(isMultiplexed: true) }
    }
    let joins = isNew ? pools.read(pool) { $0.joins } : nil
    transfers.change(id) { $0.state.joined(after: joins) }
  }

  private mutating func noteJoin(_ pool: SlabID<Pool>) { pools.change(pool) { $0.joins += 1 } }

  private mutating func noteEstablished(_ attempt: ConnectAttempts.Attempt?, _ pool: SlabID<Pool>) {
    guard let attempt, let socket = attempt.socket, connections.established(socket) else { return }
    pools.change(pool) { $0.outage = nil }
    note(pool) { $0.established(attempt.address) }
  }

  // MARK: Connections

  /// Whether a connection stands that carries one transfer at a time, and so has nothing to say unasked.
  func isAlone(_ socket: Int32) -> Bool {
    guard let connection = connections[socket], connection.isEstablished else { return false }
    return pools.read(connection.pool) { $0.load.multiplexing != .always } ?? false
  }

  /// A socket is closed.
  mutating func closed(_ socket: Int32) {
    guard let connection = connections.closed(socket) else { return }
    pools.change(connection.pool) { pool in pool.sockets.removeAll { $0 == socket } }
    // Also where it never stood: its pool may be left with nothing.
    note(connection.pool) { if connection.isEstablished { $0.closed(connection.address) } }
  }

  /// Ends a connection that nobody uses, to make room for another one.
  ///
  /// libcurl does so among the connections of one cache.
  private mutating func endIdleConnection(besides cache: Int) {
    let idle = connections.established { connection in
      connection.cache != cache && pools.read(connection.pool) { $0.load.running == 0 } == true
    }
    guard let idle = idle.min() else { return }
    // libcurl closes it when it looks at that cache's connections next.
    closed(idle)
    actions.append(.endConnection(idle))
  }

  /// Ends the connections to an address that died, or to all, that no request uses.
  ///
  /// Those of HTTP/1.1 that wait beside others which are used cannot be told apart, and are the last choice from now on.
  mutating func closeIdle(_ address: IPAddress?) {
    let idle = connections.established { connection in
      (address == nil || connection.address == address)
        && pools.read(connection.pool) { $0.load.isBusy(connection.address) } == false
    }
    // In an order, so that the same happens each time.
    for socket in idle.sorted() { actions.append(.endConnection(socket)) }
    guard let address else { return }
    for pool in connections.pools(connectedTo: address) { pools.change(pool) { $0.load.died(address) } }
  }
}
