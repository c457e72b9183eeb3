// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSCurl

/// What libcurl asks and tells while it carries an attempt.
extension CurlTransfers {
  func mayDial(_ address: IPAddress, _ attempt: ConnectAttempt) -> Bool {
    guard let request = attempt.transfer?.request, machine.mayDial(attempt.id, attempt: attempt.number) else {
      return false
    }
    // The proxy's own address is the caller's choice.
    guard request.route.proxy == nil else { return true }
    guard request.policy.objection(to: address, host: request.host) == nil else {
      machine.forbid(address, attempt.id)
      return false
    }
    request.observer?(.connecting(address))
    return true
  }

  /// Ends a connection that says something over HTTP/1 when nothing was asked.
  ///
  /// It would be taken for the answer to the next request (RFC 9112 §6.3): a second response, a 408 for the silence, the
  /// body of a response that has none. libcurl finds a connection dead that has ended with nothing left to read.
  func receivedUnasked(on socket: CInt) {
    if machine.isAlone(socket), !isHeldBack(socket) { directdns_end_unread(socket) }
  }

  func dialled(_ socket: curl_socket_t, _ attempt: ConnectAttempt) {
    machine.dialled(socket, attempt.id, attempt: attempt.number)
  }

  /// A connection stands: whether the request may be sent on it.
  func maySend(_ attempt: ConnectAttempt) -> Bool {
    guard let transfer = attempt.transfer else { return false }
    if transfer.carrier === attempt { attempt.isClean = false }
    switch machine.maySend(attempt.id, attempt: attempt.number, at: now) {
    case .no: return false
    case .again: attempt.lines?.startOver()
    case .first(let carrier, let isReused):
      transfer.carrier = attempt
      attempt.lines = ResponseLines()
      if !transfer.request.isSmall { allowSilence(transfer.request.terms.firstByteTimeout, of: attempt) }
      transfer.request.observer?(.connected(carrier.address, isReused: isReused))
    }
    return true
  }

  /// Lets the server read nothing for as long as it may take to answer: to the kernel a full window is silence, too.
  private func allowSilence(_ milliseconds: Int64, of attempt: ConnectAttempt) {
    guard let pool = machine.transfers.read(attempt.id, { $0.pool }) else { return }
    // The kernel takes no more than a signed number of 32 bits, and would keep the limit before.
    let limit = UInt32(max(Int64(Self.silenceLimit), min(milliseconds, Int64(Int32.max) - 1_000) + 1_000))
    for socket in machine.pools.read(pool, { $0.sockets }) ?? [] { directdns_prepare_socket(socket, limit) }
  }

  /// Something of the response came.
  func moved(_ attempt: ConnectAttempt) {
    // Most of it comes at one time.
    guard attempt.movedAt != now else { return }
    attempt.movedAt = now
    machine.moved(attempt.id, at: now)
  }

  /// The head of the response is complete.
  func completedHead(_ attempt: ConnectAttempt) {
    if let transfer = attempt.transfer { completeHead(transfer, attempt) }
  }

  private func completeHead(_ transfer: CurlTransfer, _ attempt: ConnectAttempt) {
    let request = transfer.request
    let usesTLS = request.route.usesTLS
    let tells = request.route.proxy == nil || usesTLS
    let isHTTP2 = attempt.lines?.isHTTP2 ?? false
    machine.headIsComplete(attempt.id, isMultiplexed: tells ? isHTTP2 : nil)
    if machine.transfers.read(attempt.id, { $0.state.isStarved }) == true { noteStarved(attempt) }
    if tells, isHTTP2 { attempt.multi?.sharesConnections = true }
    let (lines, now) = (attempt.lines?.takeHead() ?? HeadLines(), now)
    let head = machine.transfers.read(attempt.id) { transfer -> TransferHead? in
      guard let carrier = transfer.state.carrier else { return nil }
      let isReused = transfer.state.attempts[carrier.attempt]?.socket == nil
      let connect = isReused ? nil : attempt.handle.offset(CURLINFO_CONNECT_TIME_T)
      return TransferHead(
        lines: lines, address: carrier.address, isReused: isReused, connect: connect,
        tls: usesTLS ? connect.map { max(0, attempt.handle.offset(CURLINFO_APPCONNECT_TIME_T) - $0) } : nil,
        wait: now - carrier.since, slower: transfer.state.attempts.slower, attempts: transfer.state.attempts.failed,
        wasRetried: transfer.state.hasRetried)
    }
    guard let head, let head else { return }
    transfer.pending.head = head
    deliveries.add(transfer)
  }

  /// How many bytes were taken; others make libcurl wait or end.
  func received(_ bytes: UnsafeRawBufferPointer, _ attempt: ConnectAttempt) -> Int {
    guard let transfer = attempt.transfer, transfer.carrier === attempt else { return 0 }
    if attempt.lines?.isHeadComplete == false {
      attempt.lines?.completeHead()
      completeHead(transfer, attempt)
    }
    if case .drain(let left) = transfer.sink {
      guard left >= bytes.count else { return 0 }
      transfer.sink = .drain(left: left - bytes.count)
      transfer.progress.received += Int64(bytes.count)
      return bytes.count
    }
    guard !transfer.pauses(adding: bytes.count, limit: settings.bufferSize) else {
      machine.heldBack(attempt.id)
      return Int(CURL_WRITEFUNC_PAUSE)
    }
    if transfer.request.terms.idleTimeout != nil { moved(attempt) }
    transfer.progress.received += Int64(bytes.count)
    if transfer.incoming.isEmpty, bytes.count >= Self.longPiece { makeRoom(transfer, attempt, for: bytes.count) }
    unsafe transfer.incoming.append(contentsOf: bytes)
    deliveries.add(transfer)
    if attempt.multi?.sharesConnections == true, attempt.mayStillSend, attempt.hasWholeBody {
      earlyAnswers.note(attempt.id, sent: transfer.progress.sent, at: now)
    }
    return bytes.count
  }

  /// Room for what is to come in one piece, instead of room that doubles and is copied each time.
  private func makeRoom(_ transfer: CurlTransfer, _ attempt: ConnectAttempt, for count: Int) {
    let expected = Int(clamping: attempt.handle.offset(CURLINFO_CONTENT_LENGTH_DOWNLOAD_T))
    let left = expected < 0 ? settings.bufferSize : expected - Int(transfer.progress.received) + count
    transfer.incoming.reserveCapacity(max(count, min(left, settings.bufferSize, Self.largestRoom)))
  }

  /// What a server says that it will send is no reason to take more memory than this beforehand.
  private static let largestRoom = 4 << 20

  /// A body that comes in pieces of so many bytes is a long one.
  private static let longPiece = 8 * 1024

  /// The request's body has nothing to send for now.
  func starved(_ attempt: ConnectAttempt) {
    machine.starved(attempt.id)
    if attempt.lines?.isHeadComplete == true { noteStarved(attempt) }
  }

  /// libcurl waits for a request's body, also where the response says that nothing more of it is wanted: until 8.7 a
  /// transfer whose reading is paused does not end.
  private func noteStarved(_ attempt: ConnectAttempt) {
    starvedUploads.set(attempt.id, at: now + Self.starvedLook)
  }

  /// Whether an upload may go on behind its answer, and waits for its source, or for the server to take more of it.
  func isWaitingToSend(_ id: Machine.TransferID) -> Bool {
    guard let attempt = running[id.index].transfer?.carrier, attempt.isAccepted else { return false }
    guard let (pool, isStarved) = machine.transfers.read(id, { ($0.pool, $0.state.isStarved) }) else { return false }
    let port = attempt.handle.number(CURLINFO_LOCAL_PORT)
    let sockets = machine.pools.read(pool) { $0.sockets } ?? []
    guard !isStarved, let socket = sockets.first(where: { directdns_local_port($0) == port }) else { return isStarved }
    // While HTTP/2's windows hold it back libcurl does not wait for room in the socket, and where TCP's do there is none.
    return attempt.multi?.poller.isWatched(socket, for: .writing) == false || directdns_has_room(socket) == 0
  }

  /// Milliseconds from one look to the next.
  private static let starvedLook: Int64 = 50

  func sent(_ count: Int, _ attempt: ConnectAttempt) {
    guard let transfer = attempt.transfer else { return }
    machine.sent(attempt.id, at: now)
    transfer.progress.sent += Int64(count)
    if transfer.request.progress != nil { deliveries.add(transfer) }
  }

  /// A server takes up no later stream of the connection that an attempt has read from: those that share it do not hear of
  /// that themselves.
  func connectionEnds(after last: UInt64, _ attempt: ConnectAttempt) {
    guard let place = attempt.connection else { return }
    for other in running.lazy.flatMap(\.attempts)
    where other !== attempt && other.pool == attempt.pool && other.transfer?.request.followsStream == true {
      if other.connection == place { other.streamTrace.end(after: last) }
    }
  }

  func ended(_ handle: UnsafeMutableRawPointer, _ code: CURLcode) {
    guard let attempt = unsafe CurlHandle.owner(of: handle, as: ConnectAttempt.self) else { return }
    guard attempt.transfer != nil else { return idleAttempts.emptied(attempt) }
    let (id, number) = (attempt.id, attempt.number)
    if let refusal = attempt.refusal {
      return act { $0.checked(id, wasRefused: refusal.isRemembered) }
    }
    let ending: Machine.Ending
    switch code {
    case CURLE_OK: ending = .complete
    // The server has said all that it had to say, and then read no more of the request (RFC 9112 §9.5).
    case CURLE_SEND_ERROR where attempt.hasWholeBody: ending = .complete
    case CURLE_ABORTED_BY_CALLBACK: ending = .aborted(attempt.failure(code))
    default: ending = .failed(attempt.failure(code))
    }
    if code != CURLE_OK { attempt.isClean = false }
    if code != CURLE_OK, attempt.streamTrace.isUnprocessed, attempt.lines?.isUsed == false,
      attempt.transfer?.carrier === attempt
    {
      return act { $0.checked(id, wasRefused: true) }
    }
    act { $0.ended(id, attempt: number, ending, at: now) }
  }
}
