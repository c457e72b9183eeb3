// SPDX-License-Identifier: Apache-2.0
public import DirectDNS
internal import Tracing

/// A request or tunnel that has ended, as an access log shows it.
///
/// It has the origin and the path of a URL, and never the query, which often holds secrets. A path may hold some, too.
public struct ProxyAccess: Sendable {
  /// What a client asked for.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Kind: String, Sendable {
    /// A request in the clear.
    case http
    /// A tunnel by CONNECT.
    case connect
    /// A request that switched to another protocol, such as WebSocket.
    case upgrade
    /// A tunnel by SOCKS5.
    case socks5
    /// A tunnel by SOCKS4 or SOCKS4a.
    case socks4
  }

  /// What was asked for.
  public var kind: Kind
  /// The client's address; nil for a Unix socket.
  public var client: IPAddress?
  /// The user, if the proxy asks for one; `token` for a client that used a token.
  public var user: String?
  /// The request's method; empty for SOCKS.
  public var method: String
  /// The request's version of HTTP, `1.1` or `1.0`; nil for SOCKS, and if no request could be read.
  public var httpVersion: String?
  /// The host and port that were asked for; nil if the request names none.
  public var origin: String?
  /// The path of a request in the clear, without its query.
  public var path: String?
  /// The response's status, for SOCKS the one that HTTP would have; nil if it ended before there was one.
  public var status: Int?
  /// Why it was refused or broke off: a proxy error type of RFC 9209, such as `dns_error`.
  public var error: String?
  /// The address that was connected to.
  public var address: IPAddress?
  /// The other proxy that it went through; nil if there was none.
  public var upstream: UpstreamProxy?
  /// Bytes of bodies or of a tunnel that the client sent.
  public var received = 0
  /// Bytes of bodies or of a tunnel that the client received.
  public var sent = 0
  /// From the request's first byte to the end.
  public var duration = Duration.zero
  /// How long the lookup and connecting took; nil if an open connection was used again.
  public var connect: Duration?
  /// Whether it is a health check: a request for `/live` or `/ready` of the proxy itself.
  ///
  /// `dnsctl proxy` leaves it out of its access log by default, since health checks come every few seconds.
  public var isProbe = false
  /// Its span, if there is a tracer.
  var span: (any Span)?
  /// The parent of the spans of its lookup.
  var context: ServiceContext? { span?.context }

  /// Creates the record of a request or tunnel; the other properties are set later.
  public init(_ kind: Kind, method: String = "", client: IPAddress? = nil, origin: String? = nil) {
    self.kind = kind
    self.method = method
    self.client = client
    self.origin = origin
  }
}
