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
      let address = attempt.handle.text(CURLINFO_PRIMARY_IP).flatMap({ IPAddress($0) }),
      let port = UInt16(exactly: attempt.handle.number(CURLINFO_PRIMARY_PORT))
    else { return }
    observer(.wire(.proxy(address, port: port)))
  }
}
