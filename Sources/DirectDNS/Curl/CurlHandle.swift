// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSCurl

/// One of libcurl's easy handles, and the buffer for its error texts.
///
/// Used by one thread only. Its creator closes it, once; objects that callbacks refer to must live until then.
@safe struct CurlHandle {
  let pointer: UnsafeMutableRawPointer
  private let errorText: UnsafeMutablePointer<CChar>

  /// Creates a handle; nil if libcurl has no memory for it.
  init?() {
    guard let pointer = unsafe curl_easy_init() else { return nil }
    unsafe self.pointer = pointer
    unsafe errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
    unsafe errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
  }

  func close() {
    unsafe curl_easy_cleanup(pointer)
    unsafe errorText.deallocate()
  }

  /// Whether the connection of its transfer, which is established, may bring it another response, if it has received one
  /// before; see ``CurlVersion/forgetsFields``.
  var canReceiveAnother: Bool { unsafe CurlVersion.forgetsFields || directdns_has_agreed_on_http2(pointer) != 0 }

  /// Resets all options, except what it shares with other handles.
  func reset() { unsafe curl_easy_reset(pointer) }

  // MARK: Options

  /// Sets the object that ``owner(of:as:)`` returns, and the buffer for error texts.
  func setOwner(_ owner: AnyObject) {
    unsafe setPointer(CURLOPT_PRIVATE, Unmanaged.passUnretained(owner).toOpaque())
    unsafe setPointer(CURLOPT_ERRORBUFFER, errorText)
  }

  func set(_ option: CURLoption, _ value: Int) { unsafe _ = directdns_setopt_long(pointer, option, value) }

  func set(_ option: CURLoption, _ value: String?) {
    if let value {
      unsafe value.withCString { unsafe _ = directdns_setopt_string(pointer, option, $0) }
    } else {
      unsafe directdns_setopt_string(pointer, option, nil)
    }
  }

  /// Sets a list, which must live as long as libcurl uses it.
  func set(_ option: CURLoption, _ list: borrowing CurlList) {
    unsafe directdns_setopt_list(pointer, option, list.head)
  }

  func setPointer(_ option: CURLoption, _ value: UnsafeRawPointer?) {
    unsafe _ = directdns_setopt_pointer(pointer, option, value)
  }

  /// Sets which transfers may share connections: only those of the same scope.
  ///
  /// libcurl compares the address scope among what else has to be the same. The kernel uses it for link-local addresses
  /// only, which cannot be reached without a zone anyway; no interface has such a number.
  func setScope(_ scope: Int) { set(CURLOPT_ADDRESS_SCOPE, 1 << 24 + scope % (1 << 24)) }

  /// Has a connection serve no request once it is ten minutes old: one that is always busy would never follow a change
  /// of the server's addresses.
  func limitConnectionLife() { set(CURLOPT_MAXLIFETIME_CONN, 600) }

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

  /// A length.
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
