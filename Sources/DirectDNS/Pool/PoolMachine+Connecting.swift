// SPDX-License-Identifier: Apache-2.0
/// How transfers get connections, and how connections come and go.
extension PoolMachine {
  /// Starts the attempts that are due, and fails a transfer that has none left.
  mutating func step(_ id: TransferID, at now: Int64) {
    while let (step, waits) = transfers.change(
      id, { ($0.state.attempts.step(at: now), $0.state.admission == .sharing) })
    {
      switch step {
      case .start(let address, let number):
        actions.append(.connect(id, attempt: number, address, waits: waits))
      // Addresses that are known at once have to alternate with the rest: the owner calls this again.
      case .ask: return actions.append(.askForOthers(id))
      case .lost:
        guard let failure = transfers.read(id, { $0.state.connectFailure }) else { return }
        return failToConnect(id, failure, at: now)
      case .wait, .rest: return
      }
    }
  }

  /// Adds the addresses that a transfer's race has asked for; the policy must allow them.
  mutating func join(_ id: TransferID, _ addresses: [IPAddress], at now: Int64) {
    transfers.change(id) { $0.state.attempts.join(addresses) }
    step(id, at: now)
    noteDue(id)
  }

  // MARK: What libcurl asks

  /// Whether an attempt may open a connection.
  ///
  /// Where several requests share a connection, only the one that opens it for all may; another one that finds no room
  /// has to go back into the queue.
  mutating func mayDial(_ id: TransferID, attempt number: Int, at now: Int64) -> Bool {
    // A copy does no harm here: new connections are rare.
    guard let transfer = transfers[id], let pool = pools[transfer.pool] else { return false }
    let state = transfer.state
    if state.admission == .opening { return true }
    if let carrier = state.carrier {
      guard carrier.attempt == number else { return true }
      // The response has begun, and whatever libcurl wants to retry the request for, it may not; see ``mayRetry``.
      guard state.phase != .receiving else {
        transfers.change(id) { $0.state.refuseRetry() }
        return false
      }
      // libcurl wants to send the request once more, on a new connection: if there may be no more connections, it has
      // to wait for its turn like all others.
      let isFull = pool.load.multiplexing == .always && pool.sockets.count >= limits.connectionsPerRoute
      guard isFull, state.isAwaitingResponse, state.mayBeSentAgain(joins: pool.joins) else {
        transfers.change(id) { $0.state.dialsAgain(at: now) }
        // The time to connect may end sooner than that for the first byte would have.
        noteDue(id)
        return true
      }
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

  /// libcurl was about to dial an address that the policy forbids.
  mutating func forbid(_ address: IPAddress, _ id: TransferID) {
    transfers.change(id) { $0.state.forbid(address) }
  }

  /// An attempt opened a socket.
  mutating func dialled(_ socket: Int32, _ id: TransferID, attempt number: Int) {
    let dialled = transfers.change(id) { transfer in
      transfer.state.attempts.dialled(socket, by: number)
      return (pool: transfer.pool, attempt: transfer.state.attempts[number])
    }
    guard let dialled else { return }
    let noted = pools.change(dialled.pool) { pool in
      if pool.sockets.isEmpty, let attempt = dialled.attempt { pool.openedAt = attempt.startedAt }
      pool.sockets.append(socket)
      return pool.cache
    }
    guard let cache = noted else { return }
    connections.opened(socket, of: dialled.pool, to: dialled.attempt?.address, in: cache)
    if connections.count > limits.connections { endIdleConnection(besides: cache) }
  }

  /// Of the sockets that an attempt has opened, to several addresses of a proxy, this one is connected.
  mutating func connected(_ socket: Int32, _ id: TransferID, attempt number: Int) {
    transfers.change(id) { $0.state.attempts.dialled(socket, by: number) }
  }

  /// Whether a request may be sent on a connection that is established.
  enum SendVerdict {
    case no
    /// Yes, for the first time.
    case first(isReused: Bool)
    /// Yes, once more, if its body can be sent from the beginning: libcurl retries it on another connection. Then
    /// ``PoolMachine/retries(_:attempt:isRewound:at:)`` follows.
    case again
  }

  /// An attempt has a connection: whether its request may be sent on it.
  mutating func maySend(_ id: TransferID, attempt number: Int, at now: Int64) -> SendVerdict {
    let found = transfers.read(id) { (pool: $0.pool, isCarrier: $0.state.carrier?.attempt == number) }
    guard let (pool, isCarrier) = found else { return .no }
    let verdict = isCarrier ? mayRetry(id, pool, attempt: number) : mayBegin(id, pool, attempt: number, at: now)
    // Even a request that may not be sent counts as having joined: libcurl has marked the connection as shared by now,
    // and retries every request that gets no response on a shared connection.
    if case .no = verdict, transfers.change(id, { $0.state.attempts.takeDialled(by: number) }) != true {
      noteJoin(pool)
    }
    return verdict
  }

  /// Whether an attempt is the first one that has a connection, and so carries the request.
  private mutating func mayBegin(
    _ id: TransferID, _ pool: SlabID<Pool>, attempt number: Int, at now: Int64
  ) -> SendVerdict {
    guard let begun = transfers.change(id, { $0.state.connected(number, at: now) }) ?? nil else { return .no }
    noteEstablished(begun.attempt, pool)
    noteJoin(id, pool, attempt: number, begun.carrier.address)
    // Only what the closure needs, as in ``finish(_:_:)``.
    let (address, counted, wasOpening) = (begun.carrier.address, begun.countedAddress, begun.wasOpening)
    note(pool) { $0.connected(address, insteadOf: counted, opened: wasOpening) }
    for loser in begun.losers { actions.append(.close(id, attempt: loser)) }
    noteDue(id)
    return .first(isReused: begun.attempt.socket == nil)
  }

  /// Whether a request without a response, which had its connection to itself, has neither sent nor received anything
  /// for so many milliseconds.
  func isSilent(_ id: TransferID, for limit: Int64, at now: Int64) -> Bool {
    // A copy does no harm here: libcurl seldom sends a request again.
    guard let transfer = transfers[id], transfer.state.isAwaitingResponse, let carrier = transfer.state.carrier,
      now - carrier.movedAt >= limit
    else { return false }
    return pools.read(transfer.pool) { $0.load.multiplexing == .never } ?? false
  }

  /// Whether libcurl may send a request once more, on another connection.
  ///
  /// libcurl wants to in four cases: HTTP/2 refused the request unprocessed; a shared connection ended without a byte
  /// of response, so that the server may have got the request before it closed; the server refused the request's
  /// expectation (417), which ``DirectClient`` deals with itself; or HTTP/2 reset it since the server wants HTTP/1.1,
  /// which libcurl goes by even within the response.
  private mutating func mayRetry(_ id: TransferID, _ pool: SlabID<Pool>, attempt number: Int) -> SendVerdict {
    guard let state = transfers[id]?.state, let joins = pools.read(pool, { $0.joins }) else { return .no }
    // libcurl keeps the connection, even if the request is not sent on it.
    noteEstablished(state.attempts[number], pool)
    transfers.change(id) { $0.state.connectedAgain() }
    guard state.isAwaitingResponse, state.mayBeSentAgain(joins: joins) else {
      transfers.change(id) { $0.state.refuseRetry() }
      return .no
    }
    return .again
  }

  /// libcurl sends a request once more; or does not, if its body cannot be sent from the beginning.
  ///
  /// - Returns: whether the connection that it has for that was opened for it.
  @discardableResult
  mutating func retries(_ id: TransferID, attempt number: Int, isRewound: Bool, at now: Int64) -> Bool {
    guard let (pool, address) = transfers.read(id, { ($0.pool, $0.state.attempts[number]?.address) }) else {
      return false
    }
    let joins = pools.read(pool) { $0.joins }
    transfers.change(id) { transfer in
      guard let joins else { return transfer.state.refuseRetry() }
      guard isRewound else { return transfer.state.refuseRewind(joins: joins) }
      transfer.state.noteRetry(joins: joins)
      transfer.state.sent(at: now)
    }
    let isNew = noteJoin(id, pool, attempt: number, address)
    // Its source may have had nothing to send, which no time ran for.
    noteDue(id)
    return isNew
  }

  /// libcurl has a connection to send a request once more, and cannot go back to the beginning of its body.
  ///
  /// That is the body's fault, and not the address's, which has just accepted a connection.
  mutating func cannotRewind(_ id: TransferID, attempt number: Int) {
    guard let transfer = transfers[id], transfer.state.isAwaitingResponse, transfer.state.carrier?.attempt == number,
      let joins = pools.read(transfer.pool, { $0.joins })
    else { return }
    noteEstablished(transfer.state.attempts[number], transfer.pool)
    transfers.change(id) { transfer in
      transfer.state.connectedAgain()
      transfer.state.refuseRewind(joins: joins)
    }
    if transfers.change(id, { $0.state.attempts.takeDialled(by: number) }) != true { noteJoin(transfer.pool) }
  }

  /// An attempt begins once more by a new handle of libcurl's: the connection that it had got is not used.
  mutating func startsOver(_ id: TransferID, attempt number: Int) {
    transfers.change(id) { $0.state.attempts.startsOver(number) }
  }

  /// An attempt that began once more, and whose request may be sent, has a connection for it.
  ///
  /// - Returns: whether that was opened for it.
  mutating func goesOn(_ id: TransferID, attempt number: Int) -> Bool {
    guard let (pool, attempt) = transfers.read(id, { ($0.pool, $0.state.attempts[number]) }) else { return false }
    transfers.change(id) { $0.state.connectedAgain() }
    noteEstablished(attempt, pool)
    let isNew = noteJoin(id, pool, attempt: number, attempt?.address)
    // From now on the time for the response runs again.
    noteDue(id)
    return isNew
  }

  /// Notes whether a request opened its connection or joined one.
  ///
  /// As long as no other request joins the connection that it opened, libcurl retries the request for one reason only,
  /// which is that HTTP/2 refused it; see ``TransferState/wasRefused(joins:)``.
  ///
  /// - Returns: whether it opened its connection.
  @discardableResult
  private mutating func noteJoin(
    _ id: TransferID, _ pool: SlabID<Pool>, attempt number: Int, _ address: IPAddress?
  ) -> Bool {
    let isNew = transfers.change(id) { $0.state.attempts.takeDialled(by: number) } ?? false
    if !isNew { noteJoin(pool) }
    if !isNew, pools.read(pool, { $0.load.multiplexing == .unknown && $0.load.isShared(address) }) == true {
      note(pool) { $0.learned(isMultiplexed: true) }
    }
    let joins = isNew ? pools.read(pool) { $0.joins } : nil
    transfers.change(id) { $0.state.joined(after: joins) }
    return isNew
  }

  private mutating func noteJoin(_ pool: SlabID<Pool>) { pools.change(pool) { $0.joins += 1 } }

  private mutating func noteEstablished(_ attempt: ConnectAttempts.Attempt?, _ pool: SlabID<Pool>) {
    guard let attempt, let socket = attempt.socket, connections.established(socket) else { return }
    pools.change(pool) { $0.outage = nil }
    note(pool) { $0.established(attempt.address) }
  }

  // MARK: Connections

  /// Whether a socket is an established connection that carries one transfer at a time: the server must not send
  /// anything on it unasked.
  func isAlone(_ socket: Int32) -> Bool {
    guard let connection = connections[socket], connection.isEstablished else { return false }
    return pools.read(connection.pool) { $0.load.multiplexing != .always } ?? false
  }

  /// A socket is about to be closed: from then on its number may be another one's.
  mutating func closed(_ socket: Int32) {
    actions.remove { if case .endConnection(socket) = $0 { true } else { false } }
    guard let connection = connections.closed(socket) else { return }
    pools.change(connection.pool) { pool in pool.sockets.removeAll { $0 == socket } }
    // Even if it was never established: the pool may have nothing left, and is dropped then.
    note(connection.pool) { if connection.isEstablished { $0.closed(connection.address) } }
  }

  /// Ends an idle connection of another cache, to make room for a new one.
  ///
  /// Within one cache libcurl does that by itself.
  private mutating func endIdleConnection(besides cache: Int) {
    let idle = connections.established { connection in
      connection.cache != cache && pools.read(connection.pool) { $0.load.running == 0 } == true
    }
    guard let idle = idle.min() else { return }
    // libcurl will close it when it next looks at the connections of that cache.
    closed(idle)
    actions.append(.endConnection(idle))
  }

  /// Ends the idle connections to an address that died, or to all addresses.
  ///
  /// If some HTTP/1.1 connections to the address are in use, the idle ones among them cannot be told apart; then the
  /// address is only tried after all others from now on. If it is about all addresses, new requests get new pools, and
  /// so share no connection that is open now.
  mutating func closeIdle(_ address: IPAddress?) {
    let idle = connections.established { connection in
      (address == nil || connection.address == address)
        && pools.read(connection.pool) { $0.load.isBusy(connection.address) } == false
    }
    // Sorted, so that a simulation can be repeated exactly.
    for socket in idle.sorted() { actions.append(.endConnection(socket)) }
    guard let address else { return retirePools() }
    for pool in connections.pools(connectedTo: address) { pools.change(pool) { $0.load.died(address) } }
  }
}
