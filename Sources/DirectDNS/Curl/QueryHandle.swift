// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSCurl
internal import HTTPTypes

/// One of libcurl's easy handles for DNS requests, and the memory that its present transfer uses.
///
/// Used by the loop's thread only. A handle serves one route only, which has one origin and one set of TLS options, and
/// sends neither cookies nor a custom `Host`: nothing can leak from one origin to another.
@safe final class QueryHandle {
  let handle: CurlHandle
  private var fields = CurlList([])
  private var fieldLines: [String] = []
  private var connectTo = CurlList([])
  /// The address that it connects to; nil if that is the URL's host.
  private(set) var address: IPAddress?
  private var sharing = QueryPoolMachine.Sharing.shared
  private let route: QueryRoute
  /// What it sends at present, or has sent last.
  private var message: HTTPMessage?
  private var isPost = false
  /// Whether its transfer has to begin once more by a new handle: this one cannot receive over the connection that it has
  /// got (see ``CurlVersion/forgetsFields``), or nobody may use that connection, which libcurl then ends.
  private(set) var needsNewHandle = false
  /// Whether its transfer has opened a connection.
  private var hasDialled = false

  /// Told of the connections that this handle opens.
  private let sockets: CurlSockets
  private var body: [UInt8] = []
  private var isOverLimit = false
  private var fieldAllowance = CurlFieldAllowance(0)
  private var responseFields = CurlResponseFields()
  /// Whose request it sends, and its number there; nil outside a loop.
  private(set) weak var pool: CurlQueries.Pool?
  let number: Int
  /// What libcurl says about the TLS session after ``followTLS()``: `SSL connection using TLSv1.3 / …`.
  private(set) var sessionLine: String?

  /// Creates a handle with the options that all requests of a route share; nil if libcurl has no memory for it.
  ///
  /// - Parameters:
  ///   - route: where its requests go.
  ///   - sockets: is told of the connections that it opens and ends.
  ///   - owner: is asked and told what its transfers do.
  ///   - number: its number among the handles of the owner.
  init?(_ route: QueryRoute, sockets: CurlSockets, owner: CurlQueries.Pool? = nil, number: Int = 0) {
    guard let handle = CurlHandle() else { return nil }
    self.handle = handle
    self.route = route
    self.sockets = sockets
    self.pool = owner
    self.number = number
    setOptions()
  }

  deinit {
    // A handle outside a loop closes its connections now, and must not trace that: this object is going away.
    handle.set(CURLOPT_VERBOSE, 0)
  }

  /// Sets what all requests of its route have in common.
  private func setOptions() {
    handle.setPool(of: self, usesTLS: route.usesTLS, scope: route.scope, sockets)
    handle.setNoProxy()
    handle.set(CURLOPT_HTTP_VERSION, Int(route.usesTLS ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1))
    // Wait until it is known whether the first connection multiplexes, instead of opening one for each query.
    handle.set(CURLOPT_PIPEWAIT, 1)
    if route.usesTLS {
      route.trust.set(on: handle)
      // Whatever OpenSSL's configuration lets pass (RFC 9325 §3.1.1).
      handle.set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
    }
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    unsafe directdns_setopt_write(handle.pointer, context) { bytes, size, count, context in
      unsafe context.call(QueryHandle.self) {
        unsafe $0.receive(UnsafeRawBufferPointer(start: bytes, count: size * count))
      } ?? 0
    }
    unsafe directdns_setopt_header(handle.pointer, context) { bytes, size, count, context in
      unsafe context.call(QueryHandle.self) {
        unsafe $0.receiveLine(UnsafeRawBufferPointer(start: bytes, count: size * count))
      } ?? 0
    }
    unsafe directdns_setopt_dial(handle.pointer, context) { context, _, address in
      unsafe context.object(QueryHandle.self)?.dial(address) ?? CURL_SOCKET_BAD
    }
    unsafe directdns_setopt_connected(handle.pointer, context) { context, _, _, _, port in
      unsafe context.call(QueryHandle.self) { $0.connected(port) } ?? CURL_PREREQFUNC_ABORT
    }
  }

  /// Makes libcurl report the TLS session; see ``sessionLine``.
  func followTLS() {
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    unsafe directdns_setopt_trace(handle.pointer, context) { _, type, text, size, context in
      if type == CURLINFO_TEXT {
        unsafe context.object(QueryHandle.self)?.receivedTrace(UnsafeRawBufferPointer(start: text, count: size))
      }
      return 0
    }
  }

  private func receivedTrace(_ text: UnsafeRawBufferPointer) {
    if unsafe text.starts(with: Self.sessionMark) { sessionLine = unsafe String(decoding: text, as: UTF8.self) }
  }

  private static let sessionMark = Array("SSL connection using ".utf8)

  /// Connects to that address from the next transfer on, whose connection is checked for the URL's host all the same.
  private func connect(to address: IPAddress?) {
    guard let address, address != self.address else { return }
    self.address = address
    connectTo = CurlList(["::\(address.bracketed):\(route.origin.port)"])
    handle.set(CURLOPT_CONNECT_TO, connectTo)
  }

  /// Makes it use a connection that is there, or open its own, from the next transfer on.
  func share(_ sharing: QueryPoolMachine.Sharing) {
    guard sharing != self.sharing else { return }
    self.sharing = sharing
    handle.set(CURLOPT_FRESH_CONNECT, sharing == .own ? 1 : 0)
  }

  private func dial(_ address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
    hasDialled = true
    pool?.dialled(number)
    let socket = unsafe directdns_socket(address)
    if socket != CURL_SOCKET_BAD { sockets.opened(socket, by: handle) }
    return socket
  }

  private func connected(_ port: CInt) -> CInt {
    sockets.established(port: port, for: handle)
    guard handle.canReceive(overPlainHTTP2: false), hasDialled || !hasUnread(port) else {
      needsNewHandle = true
      return CURL_PREREQFUNC_ABORT
    }
    let maySend = pool?.connected(number, port: port, isHTTP2: handle.hasAgreedOnHTTP2) ?? true
    // libcurl retries a request whose stream was reset with HTTP_1_1_REQUIRED, even within its response.
    if maySend, fieldAllowance.isUsed { beginResponse() }
    return maySend ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
  }

  /// Whether the kept connection that it was given has brought what nobody has read, or has ended.
  private func hasUnread(_ port: CInt) -> Bool { handle.hasUnread || pool?.hasUnread(port) == true }

  /// Sends the request that was prepared, and blocks until the response has come.
  func perform() -> CURLcode {
    handle.countTransfer()
    return withExtendedLifetime(self) { unsafe curl_easy_perform(handle.pointer) }
  }

  /// Why its transfer, which has ended with that code, has no reply; nil if it has one.
  func fault(_ code: CURLcode) -> HTTPTransportError? { code == CURLE_OK ? responseFields.fault : failure(code) }

  private func failure(_ code: CURLcode) -> HTTPTransportError {
    if isOverLimit { return .bodyTooLarge }
    // libcurl limits the size of a line and of all lines, and reports that as a lack of memory.
    let isInLines = code == directdns_too_large || fieldAllowance.isUsed && body.isEmpty
    if fieldAllowance.isExceeded || isInLines && HTTPTransportError.isLackOfRoom(code) { return .fieldsTooLarge }
    return HTTPTransportError(code, detail: handle.failureText)
  }

  /// Forgets what has come of a response: another one begins.
  private func beginResponse() {
    body = []
    responseFields.begin()
    isOverLimit = false
    fieldAllowance = CurlFieldAllowance(HTTPReply.fieldLimit)
  }

  private func receive(_ bytes: UnsafeRawBufferPointer) -> Int {
    guard body.count + bytes.count <= HTTPReply.bodyLimit else {
      isOverLimit = true
      return 0
    }
    unsafe body.append(contentsOf: bytes)
    return bytes.count
  }

  private func receiveLine(_ line: UnsafeRawBufferPointer) -> Int {
    if !fieldAllowance.isUsed { pool?.responded(number) }
    guard fieldAllowance.take(line.count) else { return 0 }
    unsafe responseFields.take(line.bindMemory(to: UInt8.self).span)
    return line.count
  }

  /// Prepares the handle for its next transfer.
  ///
  /// - Parameters:
  ///   - request: the request.
  ///   - address: connects to it from now on; nil for where it connected to before.
  ///   - isHTTP1: whether its connection may speak HTTP/1. One that does would be lost if the handle could not use it.
  /// - Returns: whether libcurl has memory for it.
  func prepare(_ request: QueryRequest, to address: IPAddress? = nil, isHTTP1: Bool = false) -> Bool {
    if handle.lacksOption || (isHTTP1 && !handle.canBeginHTTP1) { guard renew() else { return false } }
    beginResponse()
    sessionLine = nil
    (needsNewHandle, hasDialled) = (false, false)
    handle.forgetFailure()
    message = request.message
    setRequest(request.message)
    connect(to: address)
    return !handle.lacksOption
  }

  private func setRequest(_ message: HTTPMessage) {
    handle.setURL(message.url)
    // It is nearly always the same array, which the comparison notices at once.
    if fieldLines != message.fieldLines {
      fieldLines = message.fieldLines
      fields = CurlList(fieldLines)
      handle.set(CURLOPT_HTTPHEADER, fields)
    }
    if let body = message.body {
      isPost = true
      handle.setBody(body)
    } else if isPost {
      isPost = false
      handle.set(CURLOPT_HTTPGET, 1)
    }
  }

  /// Begins its transfer once more by a new handle, for the connection that its own must not use.
  ///
  /// - Returns: whether libcurl has memory for it.
  func startOver(on multi: CurlMulti) -> Bool {
    (needsNewHandle, hasDialled) = (false, false)
    multi.remove(handle)
    handle.forgetFailure()
    guard let message, renew() else { return false }
    setRequest(message)
    guard !handle.lacksOption else { return false }
    return multi.add(handle)
  }

  private func renew() -> Bool {
    guard handle.renew() else { return false }
    setOptions()
    // By a new list, since the old one may lack the address.
    connect(to: exchange(&address, with: nil))
    isPost = false
    sharing = .shared
    fieldLines = []
    return true
  }

  /// The reply; its body is moved out, so this can be called only once.
  func takeReply() -> HTTPReply {
    HTTPReply(
      status: .init(code: handle.number(CURLINFO_RESPONSE_CODE)), contentType: responseFields.contentType,
      age: responseFields.age, cacheControl: responseFields.cacheControl, retryAfter: responseFields.retryAfter,
      date: responseFields.date, body: exchange(&body, with: []),
      address: handle.text(CURLINFO_PRIMARY_IP).flatMap { IPAddress($0) })
  }
}
