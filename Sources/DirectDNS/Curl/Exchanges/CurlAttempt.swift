internal import CDirectDNSCurl

/// One libcurl transfer: an attempt to connect, and the exchange itself if it stands first.
///
/// Used by the loop's thread alone. Its handle keeps what it was told for as long as it serves the lane that it was set
/// up for: to tell it all again would cost as much as the request. It is reset for another lane, and after a request
/// that told it more than every one does, so that nothing of one request is left for the next: libcurl 7.88 would send
/// cookies across hosts after a `Host` of the caller's own.
@safe final class CurlAttempt {
  let handle: UnsafeMutableRawPointer
  /// What judges and counts; it outlives every attempt.
  unowned let events: any CurlAttemptEvents
  private(set) var exchange: CurlExchange?
  /// The lane that the handle is set up for; nil for one that is new or was reset.
  private(set) var lane: CurlExchanges.Lane?
  private(set) var number = 0
  private(set) var address: IPAddress?
  private(set) var startedAt: Int64 = 0
  /// The socket that it opened; nothing when it took a connection that stood.
  var socket: curl_socket_t?
  /// Whether it has opened a connection since it was let through last.
  var hasDialled = false
  /// Whether its handle can serve another request: one whose transfer failed or was repeated cannot, since libcurl
  /// remembers a refused stream beyond `curl_easy_reset`.
  var isClean = true
  /// Whether libcurl holds back what came while its reader was behind.
  var isHeldBack = false
  /// Whether what still comes is for nobody.
  private(set) var isEnding = false
  /// What its handle was told last of what differs between the requests of a lane.
  var told = Told()
  var fields = CurlList([])
  var connectTo = CurlList([])
  var resolve = CurlList([])
  var bodyOffset = 0
  /// What finds out whether its request was refused unprocessed, while it does.
  private(set) var refusal: CurlRefusal?
  /// The handle keeps it beyond a reset.
  private var share: CurlShare?

  /// Where libcurl writes what went wrong, in words.
  let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

  /// Creates a handle; nothing if libcurl has no memory for it.
  init?(events: any CurlAttemptEvents) {
    guard let handle = unsafe curl_easy_init() else { return nil }
    unsafe self.handle = handle
    self.events = events
    unsafe errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
  }

  deinit {
    withExtendedLifetime((share, refusal)) { unsafe curl_easy_cleanup(handle) }
    unsafe errorText.deallocate()
  }

  /// Why the transfer failed.
  func failure(_ code: CURLcode) -> CurlError {
    if let exchange, exchange.winner === self {
      // libcurl has room for so much of one line, and calls it memory.
      let isLongLine = code == CURLE_OUT_OF_MEMORY && exchange.fieldAllowance.isUsed && !exchange.isHeadComplete
      if exchange.fieldAllowance.isExceeded || isLongLine { return .fieldsTooLarge }
      // It keeps what one piece decodes to while the reader is behind, 64 MB of it (DYN_PAUSE_BUFFER in its dynbuf.h).
      if code == CURLE_OUT_OF_MEMORY, exchange.isHeadComplete, exchange.order.decompresses { return .bodyTooLarge }
    }
    return unsafe CurlError(code, detail: String(cString: errorText))
  }

  /// The object behind a handle that libcurl gave back.
  static func object(of handle: UnsafeMutableRawPointer) -> CurlAttempt? {
    var pointer: UnsafePointer<CChar>?
    unsafe directdns_getinfo_string(handle, CURLINFO_PRIVATE, &pointer)
    return unsafe pointer.map { unsafe Unmanaged<CurlAttempt>.fromOpaque(UnsafeRawPointer($0)).takeUnretainedValue() }
  }

  static func object(_ context: UnsafeMutableRawPointer?) -> CurlAttempt? {
    // The loop's table keeps the object alive for as long as the transfer runs.
    unsafe context.map { unsafe Unmanaged<CurlAttempt>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Prepares the handle for an attempt of an exchange.
  func prepare(
    _ exchange: CurlExchange, in lane: CurlExchanges.Lane, number: Int, address: IPAddress?,
    _ settings: CurlExchangeSettings, share: CurlShare, sockets: CurlSockets, at now: Int64
  ) {
    self.exchange = exchange
    self.number = number
    self.address = address
    startedAt = now
    socket = nil
    hasDialled = false
    isClean = true
    isHeldBack = false
    isEnding = false
    bodyOffset = 0
    self.share = share
    unsafe errorText[0] = 0
    let order = exchange.order
    if self.lane !== lane {
      if self.lane != nil { reset() }
      setTransfer(order.route, settings, share)
      unsafe sockets.watch(handle)
      setCallbacks()
      self.lane = lane
    }
    setConnection(order, sharesConnection: exchange.sharesConnection)
    setCallbacks(of: order)
    setRequest(order)
  }

  /// Forgets the exchange, and all that it told the handle which others do not.
  func release() {
    if let exchange, lane != nil, refusal == nil, isClean, exchange.order.isPlain {
      self.exchange = nil
    } else {
      exchange = nil
      refusal = nil
      reset()
    }
  }

  /// Makes the handle as good as new.
  private func reset() {
    lane = nil
    unsafe curl_easy_reset(handle)
    told = Told()
    fields = CurlList([])
  }

  /// Begins to find out whether HTTP/2 refused the request unprocessed: by one more transfer of the handle, whose end
  /// tells.
  ///
  /// - Returns: whether there is such a transfer.
  func askForRefusal(_ multi: CurlMulti) -> Bool {
    unsafe multi.remove(handle)
    guard let asked = unsafe CurlRefusal(asking: handle) else { return false }
    refusal = asked
    unsafe directdns_setopt_pointer(handle, CURLOPT_PRIVATE, Unmanaged.passUnretained(self).toOpaque())
    unsafe multi.add(handle)
    return true
  }

  /// Microseconds from the start to an event, as libcurl counts them.
  func time(_ info: CURLINFO) -> Int64 {
    var value: curl_off_t = 0
    unsafe directdns_getinfo_offset(handle, info, &value)
    return Int64(value)
  }

  /// Lets a transfer that waits for its reader or for its body go on.
  func resume() {
    isHeldBack = false
    unsafe _ = curl_easy_pause(handle, CURLPAUSE_CONT)
  }

  /// Has libcurl give up what it holds back, before its transfer is taken from the multi handle.
  ///
  /// It would outlive the transfer, `curl_easy_reset` and `curl_easy_cleanup` where others use the connection: libcurl
  /// 7.88 frees it with the last transfer of a connection alone (`multi_done`), and the handle's next reader would get
  /// it.
  ///
  /// - Returns: whether nothing is held back now; a transfer that libcurl itself has ended keeps it.
  func dropHeldBack() -> Bool {
    guard isHeldBack else { return true }
    isHeldBack = false
    isEnding = true
    // It goes to the callback, which wants none of it.
    return unsafe curl_easy_pause(handle, CURLPAUSE_CONT) != CURLE_BAD_FUNCTION_ARGUMENT
  }

  /// Has libcurl free what a transfer that it has ended held back: with another one, which has its connection to itself.
  func freeHeldBack() {
    reset()
    unsafe directdns_setopt_string(handle, CURLOPT_URL, "file:///dev/null")
    unsafe _ = curl_easy_perform(handle)
  }
}

/// TLS sessions that the transfers of one thread share.
@safe final class CurlShare {
  let handle: UnsafeMutableRawPointer?

  init() { unsafe handle = directdns_session_share() }

  deinit { if let handle = unsafe handle { unsafe _ = curl_share_cleanup(handle) } }
}
