@testable import DirectDNS

/// What libcurl does in a ``PoolWorld``: it finds connections or opens them, sends, repeats what may be repeated, and
/// keeps what stands.
extension PoolWorld {
  struct Attempt {
    let caller: Int
    let address: IPAddress?
    let waits: Bool
    /// Its connection, standing or not.
    var socket: Int32?
    var isSent = false
    var hasHead = false
    /// Whether libcurl remembers that HTTP/2 refused the request: also where it has sent it again since.
    var wasRefused = false
  }

  struct Socket {
    let server: Int
    let address: IPAddress?
    var isEstablished = false
    var isUsed = false
    /// Whether a second one has used it: libcurl then repeats what gets no response on it.
    var isReused = false
    var users: Set<AttemptID> = []
  }

  func streams(_ server: Int) -> Int { servers[server].speaks == .http1 ? 1 : servers[server].streams }

  mutating func connect(_ id: ID, _ number: Int, _ address: IPAddress?, waits: Bool) {
    guard let caller = callerOf[id] else { return fault("an attempt for a transfer that has ended") }
    let attempt = AttemptID(transfer: id, number: number)
    attempts[attempt] = Attempt(caller: caller, address: address, waits: waits)
    plan(.begin(attempt), in: 0...2)
  }

  mutating func carryOutByCurl(_ event: Event) {
    switch event {
    case .begin(let attempt): if attempts[attempt] != nil { find(attempt) }
    case .established(let attempt): established(attempt)
    case .refused(let attempt):
      guard let socket = attempts[attempt]?.socket else { break }
      drop(socket)
      end(attempt, .failed(.connect("refused")))
    case .reply(let attempt, let reply): self.reply(attempt, reply)
    case .finished(let attempt):
      guard attempts[attempt]?.isSent == true else { break }
      leave(attempt)
      end(attempt, .complete)
    case .dies(let socket): die(socket)
    case .arrive, .cancel, .late, .closeIdle, .asked, .timer: break
    }
  }

  // MARK: Connections

  /// Finds a connection for an attempt, or opens one.
  private mutating func find(_ id: AttemptID) {
    guard let attempt = attempts[id] else { return }
    let server = callers[attempt.caller].server
    let known = sockets.filter { $0.value.server == server && $0.value.address == attempt.address }
      .sorted { $0.key < $1.key }
    if let (socket, _) = known.first(where: { $0.value.isEstablished && $0.value.users.count < streams(server) }) {
      return use(socket, id)
    }
    // CURLOPT_PIPEWAIT: another one is opening a connection that could be shared.
    if attempt.waits, known.contains(where: { !$0.value.isEstablished }) { return plan(.begin(id), in: 5...20) }
    guard machine.mayDial(id.transfer, attempt: id.number) else { return end(id, .failed(.connect("not dialled"))) }
    let reach = attempt.address.flatMap { servers[server].addresses[$0] } ?? .fine
    if reach == .forbidden, let address = attempt.address {
      machine.forbid(address, id.transfer)
      return end(id, .failed(.connect("forbidden")))
    }
    let socket = nextSocket
    nextSocket += 1
    sockets[socket] = Socket(server: server, address: attempt.address, users: [id])
    attempts[id]?.socket = socket
    machine.dialled(socket, id.transfer, attempt: id.number)
    switch reach {
    case .fine: plan(.established(id), in: 1...400)
    case .refused: plan(.refused(id), in: 0...50)
    case .silent, .forbidden: break
    }
  }

  private mutating func established(_ id: AttemptID) {
    guard let socket = attempts[id]?.socket, sockets[socket]?.isEstablished == false else { return }
    sockets[socket]?.isEstablished = true
    use(socket, id)
  }

  /// Sends an attempt's request on a connection that stands, if it may be sent.
  private mutating func use(_ socket: Int32, _ id: AttemptID) {
    sockets[socket]?.users.insert(id)
    attempts[id]?.socket = socket
    if sockets[socket]?.isUsed == true { sockets[socket]?.isReused = true }
    sockets[socket]?.isUsed = true
    guard case .no = machine.mayPass(id.transfer, attempt: id.number, at: now) else { return send(id) }
    leave(id)
    end(id, .aborted(.cancelled))
  }

  private mutating func send(_ id: AttemptID) {
    attempts[id]?.isSent = true
    machine.moved(id.transfer, at: now)
    var reply = Reply.whole
    if chance(0.25) { reply = Reply.allCases.randomElement(using: &random) ?? .whole }
    if reply == .refusedStream, let caller = attempts[id]?.caller, servers[callers[caller].server].speaks == .http1 {
      reply = .reset
    }
    if reply != .refusedStream, let caller = attempts[id]?.caller { callers[caller].processed += 1 }
    plan(.reply(id, reply), in: 1...900)
  }

  private mutating func reply(_ id: AttemptID, _ reply: Reply) {
    guard let attempt = attempts[id], attempt.isSent, !attempt.hasHead, let socket = attempt.socket else { return }
    switch reply {
    case .nothing: break
    case .whole, .cutOff:
      attempts[id]?.hasHead = true
      machine.headIsComplete(id.transfer, isMultiplexed: servers[callers[attempt.caller].server].speaks == .http2)
      if reply == .whole { plan(.finished(id), in: 0...600) } else { plan(.dies(socket), in: 0...300) }
    case .refusedStream:
      // Curl_retry_request: what it may repeat anyway leaves the mark alone, and anything else uses it up.
      attempts[id]?.wasRefused = sockets[socket]?.isReused ?? false
      leave(id)
      again(id)
    case .reset: die(socket)
    }
  }

  /// libcurl sends a request once more.
  private mutating func again(_ id: AttemptID) {
    attempts[id]?.isSent = false
    attempts[id]?.socket = nil
    find(id)
  }

  /// A connection ends, with all that is on it.
  private mutating func die(_ socket: Int32) {
    guard let connection = sockets[socket] else { return }
    drop(socket)
    for id in connection.users.sorted(by: { ($0.transfer.index, $0.number) < ($1.transfer.index, $1.number) }) {
      guard let attempt = attempts[id] else { continue }
      if attempt.isSent, !attempt.hasHead, connection.isReused {
        again(id)
      } else {
        end(id, .failed(.connectionLost("the connection died")))
      }
    }
  }

  /// libcurl closes a socket.
  private mutating func drop(_ socket: Int32) {
    sockets[socket] = nil
    machine.closed(socket)
  }

  /// An attempt uses its connection no more.
  private mutating func leave(_ id: AttemptID) {
    guard let socket = attempts[id]?.socket else { return }
    sockets[socket]?.users.remove(id)
    attempts[id]?.isSent = false
    attempts[id]?.socket = nil
  }

  private mutating func end(_ id: AttemptID, _ ending: Machine.Ending) {
    attempts[id]?.isSent = false
    machine.ended(id.transfer, attempt: id.number, ending, at: now)
  }

  /// The machine has an attempt closed: over HTTP/1.1 in mid-request its connection goes too.
  mutating func close(_ id: AttemptID) {
    guard let attempt = attempts.removeValue(forKey: id) else { return fault("\(id) is closed, and did not run") }
    guard let socket = attempt.socket, let connection = sockets[socket] else { return }
    sockets[socket]?.users.remove(id)
    if !connection.isEstablished || (attempt.isSent && servers[connection.server].speaks == .http1) { drop(socket) }
  }
}
