/// How a transfer gets its connection, and what becomes of it there.
extension PoolMachine {
  /// Starts the attempts that are due; a transfer without any left has failed.
  mutating func step(_ id: TransferID, at now: Int64) {
    while let step = transfers[id]?.state.step(at: now) {
      switch step {
      case .start(let address, let number):
        let waits = transfers[id]?.state.admission == .sharing
        actions.append(.connect(id, attempt: number, address, waits: waits))
      // What is known of them already takes its turn with the rest: whoever asks steps on.
      case .ask: return actions.append(.askForOthers(id))
      case .lost:
        guard let failure = transfers[id]?.state.loss else { return }
        return finish(id, .failure(failure))
      case .wait, .rest: return
      }
    }
  }

  /// The addresses that a transfer's race asked for, as far as they may be dialled.
  mutating func join(_ id: TransferID, _ addresses: [IPAddress], at now: Int64) {
    transfers[id]?.state.join(addresses)
    step(id, at: now)
    noteDue(id)
  }

  // MARK: What libcurl asks

  /// Whether an attempt may open a connection: where several requests share one, only the one that goes ahead may, and
  /// those who find no room wait for it.
  mutating func mayDial(_ id: TransferID, attempt number: Int) -> Bool {
    guard let transfer = transfers[id], let pool = pools[transfer.pool] else { return false }
    let state = transfer.state
    if state.admission == .opening { return true }
    if let carrier = state.carrier {
      guard carrier.attempt == number else { return true }
      // libcurl sends it once more, on a connection of its own: beyond the cap it waits for its turn like all others.
      let isFull = pool.load.multiplexing == .always && pool.sockets.count >= limits.connectionsPerRoute
      guard isFull, state.mayBeSentAgain(joins: pool.joins) else { return true }
      transfers[id]?.state.turnAwayCarried()
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
      return transfers[id]?.state.turnAway() != true
    }
  }

  /// An address that libcurl was about to dial is forbidden.
  mutating func forbid(_ address: IPAddress, _ id: TransferID) { transfers[id]?.state.forbid(address) }

  /// An attempt opened a socket.
  mutating func dialled(_ socket: Int32, _ id: TransferID, attempt number: Int) {
    guard let transfer = transfers[id], let place = pools[transfer.pool]?.place else { return }
    transfers[id]?.state.dialled(socket, by: number)
    connections[socket] = Connection(pool: transfer.pool, address: transfer.state.attempt(number)?.address)
    pools[transfer.pool]?.sockets.append(socket)
    kept[place] += 1
    if connections.count > limits.connections { endIdleConnection(besides: place) }
  }

  /// Whether a request may be sent on the connection that now stands.
  enum Pass {
    case no
    case first(TransferState.Carrier, isReused: Bool)
    /// libcurl sends it once more, on another connection.
    case again
  }

  /// A connection stands for an attempt.
  mutating func mayPass(_ id: TransferID, attempt number: Int, at now: Int64) -> Pass {
    guard let transfer = transfers[id] else { return .no }
    let pass =
      transfer.state.carrier?.attempt == number
      ? mayRepeat(id, transfer.pool, attempt: number, at: now)
      : mayBegin(id, transfer.pool, attempt: number, at: now)
    // Also one that is not let through: libcurl has noted by now that another one uses the connection, and repeats
    // whatever gets no response on it.
    if case .no = pass, transfers[id]?.state.takeDialled(by: number) != true { pools[transfer.pool]?.joins += 1 }
    return pass
  }

  /// Whether an attempt is the first that stands, and so carries the request.
  private mutating func mayBegin(
    _ id: TransferID, _ pool: SlabID<Pool>, attempt number: Int, at now: Int64
  ) -> Pass {
    guard transfers[id]?.state.connected(number, at: now) == true, let state = transfers[id]?.state,
      let carrier = state.carrier
    else { return .no }
    stands(state.attempt(number), pool)
    noteJoin(id, pool, attempt: number)
    note(pool) {
      $0.connected(carrier.address, insteadOf: state.line, opened: state.admission == .opening)
    }
    transfers[id]?.state.settleOn(carrier.address)
    for other in state.attempts where other.number != number {
      transfers[id]?.state.drop(other.number)
      actions.append(.close(id, attempt: other.number))
    }
    noteDue(id)
    return .first(carrier, isReused: state.attempt(number)?.socket == nil)
  }

  /// Whether libcurl may send a request once more, on another connection.
  ///
  /// It wants to when HTTP/2 refused the request unprocessed, and when a connection that others had used too ended
  /// without a byte of response: then the server may have got the request and closed only then. It also wants to leave
  /// out an expectation that was refused (417), which ``DirectClient`` does by itself.
  private mutating func mayRepeat(
    _ id: TransferID, _ pool: SlabID<Pool>, attempt number: Int, at now: Int64
  ) -> Pass {
    guard let state = transfers[id]?.state, let joins = pools[pool]?.joins else { return .no }
    // libcurl keeps the connection, whatever becomes of the request.
    stands(state.attempt(number), pool)
    guard case .sent = state.phase else { return .no }
    guard state.mayBeSentAgain(joins: joins) else {
      transfers[id]?.state.refuseRepetition()
      return .no
    }
    transfers[id]?.state.noteRepetition(joins: joins)
    transfers[id]?.state.moved(at: now)
    noteJoin(id, pool, attempt: number)
    return .again
  }

  /// Notes whether a request opened its connection: as long as nobody joins it there, libcurl repeats the request for
  /// one reason alone, which is that it was refused.
  private mutating func noteJoin(_ id: TransferID, _ pool: SlabID<Pool>, attempt number: Int) {
    let isNew = transfers[id]?.state.takeDialled(by: number) ?? false
    if !isNew { pools[pool]?.joins += 1 }
    let address = transfers[id]?.state.attempt(number)?.address
    if !isNew, let load = pools[pool]?.load, load.multiplexing == .unknown, load.isShared(address) {
      note(pool) { $0.learned(isMultiplexed: true) }
    }
    transfers[id]?.state.joined(after: isNew ? pools[pool]?.joins : nil)
  }

  private mutating func stands(_ attempt: TransferState.Attempt?, _ pool: SlabID<Pool>) {
    guard let attempt, let socket = attempt.socket, connections[socket]?.stands == false else { return }
    connections[socket]?.stands = true
    note(pool) { $0.stood(attempt.address) }
  }

  // MARK: What libcurl tells

  /// Something of the request went out, or of the response's head came in.
  mutating func moved(_ id: TransferID, at now: Int64) { transfers[id]?.state.moved(at: now) }

  /// A response's head is complete.
  ///
  /// - Parameters:
  ///   - id: the transfer.
  ///   - isMultiplexed: whether the connection carries several requests; nil where the response does not tell.
  mutating func headIsComplete(_ id: TransferID, isMultiplexed: Bool?) {
    guard transfers[id]?.state.headIsComplete() == true, let isMultiplexed, let pool = transfers[id]?.pool,
      let multiplexing = pools[pool]?.load.multiplexing
    else { return }
    if multiplexing == .unknown || (multiplexing == .always) != isMultiplexed {
      note(pool) { $0.learned(isMultiplexed: isMultiplexed) }
    }
  }

  /// How an attempt of libcurl's ended.
  enum Ending: Hashable {
    case complete
    /// One of our decisions ended it.
    case aborted(TransferError)
    case failed(TransferError)
  }

  /// libcurl is done with an attempt.
  mutating func ended(_ id: TransferID, attempt number: Int, _ ending: Ending, at now: Int64) {
    guard let transfer = transfers[id], transfer.state.attempt(number) != nil else { return }
    guard let carrier = transfer.state.carrier else { return failed(id, number, ending, at: now) }
    guard carrier.attempt == number else {
      transfers[id]?.state.drop(number)
      return actions.append(.close(id, attempt: number))
    }
    if transfer.state.isTurnedAway, transfer.state.terms.canStartOver {
      transfers[id]?.state.noteRepetition(joins: pools[transfer.pool]?.joins ?? 0)
      return requeue(id)
    }
    switch ending {
    case .complete: finish(id, .success(()))
    case .aborted where isAnswered(transfer.state): finish(id, .success(()))
    case .aborted(let reason), .failed(let reason):
      guard transfer.state.isStranded else { return finish(id, .failure(transfer.state.breakdown(reason))) }
      guard pools[transfer.pool]?.load.multiplexing != .never else { return asked(id, wasRefused: false) }
      transfers[id]?.state.ask(at: now)
      actions.append(.ask(id, attempt: number))
    }
  }

  /// Whether a response was complete when libcurl was kept from sending the request without its expectation.
  private func isAnswered(_ state: TransferState) -> Bool {
    if case .receiving = state.phase { state.terms.expectsContinue } else { false }
  }

  /// Whether HTTP/2 refused a request unprocessed is known.
  mutating func asked(_ id: TransferID, wasRefused: Bool) {
    guard let failure = transfers[id]?.state.stranding(wasRefused: wasRefused) else { return }
    finish(id, .failure(failure))
  }

  private mutating func failed(_ id: TransferID, _ number: Int, _ ending: Ending, at now: Int64) {
    guard let state = transfers[id]?.state else { return }
    guard !state.isTurnedAway else { return requeue(id) }
    let reason: TransferError =
      switch ending {
      case .complete: .connectionLost("the connection ended before the request went out")
      case .aborted(let reason), .failed(let reason): reason
      }
    if let address = state.attempt(number)?.address { actions.append(.tell(id, failed: address, reason)) }
    transfers[id]?.state.fail(number, reason)
    actions.append(.close(id, attempt: number))
    if case .invalidRequest = reason { return finish(id, .failure(TransferFailure(reason))) }
    // What was judged before and is dialled now is not the same: nothing else is tried.
    guard state.isRacing, state.forbidden == nil else {
      return finish(id, .failure(TransferFailure(reason, forbidden: state.forbidden)))
    }
    step(id, at: now)
    noteDue(id)
  }

  // MARK: Connections

  /// A socket is closed.
  mutating func closed(_ socket: Int32) {
    guard let connection = connections.removeValue(forKey: socket) else { return }
    if let place = pools[connection.pool]?.place { kept[place] -= 1 }
    pools[connection.pool]?.sockets.removeAll { $0 == socket }
    // Also where it never stood: its pool may be left with nothing.
    note(connection.pool) { if connection.stands { $0.closed(connection.address) } }
  }

  /// Ends a connection that nobody uses, to make room for another one.
  ///
  /// libcurl does so among the connections that are kept in one place.
  private mutating func endIdleConnection(besides place: Int) {
    let idle = connections.filter { _, connection in
      guard connection.stands, let pool = pools[connection.pool] else { return false }
      return pool.place != place && pool.load.running == 0
    }.keys.min()
    guard let idle else { return }
    // libcurl closes it when it looks at that place's connections next.
    closed(idle)
    actions.append(.endConnection(idle))
  }

  /// Ends the connections to an address, or to all, that no request uses.
  mutating func closeIdle(_ address: IPAddress?) {
    let idle = connections.filter { _, connection in
      connection.stands && (address == nil || connection.address == address)
        && pools[connection.pool]?.load.isBusy(connection.address) == false
    }
    // In an order, so that the same happens each time.
    for socket in idle.keys.sorted() { actions.append(.endConnection(socket)) }
  }
}
