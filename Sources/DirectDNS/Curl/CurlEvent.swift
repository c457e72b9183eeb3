// SPDX-License-Identifier: Apache-2.0
/// An event on the way to a response.
enum CurlEvent: Sendable {
  case connecting(IPAddress)
  case failed(IPAddress, HTTPTransportError)
  case connected(IPAddress?, isReused: Bool)
  /// A line about the TLS session, in libcurl's words.
  case secured(String)
}
