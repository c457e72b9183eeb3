// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSCurl

/// One of libcurl's easy handles at work: an attempt to connect, and the whole transfer if it is the first that
/// connects.
///
/// Used by the loop's thread only. The handle keeps its options as long as it serves the same pool, since setting them
/// again would cost as much as a request. It is reset for another pool, and after a request with unusual options, so
/// that nothing is left for the next request: after a custom `Host`, for example, libcurl 7.88 would send cookies
/// across hosts.
@safe final class ConnectAttempt {
  /// What an attempt has to know of a pool.
  struct Pool {
    let id: SlabID<CurlTransfers.Machine.Pool>
    /// See ``CurlHandle/setPool(of:usesTLS:scope:_:)``.
    let scope: Int
    /// Whether its connections speak HTTP/2, as far as it is known; a proxy answers CONNECT by HTTP/1 in any case.
    let speaksHTTP2: Bool
  }

  /// What happens to the bytes of the body that libcurl receives.
  enum Receiving {
    case handingOver
    /// libcurl keeps them, since the reader is behind.
    case holdingBack
    /// They are thrown away.
    case ending
  }

  let handle: CurlHandle
  /// Makes the decisions, and outlives every attempt.
  private let events: Unmanaged<CurlTransfers>
  private(set) var transfer: CurlTransfer?
  private(set) var id = CurlTransfers.Machine.TransferID.none
  private(set) var number = 0
  private(set) var address: IPAddress?
  /// The pool that the handle is set up for; nil if the handle is new or was reset.
  private(set) var pool: Pool?
  /// The multi handle that carries its transfer.
  private(set) var multi: CurlMulti?
  /// Whether its handle can serve another request.
  ///
  /// Not after a transfer that failed or was retried: libcurl remembers a refused stream even after `curl_easy_reset`.
  /// Nor if it lacks a part of a list, which would serve the next request that has the same fields.
  var isClean = true
  /// Whether its transfer has to begin once more by a new handle: this one cannot receive over the connection that it has
  /// got (see ``CurlVersion/forgetsFields``), or must not use that connection (``needsNewConnection``).
  var needsNewHandle = false
  /// Whether that connection is a kept one that must not carry the request.
  var needsNewConnection = false
  /// Whether its request, which was sent before, may be sent once more by a new handle, as soon as that has a connection.
  var maySendAgain = false
  /// The error number of the last socket that could not be opened; 0 if it could.
  var socketError: CInt = 0
  /// The socket that it opened last, or that is connected: of a proxy's addresses libcurl dials several.
  private(set) var dialled: curl_socket_t?
  /// Whether anything was sent on that socket.
  var hasBegunSending = false
  var receiving = Receiving.handingOver
  /// The head and the trailers of the response; nil unless this attempt carries the transfer.
  var lines: ResponseLines?
  /// When the last bytes of the response came.
  var movedAt = Int64.min
  /// The options that may differ between the requests of a pool, as they were set last.
  var applied = Applied()
  /// What ``fields`` was made of: the list serves as long as that is the same.
  var fieldLines: [UInt8] = []
  var fields = CurlList([])
  /// What ``connectTo`` was made of.
  var target: (address: IPAddress?, port: UInt16)?
  var connectTo = CurlList([])
  var resolve = CurlList([])
  var bodyOffset = 0
  /// How many bytes of the body have come, before they are decoded, where that is followed.
  var receivedCount: Int64 = 0
  /// Whether libcurl has been told that the request's body has ended.
  var hasReadBody = false
  /// What libcurl's trace has said about its HTTP/2 stream, if that matters.
  var streamTrace = StreamTrace()
  /// Finds out whether its request was refused unprocessed; nil if that is not in question.
  private(set) var refusal: RefusalProbe?

  /// Creates a handle; nil if libcurl has no memory for it.
  init?(events: CurlTransfers) {
    guard let handle = CurlHandle() else { return nil }
    self.handle = handle
    unsafe self.events = Unmanaged.passUnretained(events)
  }

  // What libcurl still traces while its handle is closed would be told to objects that are going away.
  deinit { withExtendedLifetime(refusal) { handle.set(CURLOPT_VERBOSE, 0) } }

  /// Calls ``events`` without a retain and a release each time.
  func withEvents<Result>(_ body: (CurlTransfers) -> Result) -> Result {
    unsafe events._withUnsafeGuaranteedRef { body($0) }
  }

  /// Prepares the handle for an attempt of a transfer.
  ///
  /// - Returns: whether libcurl has memory for it.
  func prepare(
    _ transfer: CurlTransfer, _ id: CurlTransfers.Machine.TransferID, in pool: Pool, number: Int, address: IPAddress?,
    waits: Bool
  ) -> Bool {
    self.transfer = transfer
    self.id = id
    self.number = number
    self.address = address
    // A handle that has sent trailers would write the next chunked body beyond its buffer, even after a reset: it
    // serves only once.
    isClean = transfer.request.message.trailers.isEmpty
    socketError = 0
    (needsNewHandle, maySendAgain) = (false, false)
    dialled = nil
    receiving = .handingOver
    bodyOffset = 0
    receivedCount = 0
    hasReadBody = false
    streamTrace = StreamTrace()
    movedAt = .min
    handle.forgetFailure()
    // One that shares a connection of HTTP/2 keeps its handle; what a new connection will speak is not known.
    if !handle.canBeginHTTP1, !(pool.speaksHTTP2 && waits) {
      guard renew() else { return false }
    } else if self.pool?.id != pool.id, self.pool != nil {
      reset()
    }
    setOptions(transfer.request, pool, waits: waits)
    return !handle.lacksOption
  }

  private func setOptions(_ request: TransferRequest, _ pool: Pool, waits: Bool) {
    if self.pool == nil {
      withEvents { setTransfer(request.route, scope: pool.scope, $0) }
      setCallbacks()
    }
    self.pool = pool
    setConnection(request, waits: waits)
    setCallbacks(of: request)
    setRequest(request)
  }

  /// Begins its transfer.
  ///
  /// - Returns: whether libcurl takes it.
  func start(on multi: CurlMulti) -> Bool {
    self.multi = multi
    return multi.add(handle)
  }

  /// Ends libcurl's transfer, and resets the handle if the request had unusual options.
  ///
  /// - Returns: whether the handle can serve another transfer at once. Otherwise it has to free a piece of the body
  ///   that it held back, by a further transfer that has begun, and whose end libcurl reports.
  func stop() -> Bool {
    guard let multi else { return true }
    let isEmpty = dropHeldBack()
    multi.remove(handle)
    lines = nil
    if isEmpty, let transfer, refusal == nil, isClean, transfer.request.isPlain {
      self.transfer = nil
    } else {
      transfer = nil
      refusal = nil
      reset()
    }
    guard !isEmpty else { return true }
    handle.set(CURLOPT_URL, "file:///dev/null")
    handle.setOwner(self)
    guard multi.add(handle) else {
      // It frees that piece when it is closed.
      isClean = false
      return true
    }
    return false
  }

  /// Notes the socket that it has opened, or which one is connected.
  func note(dialled socket: curl_socket_t) { (dialled, hasBegunSending) = (socket, false) }

  /// Ends the connection that it has opened, if any, because nothing is going to be sent on it.
  func endDialled() { if let dialled { directdns_end(dialled) } }

  /// Begins its transfer once more by a new handle, for the connection that its own must not use.
  ///
  /// A request that was sent before goes over HTTP/1.1 now: that is what libcurl has chosen, since the server wants it, or
  /// has nothing else.
  ///
  /// - Returns: whether libcurl has memory for it.
  func startOver() -> Bool {
    guard let multi, let transfer, let pool else { return false }
    let waits = applied.waits
    (needsNewHandle, dialled) = (false, nil)
    multi.remove(handle)
    handle.forgetFailure()
    guard renew() else { return false }
    setOptions(transfer.request, pool, waits: waits)
    if needsNewConnection {
      handle.set(CURLOPT_FRESH_CONNECT, 1)
      isClean = false
    }
    if maySendAgain { handle.set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1)) }
    guard !handle.lacksOption else {
      isClean = false
      return false
    }
    return multi.add(handle)
  }

  private func renew() -> Bool {
    guard handle.renew() else { return false }
    forgetOptions()
    return true
  }

  private func reset() {
    handle.reset()
    forgetOptions()
  }

  private func forgetOptions() {
    pool = nil
    applied = Applied()
  }

  /// Begins to find out whether HTTP/2 refused the request unprocessed, by one more transfer of the handle; see
  /// ``RefusalProbe``.
  ///
  /// - Returns: whether that transfer has begun.
  func checkRefusal(_ multi: CurlMulti) -> Bool {
    multi.remove(handle)
    guard let asked = RefusalProbe(asking: handle) else { return false }
    refusal = asked
    handle.setOwner(self)
    // Without the socket's name it would go to a server of this machine.
    guard !handle.lacksOption else { return false }
    return multi.add(handle)
  }

  /// Whether its transfer's connection has that local port.
  func uses(port: Int) -> Bool { port > 0 && handle.number(CURLINFO_LOCAL_PORT) == port }

  /// Has libcurl close the connection at the end of the transfer.
  func forbidReuse() {
    handle.set(CURLOPT_FORBID_REUSE, 1)
    isClean = false
  }

  /// Whether it holds back a body on the connection with that local port; 0 stands for any.
  func isHeldBack(at port: Int) -> Bool {
    guard receiving != .handingOver else { return false }
    let own = handle.number(CURLINFO_LOCAL_PORT)
    return own <= 0 || port == 0 || own == port
  }

  /// Continues a transfer that was paused for its reader or for its body.
  ///
  /// - Returns: why it must not go on, unless it is CURLE_OK: what libcurl held back of a body may be lost.
  func resume() -> CURLcode {
    receiving = .handingOver
    return pause(CURLPAUSE_CONT)
  }

  /// Continues to send the body, even if the reader is behind.
  ///
  /// - Returns: the same as ``resume()``.
  func resumeSending() -> CURLcode { pause(receiving == .handingOver ? CURLPAUSE_CONT : CURLPAUSE_RECV) }

  private func pause(_ directions: CInt) -> CURLcode {
    let code = unsafe curl_easy_pause(handle.pointer, directions)
    return switch code {
    // It has no connection, or libcurl has ended it and tells so by itself.
    case CURLE_BAD_FUNCTION_ARGUMENT: CURLE_OK
    // The last step of libcurl 7.88 returns a code of the multi interface as it is, whose lack of memory is this one.
    case CURLE_URL_MALFORMAT: CURLE_OUT_OF_MEMORY
    default: code
    }
  }

  /// Makes libcurl drop the piece of the body that it holds back, before its transfer is removed from the multi handle.
  ///
  /// libcurl 7.88 frees that piece only with the last transfer of a connection (`multi_done`). If others use the
  /// connection, it outlives the transfer and even `curl_easy_reset`, and the handle's next reader would get it.
  ///
  /// - Returns: whether nothing is held back any more; not if libcurl itself has ended the transfer.
  private func dropHeldBack() -> Bool {
    guard case .holdingBack = receiving else { return true }
    receiving = .ending
    // libcurl passes it to the callback, which refuses it.
    return unsafe curl_easy_pause(handle.pointer, CURLPAUSE_CONT) != CURLE_BAD_FUNCTION_ARGUMENT
  }
}
