// SPDX-License-Identifier: Apache-2.0
/// The version of HTTP that a request came with.
public enum HTTPProtocolVersion: Hashable, Sendable, CaseIterable {
  /// HTTP/1.1, or HTTP/1.0.
  case http1
  /// HTTP/2.
  case http2

  /// The version's name in TLS's protocol negotiation (RFC 7301).
  var alpn: String { self == .http2 ? "h2" : "http/1.1" }
}
