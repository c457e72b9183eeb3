// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSCurl

/// The sockets of a loop's connections: each is told of when it is opened and when it is closed.
@safe final class CurlSockets {
  private(set) var open: Set<curl_socket_t> = []
  private let poller: Poller?
  /// Milliseconds that a connection's bytes may stay unacknowledged.
  private let silenceLimit: UInt32
  /// Is told which socket is closed, before it is.
  var closing: ((curl_socket_t) -> Void)?

  init(silenceLimit: UInt32 = 3_000, poller: Poller? = nil) {
    self.silenceLimit = silenceLimit
    self.poller = poller
  }

  /// Makes a handle tell of the sockets that its transfers open, and of their end.
  ///
  /// A connection outlives its handle, so whoever ends the connections keeps this object until then: ``CurlMulti``, and
  /// ``CurlEasy`` for those of a handle that performs by itself.
  func watch(_ handle: CurlHandle) {
    unsafe directdns_setopt_sockets(
      handle.pointer,
      { context, socket, _ in
        unsafe context.object(CurlSockets.self)?.opened(socket)
        return CURL_SOCKOPT_OK
      },
      { context, socket in
        unsafe context.object(CurlSockets.self)?.closes(socket)
        return directdns_close(socket)
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  /// Keeps back what is written, or lets it go; what nobody lets go leaves after 200 ms by itself.
  ///
  /// libcurl writes each request, and the body of a POST, by a call of its own. The kernel would send each of them as a
  /// segment of its own; requests that start together on one connection leave in one instead, which saves 3 µs for each
  /// by GET and 10 µs by POST, and wakes the server once.
  static func cork(_ sockets: [curl_socket_t], _ isCorked: Bool) {
    for socket in sockets { directdns_cork(socket, isCorked ? 1 : 0) }
  }

  private func opened(_ socket: curl_socket_t) {
    directdns_prepare_socket(socket, silenceLimit)
    open.insert(socket)
    poller?.opened(socket)
  }

  private func closes(_ socket: curl_socket_t) {
    open.remove(socket)
    poller?.closed(socket)
    closing?(socket)
  }
}
