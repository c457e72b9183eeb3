// SPDX-License-Identifier: Apache-2.0
/// Which versions of HTTP a client speaks.
public enum HTTPVersionChoice: String, Sendable, Hashable, CaseIterable {
  /// HTTP/2 if the TLS handshake agrees on it, otherwise HTTP/1.1.
  case automatic
  /// HTTP/1.1 alone.
  case http1
  /// HTTP/2 without TLS too, by prior knowledge (RFC 9113 §3.3).
  ///
  /// Over TLS it is the same as `automatic`: with a server that does not agree on HTTP/2, it is HTTP/1.1.
  case http2
}
