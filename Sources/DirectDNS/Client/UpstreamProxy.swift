// SPDX-License-Identifier: Apache-2.0
/// Another proxy, by which a proxy reaches hosts that it cannot or may not reach itself.
public struct UpstreamProxy: Sendable, Hashable, CustomStringConvertible {
  /// A protocol of proxies.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Kind: String, Sendable, Hashable {
    /// HTTP/1.1 without TLS: CONNECT, and requests with the whole URL.
    case http
    /// SOCKS5 (RFC 1928).
    case socks5
  }

  /// Its protocol.
  public var kind: Kind
  /// Its host.
  public var host: WebURL.Host
  /// Its port.
  public var port: UInt16
  /// The user name that it requires, if any.
  public var user: String?
  /// The password of the user.
  public var password: Secret?
  /// Whether it gets names, and looks them up itself, instead of addresses; false by default.
  public var resolvesNames: Bool

  private static let schemes: [(prefix: String, kind: Kind, resolvesNames: Bool, port: UInt16)] = [
    ("http://", .http, false, 3128), ("socks5://", .socks5, false, 1080), ("socks5h://", .socks5, true, 1080),
  ]

  /// Reads `http://[USER:PASSWORD@]HOST[:PORT]`, or the same with `socks5://`, or with `socks5h://` for a server that
  /// looks up names itself, as with curl.
  ///
  /// - Parameters:
  ///   - text: the URL; the default port is 3128 for HTTP and 1080 for SOCKS.
  ///   - resolvesNames: whether it looks up names itself, whatever the scheme.
  /// - Throws: `invalidConfiguration` with the reason, and without user name and password.
  public init(_ text: String, resolvesNames: Bool = false) throws(DirectDNSError) {
    let lowered = String(text.prefix(12)).lowercased()
    guard let scheme = Self.schemes.first(where: { lowered.hasPrefix($0.prefix) }) else {
      throw DirectDNSError(
        .invalidConfiguration,
        lowered.hasPrefix("https://")
          ? "The proxy speaks no TLS to another one: take its http:// or socks5:// port, or put stunnel in front of it."
          : "The URL of a proxy is http://HOST:PORT, socks5://HOST:PORT or socks5h://HOST:PORT.")
    }
    // The one URL parser of the library knows no schemes but those of the web.
    let rest = text.dropFirst(scheme.prefix.utf8.count)
    let url: WebURL
    do throws(DirectDNSError) { url = try WebURL("http://" + rest) } catch {
      throw DirectDNSError(.invalidConfiguration, error.message, underlying: error)
    }
    guard url.path == "/", url.query == nil, url.fragment == nil else {
      throw DirectDNSError(.invalidConfiguration, "The URL of a proxy ends behind its port.")
    }
    kind = scheme.kind
    host = url.host
    // The parser drops port 80, being the default of http, which is not the default of a proxy.
    port = url.port ?? (Self.names80(rest) ? 80 : scheme.port)
    user = url.hasUserInfo ? PercentEncoding.decodedText(url.username) : nil
    password = url.hasUserInfo ? Secret(PercentEncoding.decodedText(url.password)) : nil
    self.resolvesNames = resolvesNames || scheme.resolvesNames
    try validate()
  }

  /// Checks what its protocol has no room for.
  ///
  /// - Throws: `invalidConfiguration` with the reason, and without user name and password.
  package func validate() throws(DirectDNSError) {
    guard port > 0 else { throw DirectDNSError(.invalidConfiguration, "The port is 0, which no proxy has.") }
    guard kind == .http || (user?.utf8.count ?? 1) < 256 && (password?.text.utf8.count ?? 1) < 256 else {
      throw DirectDNSError(.invalidConfiguration, "SOCKS5 has room for 255 bytes of a user name and of a password.")
    }
    guard kind == .socks5 || user?.contains(":") != true else {
      throw DirectDNSError(.invalidConfiguration, "A user name of Basic credentials has no colon (RFC 7617).")
    }
  }

  private static func names80(_ text: Substring) -> Bool {
    let authority = text.prefix { !"/?#\\".contains($0) }
    guard let colon = authority.lastIndex(of: ":") else { return false }
    return UInt16(authority[authority.index(after: colon)...]) == 80
  }

  /// `http://HOST:PORT`, without user name and password.
  public var description: String {
    "\(kind == .http ? "http" : resolvesNames ? "socks5h" : "socks5")://\(host):\(port)"
  }
}
