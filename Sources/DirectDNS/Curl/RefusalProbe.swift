// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSCurl

/// Finds out whether HTTP/2 refused a request unprocessed (RFC 9113 §8.7), which libcurl knows and does not tell.
///
/// On a connection that others had used, libcurl asks to send a refused request again as it does for one whose
/// connection died. What tells them apart is a mark in the handle (`refused_stream`) that outlives the transfer and
/// shows in one place: when the next transfer gets no response, libcurl says why it repeats it. So the handle makes one
/// to a socket of this process, which has nothing to say: on the loop, like any other transfer, so that nobody waits for
/// it. Elsewhere than on Linux nothing is found.
@safe final class RefusalProbe {
  private let listener: curl_socket_t
  private var accepted = CURL_SOCKET_BAD
  /// Whether the handle remembers a refusal: known when the transfer that it makes next has ended.
  private(set) var isRemembered = false

  /// Prepares a handle that belongs to no multi handle for the transfer that tells, and leaves it fit for nothing else.
  ///
  /// The handle calls this object until it is reset.
  ///
  /// - Returns: nil where it cannot be asked.
  init?(asking handle: CurlHandle) {
    var name = [CChar](repeating: 0, count: 108)
    listener = unsafe directdns_listen_within(&name)
    guard listener != CURL_SOCKET_BAD else { return nil }
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    handle.reset()
    handle.set(CURLOPT_URL, "http://127.0.0.1/")
    handle.set(CURLOPT_PROXY, "")
    unsafe directdns_setopt_string(handle.pointer, CURLOPT_ABSTRACT_UNIX_SOCKET, name)
    handle.set(CURLOPT_NOSIGNAL, 1)
    handle.set(CURLOPT_TIMEOUT_MS, 1_000)
    unsafe directdns_setopt_connected(
      handle.pointer,
      { context, _, _, _, _ in unsafe context.object(RefusalProbe.self)?.accept() ?? CURL_PREREQFUNC_ABORT }, context)
    unsafe directdns_setopt_trace(
      handle.pointer,
      { _, type, text, size, context in
        if type == CURLINFO_TEXT {
          unsafe context.object(RefusalProbe.self)?.told(UnsafeRawBufferPointer(start: text, count: size))
        }
        return 0
      }, context)
  }

  deinit {
    guard listener != CURL_SOCKET_BAD else { return }
    if accepted != CURL_SOCKET_BAD { _ = directdns_close(accepted) }
    _ = directdns_close(listener)
  }

  /// Takes the request, and not its repetition.
  private func accept() -> CInt {
    guard accepted == CURL_SOCKET_BAD else { return CURL_PREREQFUNC_ABORT }
    accepted = directdns_accept_silently(listener)
    return accepted == CURL_SOCKET_BAD ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK
  }

  private func told(_ line: UnsafeRawBufferPointer) {
    if unsafe line.starts(with: Self.mark) { isRemembered = true }
  }

  private static let mark = Array("REFUSED_STREAM".utf8)
}
