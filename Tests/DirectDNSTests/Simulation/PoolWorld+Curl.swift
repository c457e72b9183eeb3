// SPDX-License-Identifier: Apache-2.0
@testable import DirectDNS

/// What libcurl does in a ``PoolWorld``: it finds connections or opens them, retries what may be retried, and keeps what
/// is open.
extension PoolWorld {
  struct Attempt {
    let caller: Int
    let address: IPAddress?
    let waits: Bool
    /// Its connection, established or not.
    var socket: Int32?
    var isSent = false
    /// Whether a server may have acted on what was sent last.
    var isProcessed = false
    var hasHead = false
    /// Since when its response is complete, where libcurl does not notice that the server wants no more of the body.
    var stuckSince: Int64?
    /// Whether libcurl remembers that HTTP/2 refused the request: also where it has sent it again since.
    var wasRefused = false
    /// Which time that something was sent is its last: what was planned for another one is nothing to it.
    var sending = 0
  }

  struct Socket {
    let server: Int
    let address: IPAddress?
    /// The pool's address scope: libcurl shares no connection of another one.
    let scope: Int?
    var isEstablished = false
    var isUsed = false
    /// Whether a second one has used it: libcurl then retries what gets no response on it.
    var isReused = false
    /// Whether the server has said that it takes no more.
    var isLeaving = false
    var users: Set<AttemptID> = []
  }

  func streams(_ server: Int) -> Int { servers[server].speaks == .http1 ? 1 : servers[server].streams }

  mutating func connect(_ id: ID, _ number: Int, _ address: IPAddress?, waits: Bool) {
    guard let caller = callerOf[id] else { return fault("an attempt for a transfer that has ended") }
    let attempt = AttemptID(transfer: id, number: number)
    attempts[attempt] = Attempt(caller: caller, address: mixed(address), waits: waits)
    plan(.begin(attempt), in: 0...2)
  }

  private mutating func mixed(_ address: IPAddress?) -> IPAddress? {
    slips(.mixesAddresses, 0.05) ? servers.last?.addresses.keys.min { $0.description < $1.description } : address
  }

  mutating func carryOutByCurl(_ event: Event) {
    switch event {
    case .begin(let attempt): if attempts[attempt] != nil { find(attempt) }
    case .established(let attempt): established(attempt)
    case .refused(let attempt):
      guard let socket = attempts[attempt]?.socket else { break }
      drop(socket)
      end(attempt, .failed(.connect("refused")))
    case .reply(let sending, let reply): if isCurrent(sending) { self.reply(sending.attempt, reply) }
    case .finished(let sending):
      guard isCurrent(sending) else { break }
      leave(sending.attempt)
      end(sending.attempt, .complete)
    case .piece(let sending, let left): if isCurrent(sending) { sendPiece(sending.attempt, left) }
    case .goAway(let socket): goAway(socket)
    case .dies(let socket): die(socket)
    case .arrive, .cancel, .late, .closeIdle, .asked, .timer: break
    }
  }

  // MARK: Connections

  /// Finds a connection for an attempt, or opens one.
  mutating func find(_ id: AttemptID) {
    guard let attempt = attempts[id] else { return }
    let server = callers[attempt.caller].server
    let scope = scope(of: id)
    let known = sockets.filter {
      $0.value.server == server && $0.value.address == attempt.address && $0.value.scope == scope
    }
    .sorted { $0.key < $1.key }
    if let (socket, _) = known.first(where: {
      $0.value.isEstablished && !$0.value.isLeaving && $0.value.users.count < streams(server)
    }) {
      return use(socket, id)
    }
    // CURLOPT_PIPEWAIT: another one is opening a connection that could be shared.
    if attempt.waits, known.contains(where: { !$0.value.isEstablished }) { return plan(.begin(id), in: 5...20) }
    guard machine.mayDial(id.transfer, attempt: id.number, at: now) else {
      return end(id, .failed(.connect("not dialled")))
    }
    dial(id, attempt, server)
  }

  private func scope(of id: AttemptID) -> Int? {
    machine.transfers[id.transfer].flatMap { machine.pools[$0.pool]?.number }
  }

  private mutating func dial(_ id: AttemptID, _ attempt: Attempt, _ server: Int) {
    let reach = attempt.address.map { servers[server].addresses[$0] } ?? servers[server].proxy
    guard let reach else {
      return fault("\(id) dials \(attempt.address?.description ?? "nothing"), which is another's")
    }
    if reach == .forbidden, let address = attempt.address, !slips(.dialsForbidden, 0.5) {
      machine.forbid(address, id.transfer)
      return end(id, .failed(.connect("forbidden")))
    }
    // To a proxy that has several addresses libcurl races by itself.
    if attempt.address == nil, chance(0.2) { plan(.dies(open(server, id, nil, users: [])), in: 0...200) }
    let socket = open(server, id, attempt.address, users: [id])
    attempts[id]?.socket = socket
    if attempt.address == nil, chance(0.2) { plan(.dies(open(server, id, nil, users: [])), in: 0...200) }
    switch reach {
    case .fine: plan(.established(id), in: 1...400)
    case .refused: plan(.refused(id), in: 0...50)
    case .silent, .forbidden: break
    }
  }

  private mutating func open(
    _ server: Int, _ id: AttemptID, _ address: IPAddress?, users: Set<AttemptID>
  ) -> Int32 {
    let socket = nextSocket
    nextSocket += 1
    sockets[socket] = Socket(server: server, address: address, scope: scope(of: id), users: users)
    machine.dialled(socket, id.transfer, attempt: id.number)
    return socket
  }

  private mutating func established(_ id: AttemptID) {
    guard let socket = attempts[id]?.socket, let connection = sockets[socket], !connection.isEstablished else { return }
    sockets[socket]?.isEstablished = true
    if servers[connection.server].speaks == .http2, chance(0.3) { plan(.goAway(socket), in: 5...2_000) }
    use(socket, id)
  }

  /// Sends an attempt's request on an established connection, if it may be sent.
  private mutating func use(_ socket: Int32, _ id: AttemptID) {
    sockets[socket]?.users.insert(id)
    attempts[id]?.socket = socket
    if sockets[socket]?.isUsed == true { sockets[socket]?.isReused = true }
    sockets[socket]?.isUsed = true
    switch machine.maySend(id.transfer, attempt: id.number, at: now) {
    case .no:
      guard slips(.sendsAnyway, 0.5) else { return abort(id) }
    case .again:
      let isRewound = machine.transfers[id.transfer]?.state.terms.canStartOver != false || chance(0.5)
      machine.retries(id.transfer, attempt: id.number, isRewound: isRewound, at: now)
      if !isRewound { return abort(id) }
    case .first: break
    }
    send(id)
  }

  /// A callback tells libcurl not to send an attempt's request.
  private mutating func abort(_ id: AttemptID) {
    leave(id)
    end(id, .failed(.cancelled))
  }

  /// A connection ends, with all that is on it.
  mutating func die(_ socket: Int32) {
    guard let connection = sockets[socket] else { return }
    drop(socket)
    for id in inOrder(connection.users) {
      guard let attempt = attempts[id] else { continue }
      if attempt.isSent, !attempt.hasHead, connection.isReused {
        again(id)
      } else {
        end(id, .failed(.connectionLost("the connection died")))
      }
    }
  }

  private mutating func goAway(_ socket: Int32) {
    guard let connection = sockets[socket] else { return }
    sockets[socket]?.isLeaving = true
    guard !connection.users.isEmpty else { return drop(socket) }
    // Those whose numbers are beyond the last one that it will act on.
    for id in inOrder(connection.users) where attempts[id]?.isSent == true && attempts[id]?.hasHead == false {
      if chance(0.5) { refuse(id) }
    }
  }

  private func inOrder(_ users: Set<AttemptID>) -> [AttemptID] {
    users.sorted { ($0.transfer.index, $0.number) < ($1.transfer.index, $1.number) }
  }

  /// libcurl closes a socket.
  mutating func drop(_ socket: Int32) {
    sockets[socket] = nil
    if !slips(.losesClosing, 0.05) { machine.closed(socket) }
  }

  // MARK: Ends

  /// libcurl sends a request once more.
  mutating func again(_ id: AttemptID) {
    attempts[id]?.isSent = false
    attempts[id]?.socket = nil
    find(id)
  }

  /// An attempt uses its connection no more.
  mutating func leave(_ id: AttemptID) {
    guard let socket = attempts[id]?.socket else { return }
    attempts[id]?.isSent = false
    attempts[id]?.socket = nil
    sockets[socket]?.users.remove(id)
    if sockets[socket]?.isLeaving == true, sockets[socket]?.users.isEmpty == true { drop(socket) }
  }

  mutating func end(_ id: AttemptID, _ ending: AttemptOutcome) {
    attempts[id]?.isSent = false
    machine.ended(id.transfer, attempt: id.number, ending, at: now)
  }

  /// The machine has an attempt closed: over HTTP/1.1 in mid-request its connection goes too.
  mutating func close(_ id: AttemptID) {
    guard let attempt = attempts.removeValue(forKey: id) else { return fault("\(id) is closed, and did not run") }
    guard let socket = attempt.socket, let connection = sockets[socket] else { return }
    sockets[socket]?.users.remove(id)
    let isUnfit = !connection.isEstablished || (attempt.isSent && servers[connection.server].speaks == .http1)
    if isUnfit || connection.isLeaving && connection.users == [id] { drop(socket) }
  }
}
