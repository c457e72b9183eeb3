// SPDX-License-Identifier: Apache-2.0
public import DirectDNS
internal import Tracing

/// One request or tunnel that has ended: what an access log has of it.
///
/// Of a URL it has the origin and the path, and never the query, which holds secrets. A path may hold some, too.
public struct ProxyAccess: Sendable {
  /// What a client asked for.
  public enum Kind: String, Sendable {
    /// A request in the clear.
    case http
    /// A tunnel by CONNECT.
    case connect
    /// A request that became something else, such as a WebSocket.
    case upgrade
    case socks5
    case socks4
  }

  /// What was asked for.
  public var kind: Kind
  /// Who asked: an address, or nil for a Unix socket.
  public var client: IPAddress?
  /// The user, where one was asked for; `token` for who came by a token.
  public var user: String?
  /// The request's method; empty for SOCKS.
  public var method: String
  /// The request's version of HTTP, `1.1` or `1.0`; nil for SOCKS, and where no request could be read.
  public var httpVersion: String?
  /// Where it went; nil where the request did not say so.
  public var origin: String?
  /// The path of a request in the clear, without its query.
  public var path: String?
  /// The response's status; nil where a tunnel has none to tell.
  public var status: Int?
  /// Why it was refused or broke off: an error of RFC 9209, such as `dns_error`.
  public var error: String?
  /// The address that was connected to.
  public var address: IPAddress?
  /// The other proxy that it went through; nil where there was none.
  public var upstream: UpstreamProxy?
  /// Bytes of bodies or of a tunnel that the client sent.
  public var received = 0
  /// Bytes of bodies or of a tunnel that it got.
  public var sent = 0
  /// From the request's first byte to the end.
  public var duration = Duration.zero
  /// How long looking up and connecting took; nil where a connection stood already.
  public var connect: Duration?
  /// Whether it asked for `/live` or `/ready` of the proxy's own, as whoever watches it does every few seconds.
  ///
  /// `dnsctl proxy` leaves it out of its access log unless it is told otherwise.
  public var isProbe = false
  /// What watches it, where there is a tracer.
  var span: (any Span)?
  /// What the spans of its lookup stand below.
  var context: ServiceContext? { span?.context }

  /// Creates one, of which nothing is known but what was asked for.
  public init(_ kind: Kind, method: String = "", client: IPAddress? = nil, origin: String? = nil) {
    self.kind = kind
    self.method = method
    self.client = client
    self.origin = origin
  }
}
