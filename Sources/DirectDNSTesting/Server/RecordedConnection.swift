// SPDX-License-Identifier: Apache-2.0
/// One TCP connection that a ``FakeOrigin`` accepted.
public struct RecordedConnection: Hashable, Sendable {
  /// The connection's place in the order of acceptance, from 1.
  public let number: Int
  /// The client's address.
  public let client: String
  /// The client's port, another one for each connection that is open.
  public let clientPort: Int
  /// The name in TLS's SNI; nil without TLS, or if the client sent none, as it must not for an address.
  public internal(set) var serverName: String?
  /// The client's certificate, as PEM text; nil if it was not asked for one.
  public internal(set) var clientCertificate: String?
  /// The version of HTTP; nil until TLS has agreed on one.
  public internal(set) var version: HTTPProtocolVersion?
  /// The number of requests that came on it.
  public internal(set) var requestCount = 0
  /// Whether it is still open.
  public internal(set) var isOpen = true
}
