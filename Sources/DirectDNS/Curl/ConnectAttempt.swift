// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSCurl

/// One of libcurl's easy handles at work: an attempt to connect, and the whole transfer if its connection is the first.
///
/// Used by the loop's thread alone. Its handle keeps what it was told for as long as it serves the pool that it was set
/// up for: to tell it all again would cost as much as the request. It is reset for another pool, and after a request
/// that told it more than every one does, so that nothing of one request is left for the next: libcurl 7.88 would send
/// cookies across hosts after a `Host` of the caller's own.
@safe final class ConnectAttempt {
  let handle: CurlHandle
  /// What judges and counts; it outlives every attempt.
  private let events: Unmanaged<CurlTransfers>
  private(set) var transfer: CurlTransfer?
  private(set) var id = CurlTransfers.Machine.TransferID.none
  private(set) var number = 0
  private(set) var address: IPAddress?
  /// The pool that the handle is set up for; nil for one that is new or was reset.
  private(set) var pool: SlabID<CurlTransfers.Machine.Pool>?
  /// What carries its transfer.
  private(set) var multi: CurlMulti?
  /// Whether its handle can serve another request: one whose transfer failed or was repeated cannot, since libcurl
  /// remembers a refused stream beyond `curl_easy_reset`.
  var isClean = true
  /// Why the last socket could not be had; 0 if it could.
  var socketError: CInt = 0
  /// What libcurl does with the bytes that come.
  enum Receiving {
    case handingOver
    /// It holds back what came while the reader was behind.
    case holdingBack
    /// They are for nobody.
    case ending
  }

  var receiving = Receiving.handingOver
  /// The lines around the response's body; nil unless its connection is the one that carries the transfer.
  var lines: ResponseLines?
  /// When something of the head came last.
  var movedAt = Int64.min
  /// What was set last on its handle of what differs between the requests of a pool.
  var applied = Applied()
  var fields = CurlList([])
  var connectTo = CurlList([])
  var resolve = CurlList([])
  var bodyOffset = 0
  /// What libcurl has said of its stream, where that matters.
  var streamTrace = StreamTrace()
  /// What finds out whether its request was refused unprocessed, while it does.
  private(set) var refusal: RefusalProbe?
  /// The handle keeps it beyond a reset.
  private var share: CurlShare?

  /// Creates a handle; nil if libcurl has no memory for it.
  init?(events: CurlTransfers) {
    guard let handle = CurlHandle() else { return nil }
    self.handle = handle
    unsafe self.events = Unmanaged.passUnretained(events)
  }

  deinit { withExtendedLifetime((share, refusal)) { handle.close() } }

  /// Tells what judges and counts, without a retain for each of the many times.
  func tell<Result>(_ body: (CurlTransfers) -> Result) -> Result { unsafe events._withUnsafeGuaranteedRef { body($0) } }

  /// Prepares the handle for an attempt of a transfer.
  func prepare(
    _ transfer: CurlTransfer, _ id: CurlTransfers.Machine.TransferID, in pool: SlabID<CurlTransfers.Machine.Pool>,
    scope: Int, number: Int, address: IPAddress?, waits: Bool, _ settings: CurlTransferSettings, _ share: CurlShare,
    _ sockets: CurlSockets
  ) {
    self.transfer = transfer
    self.id = id
    self.number = number
    self.address = address
    // What libcurl knows of trailers that it has sent outlives a reset, and the next chunked body would be written beside
    // its buffer: such a handle serves once.
    isClean = transfer.request.trailers.isEmpty
    socketError = 0
    receiving = .handingOver
    bodyOffset = 0
    streamTrace = StreamTrace()
    movedAt = .min
    self.share = share
    handle.forgetFailure()
    let request = transfer.request
    if self.pool != pool {
      if self.pool != nil { reset() }
      setTransfer(request.route, scope: scope, settings, share)
      sockets.watch(handle)
      setCallbacks()
      self.pool = pool
    }
    setConnection(request, waits: waits)
    setCallbacks(of: request)
    setRequest(request)
  }

  func start(on multi: CurlMulti) {
    self.multi = multi
    multi.add(handle)
  }

  /// Ends libcurl's transfer, and forgets the request and all that it told the handle which others do not.
  ///
  /// - Returns: whether the handle can serve another one at once. Otherwise it has to free what it held back, by one
  ///   more transfer, which has its connection to itself and whose end libcurl tells.
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
    multi.add(handle)
    return false
  }

  /// Makes the handle as good as new.
  private func reset() {
    pool = nil
    handle.reset()
    applied = Applied()
    fields = CurlList([])
  }

  /// Begins to find out whether HTTP/2 refused the request unprocessed: by one more transfer of the handle, whose end
  /// tells.
  ///
  /// - Returns: whether there is such a transfer.
  func checkRefusal(_ multi: CurlMulti) -> Bool {
    multi.remove(handle)
    guard let asked = RefusalProbe(asking: handle) else { return false }
    refusal = asked
    handle.setOwner(self)
    multi.add(handle)
    return true
  }

  /// Whether it holds back what comes on the connection that has a port of this machine; 0 stands for any.
  func isHeldBack(at port: Int) -> Bool {
    guard receiving != .handingOver else { return false }
    let own = handle.number(CURLINFO_LOCAL_PORT)
    return own <= 0 || port == 0 || own == port
  }

  /// What tells its connection from others: both addresses and this machine's port; nil before it has one.
  var connection: [String]? {
    guard let remote = handle.text(CURLINFO_PRIMARY_IP), let local = handle.text(CURLINFO_LOCAL_IP), !local.isEmpty
    else {
      return nil
    }
    return [remote, local, "\(handle.number(CURLINFO_LOCAL_PORT))"]
  }

  /// Whether all of the response has come, by its length.
  var hasWholeBody: Bool {
    guard let transfer, lines?.isHeadComplete == true, !transfer.request.decompresses else { return false }
    return transfer.progress.received == handle.offset(CURLINFO_CONTENT_LENGTH_DOWNLOAD_T)
  }

  /// Whether the server has answered with a status behind which more of the request's body is welcome.
  var isAccepted: Bool { (200..<300).contains(handle.number(CURLINFO_RESPONSE_CODE)) }

  /// Whether the request's body may not have gone out whole: libcurl reads 64 KiB ahead of what HTTP/2 lets it send.
  var mayStillSend: Bool {
    switch transfer?.request.body {
    case nil, .none?: false
    case .bytes(let bytes)?: bytes.count >= 65_535
    case .pulled?: true
    }
  }

  /// Lets a transfer that waits for its reader or for its body go on.
  func resume() {
    receiving = .handingOver
    unsafe _ = curl_easy_pause(handle.pointer, CURLPAUSE_CONT)
  }

  /// Lets a transfer that waits for its body go on, be its reader behind.
  func resumeSending() {
    let isHeldBack = if case .handingOver = receiving { false } else { true }
    unsafe _ = curl_easy_pause(handle.pointer, isHeldBack ? CURLPAUSE_RECV : CURLPAUSE_CONT)
  }

  /// Has libcurl give up what it holds back, before its transfer is taken from the multi handle.
  ///
  /// It would outlive the transfer, `curl_easy_reset` and `curl_easy_cleanup` where others use the connection: libcurl
  /// 7.88 frees it with the last transfer of a connection alone (`multi_done`), and the handle's next reader would get
  /// it.
  ///
  /// - Returns: whether nothing is held back now; a transfer that libcurl itself has ended keeps it.
  private func dropHeldBack() -> Bool {
    guard case .holdingBack = receiving else { return true }
    receiving = .ending
    // It goes to the callback, which wants none of it.
    return unsafe curl_easy_pause(handle.pointer, CURLPAUSE_CONT) != CURLE_BAD_FUNCTION_ARGUMENT
  }
}

/// TLS sessions that the transfers of one thread share.
@safe final class CurlShare {
  let handle: UnsafeMutableRawPointer?

  init() { unsafe handle = directdns_session_share() }

  deinit { if let handle = unsafe handle { unsafe _ = curl_share_cleanup(handle) } }
}
