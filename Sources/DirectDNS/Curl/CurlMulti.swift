// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSCurl
internal import CDirectDNSOpenSSL

/// One of libcurl's multi handles, which belongs to its loop's thread.
@safe final class CurlMulti {
  private let handle: UnsafeMutableRawPointer
  let poller: Poller
  /// Its index among the handles of the thread.
  let index: UInt8
  /// When libcurl wants to be called although no socket is ready, by ``LoopTime``.
  var due: Int64 { min(timer, retry) }
  private var timer = Int64.max
  /// When all transfers are looked at for what libcurl had no memory for; see ``note(_:)``.
  private var retry = Int64.max
  /// Whether several transfers share a connection; see ``CurlRecheck``.
  var sharesConnections = false
  /// Told when a connection or a transfer ends; it has to outlive the handle, which ends the last connections itself.
  var sockets: CurlSockets?

  /// Creates a handle; nil if libcurl has no memory for it.
  init?(index: UInt8, poller: Poller) {
    guard CurlLibrary.isReady, let handle = unsafe curl_multi_init() else { return nil }
    unsafe self.handle = handle
    self.poller = poller
    self.index = index
    unsafe directdns_multi_setopt_events(
      handle,
      { _, socket, what, context, _ in
        unsafe context.object(CurlMulti.self)?.watch(socket, what)
        return 0
      },
      { _, milliseconds, context in
        unsafe context.object(CurlMulti.self)?.setTimer(milliseconds)
        return 0
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  /// Ends the handle and its connections; it must not be used afterwards.
  ///
  /// Not in `deinit`: libcurl calls this object and ``sockets`` when the connections end.
  func close() { withExtendedLifetime((self, sockets)) { unsafe _ = curl_multi_cleanup(handle) } }

  private func watch(_ socket: curl_socket_t, _ what: CInt) {
    // CURL_POLL_REMOVE has neither of these bits.
    poller.watch(socket, for: Poller.Interest(rawValue: UInt8(what & 3)), owner: index)
  }

  private func setTimer(_ milliseconds: Int) {
    timer =
      switch milliseconds {
      case ..<0: .max
      case 0: .min
      default: LoopTime.now + Int64(milliseconds)
      }
  }

  /// Begins a handle's transfer.
  ///
  /// - Returns: whether libcurl takes it; not for want of memory, for example. Otherwise nobody tells of its end.
  func add(_ easy: CurlHandle) -> Bool {
    guard unsafe curl_multi_add_handle(handle, easy.pointer) == CURLM_OK else { return false }
    easy.countTransfer()
    return true
  }

  func remove(_ easy: CurlHandle) {
    unsafe _ = curl_multi_remove_handle(handle, easy.pointer)
    sockets?.ended(easy)
  }

  func set(_ option: CURLMoption, _ value: Int) { unsafe _ = directdns_multi_setopt_long(handle, option, value) }

  /// Continues the transfers of a socket that is ready.
  func act(on socket: curl_socket_t, _ ready: Poller.Interest) {
    var count: CInt = 0
    note(unsafe curl_multi_socket_action(handle, socket, CInt(ready.rawValue), &count))
  }

  /// Begins the transfers that were added, and continues those whose timers are due.
  func actOnTimers() {
    timer = .max
    var count: CInt = 0
    note(unsafe curl_multi_socket_action(handle, directdns_no_socket, 0, &count))
    guard retry < .max, retry <= LoopTime.now else { return }
    retry = .max
    actOnAll()
  }

  /// Continues all transfers, as if every socket were ready.
  func actOnAll() { note(unsafe directdns_multi_act_on_all(handle)) }

  /// Notes what libcurl said of its work.
  ///
  /// Without memory it has not told which sockets are to be watched, and will not by itself.
  func note(_ code: CURLMcode) {
    guard code == CURLM_OUT_OF_MEMORY || code == CURLM_INTERNAL_ERROR else { return }
    retry = min(retry, LoopTime.now + Self.retryTime)
  }

  /// After how many milliseconds all transfers are looked at once more where libcurl had no memory for one.
  static let retryTime: Int64 = 100

  /// Calls `body` for each transfer that has ended.
  func reap(_ body: (_ easy: UnsafeMutableRawPointer, _ code: CURLcode) -> Void) {
    var left: CInt = 0
    while let message = unsafe curl_multi_info_read(handle, &left) {
      guard unsafe message.pointee.msg == CURLMSG_DONE, let easy = unsafe message.pointee.easy_handle else { continue }
      unsafe body(easy, message.pointee.data.result)
    }
  }
}

/// The initialisation of libcurl, which has to happen once per process and before anything else.
package enum CurlLibrary {
  private static let hasSucceeded = Locked(false)

  /// Whether it has succeeded; it is tried again where it has not, since there may be memory for it by then.
  static var isReady: Bool {
    hasSucceeded.withLock { hasSucceeded in
      if !hasSucceeded { hasSucceeded = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK }
      return hasSucceeded
    }
  }

  /// Does what the first connection would wait for, and any thread may do: a seventh of all that a one-shot lookup executes.
  package static func prepare() {
    // OpenSSL makes its generators of random numbers when it is first asked for some, most of the work.
    if isReady { _ = RAND_status() }
  }
}
