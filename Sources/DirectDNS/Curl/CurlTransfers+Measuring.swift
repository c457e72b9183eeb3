// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSCurl

/// What is told of transfers to those alone who measure them.
extension CurlTransfers {
  /// A connection that an attempt has opened is established, and cannot take the request yet.
  func opened(_ attempt: ConnectAttempt) {
    guard let transfer = attempt.transfer, transfer.carrier == nil else { return }
    transfer.request.watcher.observer?(.wire(.opened(attempt.address)))
    tellProxy(of: attempt)
  }

  /// Tells where a connection leads that goes to a proxy, which libcurl has chosen the address of.
  func tellProxy(of attempt: ConnectAttempt) {
    guard let request = attempt.transfer?.request, request.route.proxy != nil, let observer = request.watcher.observer,
      let place = peer(of: attempt)
    else { return }
    observer(.wire(.proxy(place.address, port: place.port)))
  }

  /// Where an attempt's connection leads: newer versions of libcurl say so only once the tunnel stands
  /// (`cf_socket_update_data` in `cf-socket.c`), and the socket before.
  private func peer(of attempt: ConnectAttempt) -> (address: IPAddress, port: UInt16)? {
    if let address = attempt.handle.text(CURLINFO_PRIMARY_IP).flatMap({ IPAddress($0) }),
      let port = UInt16(exactly: attempt.handle.number(CURLINFO_PRIMARY_PORT))
    {
      return (address, port)
    }
    return attempt.dialled.flatMap { sockets.peer(of: $0) }
  }
}
