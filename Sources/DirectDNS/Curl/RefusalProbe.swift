// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSCurl

/// Finds out whether HTTP/2 refused a request unprocessed (RFC 9113 §8.7): libcurl knows it, but has no way to ask.
///
/// On a shared connection libcurl wants to retry a refused request just as one whose connection died. Only a flag in
/// the handle (`refused_stream`) tells them apart. It outlives the transfer, and shows in one place: when the handle's
/// next transfer gets no response, libcurl's trace says why it is retried. So the handle makes a transfer to a socket
/// of this process that never answers. That runs on the loop like any other transfer, and blocks nobody. On systems
/// other than Linux nothing is found out.
@safe final class RefusalProbe {
  private let listener: curl_socket_t
  private var accepted = CURL_SOCKET_BAD
  /// Whether the handle remembers a refusal; known when its next transfer has ended.
  private(set) var isRemembered = false

  /// The size of `sun_path` (unix(7)).
  private static let nameSize = 108

  /// Prepares a handle for that transfer; it must belong to no multi handle, and has to be reset before any other use.
  ///
  /// The handle refers to this object until it is reset. Nil if there is no such socket.
  init?(asking handle: CurlHandle) {
    var name = [CChar](repeating: 0, count: Self.nameSize)
    listener = unsafe directdns_listen_within(&name)
    guard listener != CURL_SOCKET_BAD else { return nil }
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    handle.reset()
    handle.set(CURLOPT_URL, "http://127.0.0.1/")
    handle.set(CURLOPT_PROXY, "")
    handle.note(unsafe directdns_setopt_string(handle.pointer, CURLOPT_ABSTRACT_UNIX_SOCKET, name))
    handle.set(CURLOPT_NOSIGNAL, 1)
    handle.set(CURLOPT_TIMEOUT_MS, 1_000)
    unsafe directdns_setopt_connected(handle.pointer, context) { context, _, _, _, _ in
      unsafe context.object(RefusalProbe.self)?.accept() ?? CURL_PREREQFUNC_ABORT
    }
    unsafe directdns_setopt_trace(handle.pointer, context) { _, type, text, size, context in
      if type == CURLINFO_TEXT {
        unsafe context.object(RefusalProbe.self)?.receivedTrace(UnsafeRawBufferPointer(start: text, count: size))
      }
      return 0
    }
  }

  deinit {
    guard listener != CURL_SOCKET_BAD else { return }
    if accepted != CURL_SOCKET_BAD { _ = directdns_close(accepted) }
    _ = directdns_close(listener)
  }

  /// Lets the request through, and not its retry.
  private func accept() -> CInt {
    guard accepted == CURL_SOCKET_BAD else { return CURL_PREREQFUNC_ABORT }
    accepted = directdns_accept_silently(listener)
    return accepted == CURL_SOCKET_BAD ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK
  }

  private func receivedTrace(_ line: UnsafeRawBufferPointer) {
    if unsafe line.starts(with: Self.mark) { isRemembered = true }
  }

  private static let mark = Array("REFUSED_STREAM".utf8)
}
