internal import CDirectDNSCurl

/// One libcurl transfer: an attempt to connect, and the exchange itself if it stands first.
///
/// Used by the loop's thread alone. Its handle is reset after each use, so that nothing of one request is left for the
/// next: libcurl 7.88 would otherwise send cookies across hosts after a `Host` of the caller's own.
@safe final class CurlAttempt {
  let handle: UnsafeMutableRawPointer
  /// What judges and counts; it outlives every attempt.
  private unowned let events: any CurlAttemptEvents
  private(set) var exchange: CurlExchange?
  private(set) var number = 0
  private(set) var address: IPAddress?
  private(set) var startedAt: Int64 = 0
  /// The socket that it opened; nothing when it took a connection that stood.
  private(set) var socket: curl_socket_t?
  /// Whether it has opened a connection since it was let through last.
  private var hasDialled = false
  /// Whether its handle can serve another request: one whose transfer failed or was repeated cannot, since libcurl
  /// remembers a refused stream beyond `curl_easy_reset`.
  var isClean = true
  private var fields = CurlList([])
  private var connectTo = CurlList([])
  private var resolve = CurlList([])
  private var bodyOffset = 0

  /// Where libcurl writes what went wrong, in words.
  private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

  /// Creates a handle; nothing if libcurl has no memory for it.
  init?(events: any CurlAttemptEvents) {
    guard let handle = unsafe curl_easy_init() else { return nil }
    unsafe self.handle = handle
    self.events = events
    unsafe errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
  }

  deinit {
    unsafe curl_easy_cleanup(handle)
    unsafe errorText.deallocate()
  }

  /// Why the transfer failed, in libcurl's words.
  var failureText: String { unsafe String(cString: errorText) }

  /// The object behind a handle that libcurl gave back.
  static func object(of handle: UnsafeMutableRawPointer) -> CurlAttempt? {
    var pointer: UnsafePointer<CChar>?
    unsafe directdns_getinfo_string(handle, CURLINFO_PRIVATE, &pointer)
    return unsafe pointer.map { unsafe Unmanaged<CurlAttempt>.fromOpaque(UnsafeRawPointer($0)).takeUnretainedValue() }
  }

  fileprivate static func object(_ context: UnsafeMutableRawPointer?) -> CurlAttempt? {
    // The loop's table keeps the object alive for as long as the transfer runs.
    unsafe context.map { unsafe Unmanaged<CurlAttempt>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Prepares the handle, which is new or was released, for an attempt of an exchange.
  func prepare(
    _ exchange: CurlExchange, number: Int, address: IPAddress?, _ settings: CurlExchangeSettings, share: CurlShare,
    sockets: CurlSockets, at now: Int64
  ) {
    self.exchange = exchange
    self.number = number
    self.address = address
    startedAt = now
    socket = nil
    hasDialled = false
    isClean = true
    bodyOffset = 0
    unsafe errorText[0] = 0
    let order = exchange.order
    setTransfer(order, settings, share)
    unsafe sockets.watch(handle)
    setCallbacks(order)
    setRequest(order)
  }

  /// Forgets the exchange and all that it set, so that the handle is as good as new.
  func release() {
    exchange = nil
    unsafe curl_easy_reset(handle)
    fields = CurlList([])
  }

  // MARK: Options

  private func set(_ option: CURLoption, _ value: Int) { unsafe _ = directdns_setopt_long(handle, option, value) }

  private func set(_ option: CURLoption, _ value: String?) {
    if let value {
      unsafe value.withCString { unsafe _ = directdns_setopt_string(handle, option, $0) }
    } else {
      unsafe directdns_setopt_string(handle, option, nil)
    }
  }

  /// How the connection is made and secured.
  private func setTransfer(_ order: CurlOrder, _ settings: CurlExchangeSettings, _ share: CurlShare) {
    unsafe directdns_setopt_pointer(handle, CURLOPT_ERRORBUFFER, errorText)
    unsafe directdns_setopt_pointer(handle, CURLOPT_PRIVATE, Unmanaged.passUnretained(self).toOpaque())
    if let share = unsafe share.handle { unsafe directdns_setopt_pointer(handle, CURLOPT_SHARE, share) }
    set(CURLOPT_NOSIGNAL, 1)
    set(CURLOPT_PROTOCOLS_STR, order.route.usesTLS ? "https" : "http")
    set(CURLOPT_PATH_AS_IS, 1)
    set(CURLOPT_MAXLIFETIME_CONN, 600)
    // One whose connection is being opened by another waits for that, instead of opening one of its own.
    if exchange?.sharesConnection == true { set(CURLOPT_PIPEWAIT, 1) }
    // Ours are the timers; libcurl's would end a transfer without a word about which of them it was.
    set(CURLOPT_CONNECTTIMEOUT_MS, Int(order.connectTimeout) + 60_000)
    switch order.route.version {
    case .http1: set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
    case .automatic:
      set(CURLOPT_HTTP_VERSION, Int(order.route.usesTLS ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1))
    case .http2:
      set(
        CURLOPT_HTTP_VERSION, Int(order.route.usesTLS ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE))
    }
    if let proxy = order.route.proxy {
      set(CURLOPT_PROXY, proxy.url)
      set(CURLOPT_NOPROXY, "")
      set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
      resolve = CurlList(proxy.addresses.map { [$0] } ?? [])
      unsafe directdns_setopt_list(handle, CURLOPT_RESOLVE, resolve.head)
    } else {
      set(CURLOPT_PROXY, "")
      let target = address.map { $0.family == .ipv6 ? "[\($0)]" : $0.description } ?? ""
      connectTo = CurlList(["::\(target):\(order.port)"])
      unsafe directdns_setopt_list(handle, CURLOPT_CONNECT_TO, connectTo.head)
    }
    if order.route.usesTLS || order.route.proxy != nil { setTrust(settings) }
  }

  private func setTrust(_ settings: CurlExchangeSettings) {
    set(CURLOPT_CAPATH, settings.trust.folder)
    if let blob = settings.trust.blob {
      unsafe blob.withUnsafeBytes { bytes in
        guard let base = bytes.baseAddress else { return }
        unsafe directdns_setopt_blob(handle, CURLOPT_CAINFO_BLOB, base, bytes.count)
      }
    } else {
      set(CURLOPT_CAINFO, settings.trust.file)
    }
    set(
      CURLOPT_SSLVERSION,
      Int(settings.requiresTLS13 ? CURL_SSLVERSION_TLSv1_3 : CURL_SSLVERSION_TLSv1_2))
    guard let certificate = settings.certificate else { return }
    set(CURLOPT_SSLCERT, certificate)
    set(CURLOPT_SSLKEY, settings.key ?? certificate)
    if let password = settings.keyPassword { set(CURLOPT_KEYPASSWD, password) }
  }

  /// What is sent.
  private func setRequest(_ order: CurlOrder) {
    set(CURLOPT_URL, order.url)
    fields = CurlList(lines: order.fields)
    unsafe directdns_setopt_list(handle, CURLOPT_HTTPHEADER, fields.head)
    if order.decompresses { set(CURLOPT_ACCEPT_ENCODING, "") }
    switch order.body {
    case .none: if order.method == "HEAD" { set(CURLOPT_NOBODY, 1) }
    case .bytes(let bytes) where bytes.count <= Self.inlineBody && order.trailers.isEmpty:
      // Sent in one piece with the head; libcurl copies the bytes, since an array's may move.
      set(CURLOPT_POSTFIELDSIZE, bytes.count)
      guard !bytes.isEmpty else {
        set(CURLOPT_COPYPOSTFIELDS, "")
        break
      }
      unsafe bytes.withUnsafeBytes { bytes in
        unsafe _ = directdns_setopt_pointer(handle, CURLOPT_COPYPOSTFIELDS, bytes.baseAddress)
      }
    case .bytes(let bytes): setUpload(order, length: Int64(bytes.count))
    case .pulled(let upload): setUpload(order, length: upload.length)
    }
    // What libcurl would call the request by itself is another method, or the same.
    guard order.method != "HEAD" else { return }
    if case .none = order.body, order.method == "GET" { return }
    set(CURLOPT_CUSTOMREQUEST, order.method)
  }

  private func setUpload(_ order: CurlOrder, length: Int64?) {
    set(CURLOPT_UPLOAD, 1)
    let sized = order.trailers.isEmpty ? length : nil
    unsafe directdns_setopt_offset(handle, CURLOPT_INFILESIZE_LARGE, curl_off_t(sized ?? -1))
    set(CURLOPT_UPLOAD_BUFFERSIZE, 128 * 1024)
  }

  /// Up to here a body is copied and sent along with the head.
  private static let inlineBody = 65_536

  // MARK: Callbacks

  private func setCallbacks(_ order: CurlOrder) {
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    unsafe directdns_setopt_write(handle) { bytes, size, count, context in
      unsafe CurlAttempt.object(context)?.received(UnsafeRawBufferPointer(start: bytes, count: size * count)) ?? 0
    }
    unsafe directdns_setopt_pointer(handle, CURLOPT_WRITEDATA, context)
    unsafe directdns_setopt_header(
      handle,
      { bytes, size, count, context in
        unsafe CurlAttempt.object(context)?.receivedLine(UnsafeRawBufferPointer(start: bytes, count: size * count)) ?? 0
      }, context)
    unsafe directdns_setopt_connected(
      handle, { context, _, _, _, _ in unsafe CurlAttempt.object(context)?.stood() ?? CURL_PREREQFUNC_ABORT }, context)
    unsafe directdns_setopt_dial(
      handle, { context, _, address in unsafe CurlAttempt.object(context)?.dial(address) ?? CURL_SOCKET_BAD }, context)
    if case .none = order.body {} else { unsafe setReading(context) }
    if !order.trailers.isEmpty {
      unsafe directdns_setopt_trailers(
        handle,
        { list, context in
          // libcurl frees the list itself.
          let lines = unsafe CurlAttempt.object(context)?.exchange?.order.trailers ?? []
          unsafe list.pointee = CurlList(lines: lines).takeHead()
          return CURL_TRAILERFUNC_OK
        }, context)
    }
    if order.observer != nil {
      unsafe directdns_setopt_trace(
        handle,
        { _, type, text, size, context in
          if type == CURLINFO_TEXT {
            unsafe CurlAttempt.object(context)?.traced(UnsafeRawBufferPointer(start: text, count: size))
          }
          return 0
        }, context)
    }
  }

  private func setReading(_ context: UnsafeMutableRawPointer) {
    unsafe directdns_setopt_read(
      handle,
      { room, size, count, context in
        unsafe CurlAttempt.object(context)?.read(into: UnsafeMutableRawBufferPointer(start: room, count: size * count))
          ?? Int(CURL_READFUNC_ABORT)
      },
      { context, offset, origin in
        guard offset == 0, origin == SEEK_SET, let attempt = unsafe CurlAttempt.object(context) else {
          return CURL_SEEKFUNC_FAIL
        }
        return attempt.rewind() ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL
      }, context)
  }

  private func dial(_ target: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
    let address = unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 16) { room -> IPAddress? in
      guard let base = room.baseAddress else { return nil }
      let count = unsafe Int(directdns_dialled_address(target, base))
      return unsafe IPAddress(bytes: UnsafeBufferPointer(start: base, count: count))
    }
    guard let address, events.mayDial(address, self) else { return CURL_SOCKET_BAD }
    let socket = unsafe directdns_socket(target)
    if socket != CURL_SOCKET_BAD {
      self.socket = socket
      hasDialled = true
      events.dialled(socket, self)
    }
    return socket
  }

  /// Whether the connection that now stands is a new one.
  func takeDialled() -> Bool {
    defer { hasDialled = false }
    return hasDialled
  }

  private func stood() -> CInt {
    events.mayPass(self) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
  }

  private func traced(_ text: UnsafeRawBufferPointer) {
    let line = unsafe String(decoding: text, as: UTF8.self).trimmingLineEnd
    guard CurlTrace.isAboutTLS(line) else { return }
    exchange?.order.observer?(.secured(line))
  }

  private func receivedLine(_ bytes: UnsafeRawBufferPointer) -> Int {
    unsafe events.receivedLine(bytes, self)
    return bytes.count
  }

  private func received(_ bytes: UnsafeRawBufferPointer) -> Int { unsafe events.received(bytes, self) }

  private func read(into room: UnsafeMutableRawBufferPointer) -> Int {
    guard let exchange else { return Int(CURL_READFUNC_ABORT) }
    switch exchange.order.body {
    case .none: return 0
    case .bytes(let bytes):
      let count = min(room.count, bytes.count - bodyOffset)
      unsafe bytes[bodyOffset..<bodyOffset + count].withUnsafeBytes { unsafe room.copyMemory(from: $0) }
      bodyOffset += count
      events.sent(count, self)
      return count
    case .pulled(let upload):
      switch unsafe upload.read(into: room) {
      case .bytes(let count):
        events.sent(count, self)
        return count
      case .starved: return Int(CURL_READFUNC_PAUSE)
      case .ended: return 0
      case .failed: return Int(CURL_READFUNC_ABORT)
      }
    }
  }

  private func rewind() -> Bool {
    guard let exchange else { return false }
    switch exchange.order.body {
    case .none: return true
    case .bytes:
      bodyOffset = 0
      return true
    case .pulled(let upload): return upload.restart()
    }
  }

  // MARK: Results

  /// Microseconds from the start to an event, as libcurl counts them.
  func time(_ info: CURLINFO) -> Int64 {
    var value: curl_off_t = 0
    unsafe directdns_getinfo_offset(handle, info, &value)
    return Int64(value)
  }

  /// Lets a transfer that waits for its reader or for its body go on.
  func resume() { unsafe _ = curl_easy_pause(handle, CURLPAUSE_CONT) }
}

/// What an attempt asks and tells while libcurl has called it.
protocol CurlAttemptEvents: AnyObject {
  func mayDial(_ address: IPAddress, _ attempt: CurlAttempt) -> Bool
  func dialled(_ socket: curl_socket_t, _ attempt: CurlAttempt)
  /// A connection stands: whether the request may be sent on it.
  func mayPass(_ attempt: CurlAttempt) -> Bool
  func receivedLine(_ bytes: UnsafeRawBufferPointer, _ attempt: CurlAttempt)
  /// How many bytes were taken; others make libcurl wait or end.
  func received(_ bytes: UnsafeRawBufferPointer, _ attempt: CurlAttempt) -> Int
  func sent(_ count: Int, _ attempt: CurlAttempt)
}

/// TLS sessions that the transfers of one thread share.
@safe final class CurlShare {
  let handle: UnsafeMutableRawPointer?

  init() { unsafe handle = directdns_session_share() }

  deinit { if let handle = unsafe handle { unsafe _ = curl_share_cleanup(handle) } }
}

/// What of libcurl's talk is worth showing.
enum CurlTrace {
  private static let beginnings = [
    "SSL connection using", "ALPN: server", "Server certificate:", " subject:", " issuer:", " expire date:",
    " subjectAltName:", " SSL certificate verify",
  ]

  static func isAboutTLS(_ line: String) -> Bool { beginnings.contains { line.hasPrefix($0) } }
}

extension String {
  fileprivate var trimmingLineEnd: String {
    var text = self[...]
    while let last = text.unicodeScalars.last, last == "\n" || last == "\r" { text.unicodeScalars.removeLast() }
    return String(text)
  }
}
