// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSCurl

/// The owner of one of libcurl's easy handles, of the buffer for its error texts, and of what outlives its options.
///
/// Used by one thread only. Libcurl's handle is closed with this object; it must belong to no multi handle by then.
@safe final class CurlHandle {
  private(set) var pointer: UnsafeMutableRawPointer
  private let errorText: UnsafeMutablePointer<CChar>
  /// How many transfers libcurl's handle has begun.
  private var transferCount = 0
  /// Whether libcurl had no memory for one of its options, or for a part of it, since it was made or reset.
  ///
  /// A transfer would go with the value before it, another request's URL for one, or without any.
  private(set) var lacksOption = false
  /// The sockets that its transfer has opened, none of which is known to be connected; see ``CurlSockets``.
  var opening: [curl_socket_t] = []
  // Libcurl refers to them even after a reset, until its handle is closed.
  private var sockets: CurlSockets?
  private var share: CurlShare?
  private let originURL = CurlURL()
  /// Whether libcurl's handle has it.
  private var hasOrigin = false

  /// Creates a handle; nil if libcurl has no memory for it.
  init?() {
    guard let pointer = unsafe curl_easy_init() else { return nil }
    unsafe self.pointer = pointer
    unsafe errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
    unsafe errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
  }

  deinit {
    withExtendedLifetime((sockets, share, originURL)) { unsafe curl_easy_cleanup(pointer) }
    unsafe errorText.deallocate()
  }

  func countTransfer() { transferCount += 1 }

  /// Whether its next transfer may be one over HTTP/1; see ``CurlVersion/forgetsFields``.
  var canBeginHTTP1: Bool { transferCount == 0 || CurlVersion.forgetsFields }

  /// Whether its transfer, whose connection is established, can receive a response over it; otherwise that takes a new
  /// handle.
  ///
  /// - Parameter isHTTP2: whether the connection speaks HTTP/2 without TLS.
  /// - Returns: whether it can.
  func canReceive(overPlainHTTP2 isHTTP2: Bool) -> Bool {
    transferCount < 2 || CurlVersion.forgetsFields || isHTTP2 || hasAgreedOnHTTP2
  }

  /// Whether its transfer's connection, which is established, speaks HTTP/2 by TLS, as far as that can be told.
  var hasAgreedOnHTTP2: Bool { unsafe directdns_has_agreed_on_http2(pointer) != 0 }

  /// Whether its transfer's connection, which is established, has brought what nobody has read, over HTTP/1.1 by TLS:
  /// it would be taken for the next response (RFC 9112 §6.3).
  ///
  /// libcurl reads a body to its length. What its last TLS record has beyond that stays with OpenSSL, and since 8.15,
  /// where OpenSSL reads ahead, so do further records: no socket tells of them.
  var hasUnread: Bool { unsafe directdns_has_unread(pointer) != 0 && !hasAgreedOnHTTP2 }

  /// Whether its connection speaks HTTP/2, once the response has begun.
  var isHTTP2: Bool { number(CURLINFO_HTTP_VERSION) >= Int(CURL_HTTP_VERSION_2_0) }

  /// Takes a new handle of libcurl's, which has no options, instead of the one there is.
  ///
  /// - Returns: whether libcurl has memory for it; otherwise nothing is changed.
  func renew() -> Bool {
    guard let new = unsafe curl_easy_init() else { return false }
    withExtendedLifetime((sockets, share)) { unsafe curl_easy_cleanup(pointer) }
    unsafe pointer = new
    transferCount = 0
    lacksOption = false
    hasOrigin = false
    sockets = nil
    share = nil
    return true
  }

  /// Resets all options, except what it shares with other handles.
  func reset() {
    unsafe curl_easy_reset(pointer)
    lacksOption = false
    hasOrigin = false
  }

  // MARK: Options

  /// Sets the object that ``owner(of:as:)`` returns, and the buffer for error texts.
  func setOwner(_ owner: AnyObject) {
    unsafe setPointer(CURLOPT_PRIVATE, Unmanaged.passUnretained(owner).toOpaque())
    unsafe setPointer(CURLOPT_ERRORBUFFER, errorText)
  }

  func set(_ option: CURLoption, _ value: Int) { unsafe _ = directdns_setopt_long(pointer, option, value) }

  func set(_ option: CURLoption, _ value: String?) {
    if let value {
      note(unsafe value.withCString { unsafe directdns_setopt_string(pointer, option, $0) })
    } else {
      unsafe directdns_setopt_string(pointer, option, nil)
    }
  }

  /// Sets the URL.
  ///
  /// libcurl gets the origin alone, parsed once, and the rest as what it sends (CURLOPT_REQUEST_TARGET). Of a whole URL it
  /// would write three texts for each transfer, by a printf of its own that takes a sixth of all that is done for a
  /// lookup.
  ///
  /// - Parameters:
  ///   - url: the URL.
  ///   - isSentWhole: whether it is sent to a proxy, with the origin.
  func setURL(_ url: String, isSentWhole: Bool = false) {
    guard !isSentWhole, let length = CurlURL.originLength(of: url) else {
      hasOrigin = false
      set(CURLOPT_REQUEST_TARGET, nil)
      unsafe setPointer(CURLOPT_CURLU, nil)
      return set(CURLOPT_URL, url)
    }
    if !hasOrigin || originURL.text.utf8.count != length || !url.hasPrefix(originURL.text) {
      hasOrigin = true
      let text = String(decoding: url.utf8.prefix(length), as: UTF8.self)
      unsafe setPointer(CURLOPT_CURLU, originURL.parse(text))
      // Last, since 8.12 and later forget it with that: of what cannot be parsed libcurl is to say why.
      set(CURLOPT_URL, text)
    }
    note(
      unsafe url.withCString { text in
        unsafe directdns_setopt_string(pointer, CURLOPT_REQUEST_TARGET, text + length)
      })
  }

  /// Notes what libcurl said of an option of which it makes a copy.
  func note(_ code: CURLcode) { if code == CURLE_OUT_OF_MEMORY { lacksOption = true } }

  /// Sets a list, which must live as long as libcurl uses it.
  func set(_ option: CURLoption, _ list: borrowing CurlList) {
    if !list.isComplete { lacksOption = true }
    unsafe directdns_setopt_list(pointer, option, list.head)
  }

  /// Has its transfers share TLS sessions with others.
  func setShare(_ share: CurlShare) {
    self.share = share
    if let share = unsafe share.handle { unsafe setPointer(CURLOPT_SHARE, share) }
  }

  private func setPointer(_ option: CURLoption, _ value: UnsafeRawPointer?) {
    note(unsafe directdns_setopt_pointer(pointer, option, value))
  }

  /// Sets what the transfers of any pool need.
  ///
  /// - Parameters:
  ///   - owner: see ``setOwner(_:)``.
  ///   - usesTLS: whether they may use https alone; otherwise http alone.
  ///   - scope: they share connections with transfers of the same scope only; see ``CurlRoute/servesOnce``.
  ///   - sockets: is told of the end of the sockets that they open.
  func setPool(of owner: AnyObject, usesTLS: Bool, scope: Int, _ sockets: CurlSockets) {
    setOwner(owner)
    // libcurl compares the address scope among what else has to be the same. The kernel uses it for link-local
    // addresses only, which cannot be reached without a zone anyway; no interface has such a number.
    set(CURLOPT_ADDRESS_SCOPE, 1 << 24 + scope % (1 << 24))
    self.sockets = sockets
    sockets.watch(self)
    set(CURLOPT_NOSIGNAL, 1)
    // It would keep each address that a transfer connects to for a minute, and go through all of them at each end.
    set(CURLOPT_DNS_CACHE_TIMEOUT, 0)
    set(CURLOPT_PROTOCOLS_STR, usesTLS ? "https" : "http")
    set(CURLOPT_MAXLIFETIME_CONN, Int(PoolLimits.lifetime / 1_000))
  }

  /// Has its transfers use no proxy, whatever the environment says, where libcurl would look for `no_proxy` each time.
  func setNoProxy() {
    set(CURLOPT_PROXY, "")
    set(CURLOPT_NOPROXY, "*")
  }

  /// Sets the body of a POST, which libcurl copies: the memory of an array may move.
  func setBody(_ body: [UInt8]) {
    set(CURLOPT_POSTFIELDSIZE, body.count)
    guard !body.isEmpty else { return set(CURLOPT_COPYPOSTFIELDS, "") }
    unsafe body.withUnsafeBytes { unsafe setPointer(CURLOPT_COPYPOSTFIELDS, $0.baseAddress) }
  }

  // MARK: Information

  /// The object that was set for a handle; it must still be alive.
  static func owner<Owner: AnyObject>(of pointer: UnsafeMutableRawPointer, as type: Owner.Type) -> Owner? {
    var owner: UnsafePointer<CChar>?
    unsafe directdns_getinfo_string(pointer, CURLINFO_PRIVATE, &owner)
    return unsafe UnsafeMutableRawPointer(mutating: UnsafeRawPointer(owner)).object()
  }

  func number(_ info: CURLINFO) -> Int {
    var value = 0
    unsafe directdns_getinfo_long(pointer, info, &value)
    return value
  }

  /// How long something has taken: one of libcurl's times, which are in microseconds.
  func time(_ info: CURLINFO) -> Duration { .microseconds(offset(info)) }

  /// A number of 64 bits (`curl_off_t`), such as a length.
  func offset(_ info: CURLINFO) -> Int64 {
    var value: curl_off_t = 0
    unsafe directdns_getinfo_offset(pointer, info, &value)
    return Int64(value)
  }

  func text(_ info: CURLINFO) -> String? {
    var value: UnsafePointer<CChar>?
    unsafe directdns_getinfo_string(pointer, info, &value)
    return unsafe value.map { unsafe String(cString: $0) }
  }

  /// libcurl's words about why the last transfer failed.
  var failureText: String { unsafe String(cString: errorText) }

  func forgetFailure() { unsafe errorText[0] = 0 }
}

extension UnsafeMutableRawPointer? {
  /// The object behind a callback's context; it must be alive as long as the callback is set.
  func object<Object: AnyObject>(_ type: Object.Type = Object.self) -> Object? {
    unsafe map { unsafe Unmanaged<Object>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Calls `body` with that object, without a retain and a release for each line and piece of a response.
  @inline(__always)
  func call<Object: AnyObject, Result>(_ type: Object.Type, _ body: (Object) -> Result) -> Result? {
    guard let context = self else { return nil }
    return unsafe Unmanaged<Object>.fromOpaque(context)._withUnsafeGuaranteedRef { body($0) }
  }
}

/// TLS sessions that the transfers of one thread share.
@safe final class CurlShare {
  let handle: UnsafeMutableRawPointer?

  init() { unsafe handle = directdns_session_share() }

  deinit { if let handle = unsafe handle { unsafe _ = curl_share_cleanup(handle) } }
}

/// The certificate authorities that a transfer trusts.
struct CurlTrust: Hashable, Sendable {
  /// A folder of certificates named by their hashes, of which OpenSSL reads the one that it needs.
  var folder: String?
  /// A file of certificates, which is read as a whole.
  var file: String?
  /// Certificates in PEM form, used instead of `file`.
  var blob: [UInt8]?
  /// What `file` held when it was read, if it is a private authority's: it may have been replaced since, and libcurl
  /// reads it again.
  var content: [UInt8]?

  /// The options of libcurl for them.
  struct Options {
    let folder: CURLoption
    let blob: CURLoption
    let file: CURLoption

    static let origin = Options(folder: CURLOPT_CAPATH, blob: CURLOPT_CAINFO_BLOB, file: CURLOPT_CAINFO)
    static let proxy = Options(
      folder: CURLOPT_PROXY_CAPATH, blob: CURLOPT_PROXY_CAINFO_BLOB, file: CURLOPT_PROXY_CAINFO)
  }

  /// Makes a handle's transfers trust them; libcurl copies the values.
  func set(on handle: CurlHandle, _ options: Options = .origin) {
    handle.set(options.folder, folder)
    guard let blob else { return handle.set(options.file, file) }
    unsafe blob.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return }
      handle.note(unsafe directdns_setopt_blob(handle.pointer, options.blob, base, bytes.count))
    }
  }
}
