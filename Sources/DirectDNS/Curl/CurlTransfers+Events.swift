// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSCurl
internal import CDirectDNSLoop

/// The questions and events of libcurl's callbacks.
extension CurlTransfers {
  /// Whether an attempt may connect to an address, by the pool's decision and by the policy.
  func mayDial(_ address: IPAddress, _ attempt: ConnectAttempt) -> Bool {
    guard let request = attempt.transfer?.request, machine.mayDial(attempt.id, attempt: attempt.number, at: now)
    else {
      return false
    }
    // The proxy's own address is the caller's choice.
    guard request.route.proxy == nil else { return true }
    guard request.objection(to: address) == nil else {
      machine.forbid(address, attempt.id)
      return false
    }
    request.watcher.observer?(.connecting(address))
    return true
  }

  /// Ends an HTTP/1 connection on which the server sends something unasked.
  ///
  /// It would be taken for the response to the next request (RFC 9112 §6.3): a second response, a 408 for being idle,
  /// or a body where there must be none. One that has only ended, which libcurl may not notice, is ended here, too.
  func receivedUnsolicited(on socket: CInt) {
    guard machine.isAlone(socket), !isHeldBack(socket) else { return }
    guard let attempt = carrier(on: socket) else { return directdns_end_unread(socket) }
    // An upload may go on behind its response: libcurl does not watch its socket while the source has nothing to send,
    // and notices nothing before the source goes on.
    guard attempt.lacksResponse, directdns_peek(socket) == 0 else { return attempt.forbidReuse() }
    noteEnd(of: attempt, attempt.lines?.isUsed == true ? CURLE_PARTIAL_FILE : CURLE_GOT_NOTHING)
    // Before the next command, which may begin a transfer: that would get this one's place, and its end.
    perform()
  }

  /// Whether an attempt was given a kept connection, with that local port, that must not carry its request: it has
  /// brought something unasked, has ended (see ``CurlSockets``), or has vanished as far as one can tell.
  func mustNotUse(_ port: CInt, of attempt: ConnectAttempt) -> Bool {
    guard attempt.dialled == nil, let pool = attempt.pool?.id else { return false }
    if attempt.handle.hasUnread { return true }
    // libcurl sends again, on the next one, what was lost with another one. Where that was silent for so long, a NAT
    // has mostly forgotten both, or this machine has another address; and it is sent again only once.
    let limit = Int64(Self.silenceLimit) / 2
    if attempt.transfer?.carrier === attempt, machine.isSilent(attempt.id, for: limit, at: now) { return true }
    return machine.isSerial(pool)
      && sockets.hasUnread(port: port) { machine.leads($0, into: pool, to: attempt.address) }
  }

  func dialled(_ socket: curl_socket_t, _ attempt: ConnectAttempt) {
    // The kernel counts the first packet too: it must not give up before the pool does.
    sockets.silenceLimit = Self.silence(attempt.transfer?.request.terms.connectTimeout ?? 0)
    // Before the machine knows it: its number may have been that of another one.
    sockets.opened(socket, by: attempt.handle)
    machine.dialled(socket, attempt.id, attempt: attempt.number)
  }

  /// A connection is established, with that local port: what was allowed for making it is over.
  func connected(_ attempt: ConnectAttempt, port: CInt) {
    guard let socket = sockets.established(port: port, for: attempt.handle) else { return }
    if sockets.open.count > keptLimit { attempt.forbidReuse() }
    if socket != attempt.dialled {
      attempt.note(dialled: socket)
      machine.connected(socket, attempt.id, attempt: attempt.number)
    }
    guard let terms = attempt.transfer?.request.terms, Self.silence(terms.connectTimeout) > Self.silenceLimit else {
      return
    }
    directdns_prepare_socket(socket, Self.silenceLimit)
  }

  /// How long the kernel waits for an acknowledgement where a time of ours must end first.
  private static func silence(_ milliseconds: Int64) -> UInt32 {
    // The kernel ignores values that do not fit into a signed number of 32 bits.
    UInt32(max(Int64(silenceLimit), min(milliseconds, Int64(Int32.max) - 1_000) + 1_000))
  }

  /// A connection is established: whether the request may be sent on it.
  func maySend(_ attempt: ConnectAttempt) -> Bool {
    guard let transfer = attempt.transfer else { return false }
    if transfer.carrier === attempt { attempt.isClean = false }
    switch machine.maySend(attempt.id, attempt: attempt.number, at: now) {
    case .no:
      // libcurl would keep a connection that several requests can share, and nobody would know of it. Through a proxy
      // nothing races.
      if transfer.carrier !== attempt, transfer.request.route.proxy == nil { attempt.endDialled() }
      return false
    case .again:
      // libcurl rewinds only what it has written: what it has read ahead, while the server's window was closed, is lost.
      let isRewound = attempt.rewind()
      let isNew = machine.retries(attempt.id, attempt: attempt.number, isRewound: isRewound, at: now)
      guard isRewound else { return false }
      attempt.lines?.startOver()
      attempt.streamTrace.startOver()
      // Otherwise it is sent on another one, by the new handle.
      if !attempt.needsNewHandle { tellConnected(attempt, isReused: !isNew) }
    case .first(let isReused):
      transfer.carrier = attempt
      attempt.lines = ResponseLines()
      if !transfer.request.isSmall { allowSilence(transfer.request.terms.firstByteTimeout, of: attempt) }
      tellConnected(attempt, isReused: isReused)
    }
    return true
  }

  /// An attempt whose request may be sent once more has a connection for its new handle.
  func goesOn(_ attempt: ConnectAttempt) {
    tellConnected(attempt, isReused: !machine.goesOn(attempt.id, attempt: attempt.number))
  }

  /// Tells of the connection that a request goes out on.
  private func tellConnected(_ attempt: ConnectAttempt, isReused: Bool) {
    attempt.transfer?.request.watcher.observer?(.connected(attempt.address, isReused: isReused))
    tellProxy(of: attempt)
  }

  /// Gives the server as long to read the request as it has to answer: the kernel would otherwise end a connection
  /// whose window stays full.
  private func allowSilence(_ milliseconds: Int64, of attempt: ConnectAttempt) {
    let limit = Self.silence(milliseconds)
    for socket in machine.sockets(of: attempt.id) {
      directdns_prepare_socket(socket, limit)
      directdns_limit_unsent(socket, Self.unsentLimit)
    }
  }

  /// How many bytes of an upload the kernel takes beyond what it has sent; that suffices for 10 Gbit/s.
  static let unsentLimit: CInt = 128 * 1024

  /// A part of the response has come.
  func moved(_ attempt: ConnectAttempt) {
    // Most parts of a response come in the same millisecond.
    guard attempt.movedAt != now else { return }
    attempt.movedAt = now
    machine.moved(attempt.id, at: now)
  }

  /// The head of the response is complete.
  func completedHead(_ attempt: ConnectAttempt) {
    // Before the body's time counts: it begins now.
    moved(attempt)
    if let transfer = attempt.transfer { deliverHead(of: transfer, attempt) }
  }

  private func deliverHead(of transfer: CurlTransfer, _ attempt: ConnectAttempt) {
    let request = transfer.request
    let usesTLS = request.route.usesTLS
    // Not by a proxy without a tunnel, whose own version it is, nor where each connection serves one request.
    let showsMultiplexing = (request.route.proxy == nil || usesTLS) && !request.route.servesOnce
    let isHTTP2 = attempt.lines?.isHTTP2 ?? false
    if let observer = request.watcher.observer { observer(.wire(.head(bytes: attempt.lines?.headSize ?? 0))) }
    let lines = attempt.lines?.takeHead() ?? HeadLines()
    machine.headIsComplete(
      attempt.id, isMultiplexed: showsMultiplexing ? isHTTP2 : nil, refusesExpectation: lines.status == 417)
    if showsMultiplexing, isHTTP2 { attempt.multi?.sharesConnections = true }
    if !isHTTP2 { endConnection(of: attempt, answeredWith: lines.status) }
    guard let connection = machine.connection(of: attempt.id) else { return }
    let connect = connection.isReused ? nil : attempt.handle.time(CURLINFO_CONNECT_TIME_T)
    let head = TransferHead(
      lines: lines, connection: connection, connect: connect,
      tls: usesTLS ? connect.map { max(.zero, attempt.handle.time(CURLINFO_APPCONNECT_TIME_T) - $0) } : nil,
      wait: .milliseconds(now - connection.since),
      // Over HTTP/2 libcurl does not wait for the permission: that the body is sent says nothing of the server.
      hasSentBody: request.terms.expectsContinue && !isHTTP2 && attempt.hasSentBody)
    transfer.pending.head = head
    deliveries.add(transfer)
    noteEarlyAnswer(attempt)
  }

  /// Ends a connection of HTTP/1.1 with the response to a request whose body libcurl then leaves unsent.
  ///
  /// That happens where the body was to wait for the server's permission: libcurl takes the connection for idle. But the
  /// server may still read the body there, and would take the next request for the rest of it (RFC 9112 §11.2). Behind a
  /// 417, libcurl stops even in the middle of the body.
  private func endConnection(of attempt: ConnectAttempt, answeredWith status: Int?) {
    guard attempt.transfer?.request.terms.expectsContinue == true, attempt.hasBody else { return }
    if status == 417 || !attempt.hasBegunBody { attempt.forbidReuse() }
  }

  /// Notes a response over HTTP/2 that is complete although its request may not be.
  private func noteEarlyAnswer(_ attempt: ConnectAttempt) {
    if attempt.hasBody, attempt.handle.isHTTP2, attempt.hasWholeBody { machine.answered(attempt.id, at: now) }
  }

  /// A part of an encoded body has come.
  func receivedEncoded(_ attempt: ConnectAttempt) {
    moved(attempt)
    noteEarlyAnswer(attempt)
  }

  /// Takes a piece of the body.
  ///
  /// - Returns: the number of its bytes; CURL_WRITEFUNC_PAUSE to pause; any other number ends the transfer.
  func received(_ bytes: UnsafeRawBufferPointer, _ attempt: ConnectAttempt) -> Int {
    guard let transfer = attempt.transfer, transfer.carrier === attempt else { return 0 }
    if attempt.lines?.isHeadComplete == false {
      attempt.lines?.completeHead()
      deliverHead(of: transfer, attempt)
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
    noteEarlyAnswer(attempt)
    return bytes.count
  }

  /// Reserves memory for what is to come, so that the array does not grow step by step.
  private func makeRoom(_ transfer: CurlTransfer, _ attempt: ConnectAttempt, for count: Int) {
    let expected = Int(clamping: attempt.handle.offset(CURLINFO_CONTENT_LENGTH_DOWNLOAD_T))
    let left = expected < 0 ? settings.bufferSize : expected - Int(transfer.progress.received) + count
    transfer.incoming.reserveCapacity(max(count, min(left, settings.bufferSize, Self.largestRoom)))
  }

  /// The most memory that is reserved in advance, whatever length a server announces.
  private static let largestRoom = 4 << 20

  /// A body is taken for a long one if its first piece has so many bytes.
  private static let longPiece = 8 * 1024

  /// What there is to know of an upload that goes on behind its response.
  func uploadFacts(of id: Machine.TransferID) -> UploadFacts {
    guard let attempt = running[id.index].transfer?.carrier else { return UploadFacts() }
    let port = attempt.handle.number(CURLINFO_LOCAL_PORT)
    let socket = machine.sockets(of: id).first { directdns_local_port($0) == port }
    return UploadFacts(
      isHeldBack: attempt.receiving == .holdingBack, isAccepted: attempt.isAccepted, hasSentBody: attempt.hasSentBody,
      // Either HTTP/2's flow control holds it back, and libcurl does not wait for the socket to be writable, or TCP's
      // does, and the socket has no room.
      isBlocked: socket.map {
        attempt.multi?.poller.isWatched($0, for: .writing) == false || directdns_has_room($0) == 0
      } ?? false)
  }

  func sent(_ count: Int, _ attempt: ConnectAttempt) {
    guard let transfer = attempt.transfer else { return }
    machine.sent(attempt.id, at: now)
    transfer.progress.sent += Int64(count)
    if transfer.request.watcher.progress != nil { deliveries.add(transfer) }
  }

  /// The server processes no later stream of an attempt's connection (GOAWAY): tells the attempts that share it, since
  /// libcurl does not.
  func connectionEnds(after last: UInt64, _ attempt: ConnectAttempt) {
    guard let place = attempt.connection else { return }
    for other in running.lazy.flatMap(\.attempts)
    where other !== attempt && other.pool?.id == attempt.pool?.id && other.transfer?.request.followsStream == true {
      if other.connection == place { other.streamTrace.end(after: last) }
    }
  }

  func ended(_ handle: UnsafeMutableRawPointer, _ code: CURLcode) {
    guard let attempt = unsafe CurlHandle.owner(of: handle, as: ConnectAttempt.self) else { return }
    guard attempt.transfer != nil else { return idleAttempts.emptied(attempt) }
    let (id, number) = (attempt.id, attempt.number)
    if let refusal = attempt.refusal {
      machine.checked(id, wasRefused: refusal.isRemembered)
    } else if attempt.needsNewHandle, attempt.maySendAgain || attempt.transfer?.carrier !== attempt {
      machine.startsOver(id, attempt: number)
      if attempt.startOver() { return }
      machine.ended(id, attempt: number, .failed(.noMemory), at: now)
    } else {
      noteEnd(of: attempt, code)
    }
    perform()
  }

  /// Ends a transfer that libcurl could not continue: what it has lost would be missing in the body.
  ///
  /// - Parameters:
  ///   - attempt: the attempt that carries it.
  ///   - code: what ``ConnectAttempt/resume()`` returned.
  func endIfFailed(_ attempt: ConnectAttempt, _ code: CURLcode) {
    if code != CURLE_OK { noteEnd(of: attempt, code) }
  }

  /// Tells the machine of the end of an attempt's transfer; the caller carries out the actions that follow.
  private func noteEnd(of attempt: ConnectAttempt, _ code: CURLcode) {
    let outcome = AttemptOutcome(
      AttemptEnd(code, detail: attempt.handle.failureText), isHeadCut: attempt.lines?.isHeadComplete == false,
      isUnprocessed: attempt.isUnprocessed, hasWholeBody: attempt.hasWholeBody, isAccepted: attempt.isAccepted,
      hasSentBody: attempt.hasSentBody || attempt.hasEndedStream, failure: attempt.failure(code))
    if code != CURLE_OK { attempt.isClean = false }
    machine.ended(attempt.id, attempt: attempt.number, outcome, at: now)
  }
}
