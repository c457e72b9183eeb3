// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSCurl
internal import HTTPTypes

/// One libcurl transfer handle, and what its present transfer lends it.
///
/// Used by the loop's thread alone. A handle is only ever used again within its pool: same origin, same
/// security, no cookies, no `Host` of our own, so nothing can cross from one origin to another.
@safe final class CurlEasy {
  let handle: UnsafeMutableRawPointer
  private var fields = CurlList([])
  private var fieldStrings: [String] = []
  private var addresses = CurlList([])
  private var connectTo = CurlList([])
  private var requestBody: [UInt8] = []
  private var isPost = false

  /// Where libcurl writes what went wrong, in words.
  private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

  /// Told of the end of each connection that this handle opened: those that it made by itself end with it.
  private let sockets: CurlSockets
  private var bodyLimit = 0
  private(set) var body: [UInt8] = []
  private var isOverLimit = false
  private var fieldAllowance = CurlFieldAllowance(0)
  private var responseFields = CurlResponseFields()
  /// The request that it sends, where that is one of a loop's.
  var job: CurlJob?
  /// What libcurl said of the TLS session, where ``followTLS()`` asked for it: `SSL connection using TLSv1.3 / …`.
  private(set) var sessionLine: String?

  /// Creates a handle with all that stays the same within a pool; nil if libcurl has no memory for it.
  init?(_ pool: QueryPool, sockets: CurlSockets) {
    guard let handle = unsafe curl_easy_init() else { return nil }
    unsafe self.handle = handle
    self.sockets = sockets
    addresses = CurlList(pool.addresses.map { [$0] } ?? [])
    connectTo = CurlList(pool.connectTo.map { [$0] } ?? [])

    unsafe errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    unsafe directdns_setopt_pointer(handle, CURLOPT_ERRORBUFFER, errorText)
    unsafe directdns_setopt_long(handle, CURLOPT_NOSIGNAL, 1)
    unsafe directdns_setopt_string(handle, CURLOPT_PROTOCOLS_STR, pool.usesTLS ? "https" : "http")
    unsafe directdns_setopt_long(handle, CURLOPT_FOLLOWLOCATION, 0)
    unsafe directdns_setopt_string(handle, CURLOPT_PROXY, "")
    // Without it libcurl looks into the environment for it, for each transfer.
    unsafe directdns_setopt_string(handle, CURLOPT_NOPROXY, "*")
    unsafe directdns_setopt_long(handle, CURLOPT_NETRC, directdns_netrc_ignored)
    unsafe directdns_setopt_long(
      handle, CURLOPT_HTTP_VERSION, pool.usesTLS ? Int(CURL_HTTP_VERSION_2TLS) : Int(CURL_HTTP_VERSION_1_1))
    // Wait for the first connection to say whether it multiplexes, instead of opening one per query.
    unsafe directdns_setopt_long(handle, CURLOPT_PIPEWAIT, 1)
    unsafe directdns_setopt_long(handle, CURLOPT_MAXLIFETIME_CONN, 600)
    unsafe sockets.watch(handle)
    if pool.addresses != nil { unsafe directdns_setopt_list(handle, CURLOPT_RESOLVE, addresses.head) }
    if pool.connectTo != nil { unsafe directdns_setopt_list(handle, CURLOPT_CONNECT_TO, connectTo.head) }
    if pool.usesTLS { unsafe pool.trust.set(on: handle) }
    unsafe directdns_setopt_write(handle) { bytes, size, count, context in
      unsafe CurlEasy.call(context) {
        unsafe $0.receive(UnsafeRawBufferPointer(start: bytes, count: size * count))
      }
    }
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    unsafe directdns_setopt_pointer(handle, CURLOPT_WRITEDATA, context)
    unsafe directdns_setopt_header(
      handle,
      { bytes, size, count, context in
        unsafe CurlEasy.call(context) {
          unsafe $0.receiveLine(UnsafeRawBufferPointer(start: bytes, count: size * count))
        }
      }, context)
    unsafe directdns_setopt_pointer(handle, CURLOPT_PRIVATE, context)
  }

  deinit {
    // A handle that performed by itself closes its connections now: nobody is there any more for what they say last.
    unsafe directdns_setopt_long(handle, CURLOPT_VERBOSE, 0)
    withExtendedLifetime(sockets) { unsafe curl_easy_cleanup(handle) }
    unsafe errorText.deallocate()
  }

  private static func object(_ context: UnsafeMutableRawPointer?) -> CurlEasy? {
    // The loop's table keeps the object alive for as long as the transfer runs, or ``perform()`` does.
    unsafe context.map { unsafe Unmanaged<CurlEasy>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Calls on the object, without a retain for each of the many lines of a response; 0 without one.
  private static func call(_ context: UnsafeMutableRawPointer?, _ body: (CurlEasy) -> Int) -> Int {
    guard let context = unsafe context else { return 0 }
    return unsafe Unmanaged<CurlEasy>.fromOpaque(context)._withUnsafeGuaranteedRef { body($0) }
  }

  /// Has libcurl tell of the TLS session.
  func followTLS() {
    unsafe directdns_setopt_trace(
      handle,
      { _, type, text, size, context in
        if type == CURLINFO_TEXT {
          unsafe CurlEasy.object(context)?.told(UnsafeRawBufferPointer(start: text, count: size))
        }
        return 0
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  private func told(_ text: UnsafeRawBufferPointer) {
    if unsafe text.starts(with: Self.sessionMark) { sessionLine = unsafe String(decoding: text, as: UTF8.self) }
  }

  private static let sessionMark = Array("SSL connection using ".utf8)

  /// Sends the request that was prepared and waits for the response, without a loop.
  func perform() -> CURLcode { withExtendedLifetime(self) { unsafe curl_easy_perform(handle) } }

  /// Why the last transfer failed.
  func failure(_ code: CURLcode) -> HTTPTransportError {
    if isOverLimit { return .bodyTooLarge }
    // libcurl has room for so much of one line, and for so many of them.
    let isInLines = code == directdns_too_large || fieldAllowance.isUsed && body.isEmpty
    if fieldAllowance.isExceeded || isInLines && HTTPTransportError.isLackOfRoom(code) { return .fieldsTooLarge }
    return HTTPTransportError(code, detail: failureText)
  }

  /// Why the last transfer failed, in libcurl's words.
  private var failureText: String { unsafe String(cString: errorText) }

  /// The object behind a handle that libcurl gave back.
  static func object(of handle: UnsafeMutableRawPointer) -> CurlEasy? {
    var pointer: UnsafePointer<CChar>?
    unsafe directdns_getinfo_string(handle, CURLINFO_PRIVATE, &pointer)
    guard let pointer = unsafe pointer else { return nil }
    return unsafe Unmanaged<CurlEasy>.fromOpaque(UnsafeRawPointer(pointer)).takeUnretainedValue()
  }

  private func receive(_ bytes: UnsafeRawBufferPointer) -> Int {
    guard body.count + bytes.count <= bodyLimit else {
      isOverLimit = true
      return 0
    }
    unsafe body.append(contentsOf: bytes)
    return bytes.count
  }

  private func receiveLine(_ line: UnsafeRawBufferPointer) -> Int {
    guard fieldAllowance.take(line.count) else { return 0 }
    unsafe responseFields.take(line.bindMemory(to: UInt8.self).span)
    return line.count
  }

  /// Prepares the handle for its next transfer.
  func prepare(_ request: CurlRequest) {
    body = []
    responseFields.begin()
    isOverLimit = false
    sessionLine = nil
    unsafe errorText[0] = 0
    bodyLimit = request.bodyLimit
    fieldAllowance = CurlFieldAllowance(request.fieldLimit)
    unsafe request.url.withCString { unsafe _ = directdns_setopt_string(handle, CURLOPT_URL, $0) }
    // Nearly always the same array, which is seen at once.
    if fieldStrings != request.fields {
      fieldStrings = request.fields
      fields = CurlList(request.fields)
      unsafe directdns_setopt_list(handle, CURLOPT_HTTPHEADER, fields.head)
    }
    if let body = request.body {
      requestBody = body
      isPost = true
      unsafe directdns_setopt_long(handle, CURLOPT_POSTFIELDSIZE, body.count)
      _ = unsafe body.withUnsafeBytes { bytes in
        // COPYPOSTFIELDS, since an array's bytes may move. A query is some fifty bytes long.
        unsafe directdns_setopt_pointer(handle, CURLOPT_COPYPOSTFIELDS, bytes.baseAddress)
      }
    } else if isPost {
      isPost = false
      unsafe directdns_setopt_long(handle, CURLOPT_HTTPGET, 1)
    }
  }

  /// What came back; its body is there once.
  func takeReply() -> HTTPReply {
    var status = 0
    unsafe directdns_getinfo_long(handle, CURLINFO_RESPONSE_CODE, &status)
    var address: UnsafePointer<CChar>?
    unsafe directdns_getinfo_string(handle, CURLINFO_PRIMARY_IP, &address)
    var body: [UInt8] = []
    swap(&body, &self.body)
    return HTTPReply(
      status: .init(code: status), contentType: responseFields.contentType, age: responseFields.age,
      cacheControl: responseFields.cacheControl, retryAfter: responseFields.retryAfter, body: body,
      address: unsafe address.flatMap { unsafe IPAddress(String(cString: $0)) })
  }

  /// Whether the response came over HTTP/2, which carries several at a time.
  var isHTTP2: Bool {
    var version = 0
    unsafe directdns_getinfo_long(handle, CURLINFO_HTTP_VERSION, &version)
    return version >= Int(CURL_HTTP_VERSION_2_0)
  }
}
