// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSCurl

/// One of libcurl's easy handles, and where libcurl says in words what went wrong.
///
/// Used by one thread alone. Whoever made it closes it, once; what libcurl was told to call must live until then.
@safe struct CurlHandle {
  let pointer: UnsafeMutableRawPointer
  private let errorText: UnsafeMutablePointer<CChar>

  /// - Returns: nil if libcurl has no memory for it.
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

  /// Forgets all that it was told but what it shares with others.
  func reset() { unsafe curl_easy_reset(pointer) }

  // MARK: What it is told

  /// Makes libcurl lead back to an object, and write what goes wrong.
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

  /// The list must live as long as libcurl uses it.
  func set(_ option: CURLoption, _ list: borrowing CurlList) {
    unsafe directdns_setopt_list(pointer, option, list.head)
  }

  func setPointer(_ option: CURLoption, _ value: UnsafeRawPointer?) {
    unsafe _ = directdns_setopt_pointer(pointer, option, value)
  }

  /// Has libcurl send a copy of a body by POST: an array's own bytes may move.
  func setBody(_ body: [UInt8]) {
    set(CURLOPT_POSTFIELDSIZE, body.count)
    guard !body.isEmpty else { return set(CURLOPT_COPYPOSTFIELDS, "") }
    unsafe body.withUnsafeBytes { unsafe setPointer(CURLOPT_COPYPOSTFIELDS, $0.baseAddress) }
  }

  // MARK: What it tells

  /// The object behind a handle that libcurl gave back; whoever runs the transfer keeps it alive.
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

  /// A length, or a time in microseconds.
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

  /// Why the last transfer failed, in libcurl's words.
  var failureText: String { unsafe String(cString: errorText) }

  func forgetFailure() { unsafe errorText[0] = 0 }
}

extension UnsafeMutableRawPointer? {
  /// The object that libcurl was told to call; whoever told it so keeps the object alive for as long.
  func object<Object: AnyObject>(_ type: Object.Type = Object.self) -> Object? {
    unsafe map { unsafe Unmanaged<Object>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Calls on that object, without a retain for each of the many lines and pieces of a response.
  @inline(__always)
  func call<Object: AnyObject, Result>(_ type: Object.Type, _ body: (Object) -> Result) -> Result? {
    guard let context = self else { return nil }
    return unsafe Unmanaged<Object>.fromOpaque(context)._withUnsafeGuaranteedRef { body($0) }
  }
}
