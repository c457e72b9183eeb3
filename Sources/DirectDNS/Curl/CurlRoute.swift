// SPDX-License-Identifier: Apache-2.0
/// Where a transfer goes, and how it is secured: transfers with the same route share connections.
struct CurlRoute: Hashable, Sendable {
  /// Scheme, host and port.
  let origin: String
  let usesTLS: Bool
  let version: HTTPVersionChoice
  /// The proxy, if the transfer goes through one.
  let proxy: CurlProxy?
  /// Whether the server is shown the client's certificate if it asks for one.
  ///
  /// Part of the route because a connection on which the certificate was shown acts for the client: requests that must
  /// not show it need another one.
  let showsIdentity: Bool

  /// Whether each connection serves one request: libcurl 7.88 cannot use one of plain HTTP/2 again (curl#10643).
  var servesOnce: Bool { version == .http2 && !usesTLS && !CurlVersion.reusesPlainHTTP2 }

  /// What is known about its connections before there is one.
  var multiplexing: PoolLoad.Multiplexing {
    switch version {
    case .http1: .never
    case .automatic: usesTLS ? .unknown : .never
    case .http2: servesOnce ? .never : .always
    }
  }
}
