// SPDX-License-Identifier: Apache-2.0
extension WebURL {
  /// What a URL's text consists of: where its parts begin and end, in bytes, and what its scheme and port are.
  ///
  ///     https://user:password@host.example:8443/path?query#fragment
  ///             │   │         │           │    │    │     └ queryEnd
  ///             │   │         │           │    │    └ pathEnd
  ///             │   │         │           │    └ pathStart
  ///             │   │         │           └ hostEnd
  ///             │   │         └ hostStart
  ///             │   └ usernameEnd
  ///             └ authorityStart
  struct Layout: Equatable, Sendable {
    // Without user info the user name ends where the host starts.
    var usernameEnd: UInt32 = 0
    var hostStart: UInt32 = 0
    var hostEnd: UInt32 = 0
    var pathStart: UInt32 = 0
    var pathEnd: UInt32 = 0
    var queryEnd: UInt32 = 0
    var port: UInt16?
    var scheme = Scheme.http
    var address = HostAddress.none

    /// What the host is, if it is an address: an IPv4 one need not be read of the text again.
    enum HostAddress: Equatable, Sendable {
      case none, ipv6
      case ipv4(UInt32)

      init(_ host: WebURL.Host) {
        switch host {
        case .name: self = .none
        case .address(let address):
          self = address.family == .ipv4 ? .ipv4(UInt32(truncatingIfNeeded: address.low)) : .ipv6
        }
      }
    }

    /// Behind the scheme, its colon and two slashes; not asked of the scheme's text, which would cost as much as a part.
    var authorityStart: UInt32 {
      switch scheme {
      case .ws: 5
      case .wss: 6
      case .http: 7
      case .https: 8
      }
    }
  }

  /// The scheme.
  public var scheme: Scheme { layout.scheme }

  /// The user name, percent-encoded; empty when there is none.
  public var username: String { part(layout.authorityStart..<layout.usernameEnd) }

  /// The password, percent-encoded; empty when there is none.
  public var password: String {
    // A colon before it, an at sign behind it.
    layout.usernameEnd + 1 < layout.hostStart ? part(layout.usernameEnd + 1..<layout.hostStart - 1) : ""
  }

  /// The host.
  public var host: Host {
    layout.address(in: href).map(Host.address) ?? .name(part(layout.hostStart..<layout.hostEnd))
  }

  /// The port, nil when it is the scheme's default.
  public var port: UInt16? { layout.port }

  /// The path, percent-encoded, its dot segments resolved; it begins with a slash.
  public var path: String { part(layout.pathStart..<layout.pathEnd) }

  /// The query without its `?`, percent-encoded; nil without one, empty for a lone `?`.
  public var query: String? {
    layout.pathEnd < layout.queryEnd ? part(layout.pathEnd + 1..<layout.queryEnd) : nil
  }

  /// The fragment without its `#`, percent-encoded; nil without one, empty for a lone `#`.
  public var fragment: String? {
    layout.hasFragment(in: href) ? part(layout.queryEnd + 1..<UInt32(href.utf8.count)) : nil
  }

  /// The port that a connection goes to: the URL's own or the scheme's default.
  public var effectivePort: UInt16 { port ?? scheme.defaultPort }

  /// The host, and the port when it is not the default: the value of the `Host` field (RFC 9110 §7.2).
  public var hostAndPort: String { part(layout.hostStart..<layout.pathStart) }

  /// User info, host and port, as they stand in the URL.
  var authority: String { part(layout.authorityStart..<layout.pathStart) }

  /// Whether it has a user name or a password.
  var hasUserInfo: Bool { layout.authorityStart < layout.hostStart }

  /// User name and password with the `@` behind them, as they stand in the URL; empty when there are none.
  var userInfo: String { part(layout.authorityStart..<layout.hostStart) }

  /// The path and the query: what stands in a request line (RFC 9112 §3.2.1).
  public var requestTarget: String { part(layout.pathStart..<layout.queryEnd) }

  private func part(_ range: Range<UInt32>) -> String {
    ASCII.text(href.utf8.span.extracting(Int(range.lowerBound)..<Int(range.upperBound)))
  }
}
