// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSCurl

/// A multi handle, which belongs to its loop's thread.
@safe final class CurlMulti {
  private let handle: UnsafeMutableRawPointer
  let poller: Poller
  /// Its place among the thread's handles.
  let index: UInt8
  /// When libcurl wants to be called though no socket is ready, by ``LoopTime``.
  private(set) var due = Int64.max
  /// Whether several transfers share a connection; see ``CurlRecheck``.
  var sharesConnections = false
  /// Told of the end of each connection, the last of which come with that of the handle: it must live as long.
  var sockets: CurlSockets?

  /// - Returns: nil if libcurl has no memory for it.
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

  /// Ends its connections and the handle; nothing is asked of it afterwards.
  ///
  /// Not left to `deinit`: a connection outlives the transfer that opened it, and libcurl tells both this object and
  /// ``sockets`` of its end.
  func close() { withExtendedLifetime((self, sockets)) { unsafe _ = curl_multi_cleanup(handle) } }

  private func watch(_ socket: curl_socket_t, _ what: CInt) {
    // CURL_POLL_REMOVE is another bit.
    poller.watch(socket, for: Poller.Interest(rawValue: UInt8(what & 3)), owner: index)
  }

  private func setTimer(_ milliseconds: Int) {
    due = milliseconds < 0 ? .max : milliseconds == 0 ? .min : LoopTime.now + Int64(milliseconds)
  }

  func add(_ easy: CurlHandle) { unsafe _ = curl_multi_add_handle(handle, easy.pointer) }

  func remove(_ easy: CurlHandle) { unsafe _ = curl_multi_remove_handle(handle, easy.pointer) }

  func set(_ option: CURLMoption, _ value: Int) { unsafe _ = directdns_multi_setopt_long(handle, option, value) }

  /// Goes on with the transfers of a socket.
  func act(on socket: curl_socket_t, _ ready: Poller.Interest) {
    var count: CInt = 0
    unsafe _ = curl_multi_socket_action(handle, socket, CInt(ready.rawValue), &count)
  }

  /// Begins the transfers that were added, and goes on with those whose time has come.
  func actOnTimers() {
    due = .max
    var count: CInt = 0
    unsafe _ = curl_multi_socket_action(handle, directdns_no_socket, 0, &count)
  }

  /// Looks at every transfer, as if each of its sockets were ready.
  func actOnAll() { unsafe directdns_multi_act_on_all(handle) }

  /// Hands out the transfers that have ended.
  func reap(_ body: (_ easy: UnsafeMutableRawPointer, _ code: CURLcode) -> Void) {
    var left: CInt = 0
    while let message = unsafe curl_multi_info_read(handle, &left) {
      guard unsafe message.pointee.msg == CURLMSG_DONE, let easy = unsafe message.pointee.easy_handle else { continue }
      unsafe body(easy, message.pointee.data.result)
    }
  }
}

/// libcurl's own initialisation: once per process, before anything else of it.
enum CurlLibrary {
  static let isReady: Bool = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK
}
