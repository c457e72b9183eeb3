/// A URL of http, https, ws or wss, read by the WHATWG URL standard: as a browser reads it.
///
/// It is the only URL parser of this library, so policy, DNS, the `Host` field and the connection can never
/// disagree about where a URL leads. Other schemes are refused. Two URLs are equal when their ``href`` is.
public struct WebURL: Hashable, Sendable {
  /// The schemes that lead to an HTTP server.
  public enum Scheme: String, Sendable, Hashable, CaseIterable {
    /// HTTP without TLS.
    case http
    /// HTTP over TLS.
    case https
    /// A WebSocket without TLS.
    case ws
    /// A WebSocket over TLS.
    case wss

    /// The port of a URL that names none: 80 or 443.
    public var defaultPort: UInt16 { isSecure ? 443 : 80 }

    /// Whether the scheme means TLS.
    public var isSecure: Bool { self == .https || self == .wss }
  }

  /// The scheme.
  public internal(set) var scheme: Scheme
  /// The user name, percent-encoded; empty when there is none.
  public internal(set) var username: String
  /// The password, percent-encoded; empty when there is none.
  public internal(set) var password: String
  /// The host.
  public internal(set) var host: Host
  /// The port, nil when it is the scheme's default.
  public internal(set) var port: UInt16?
  /// The path, percent-encoded, its dot segments resolved; it begins with a slash.
  public internal(set) var path: String
  /// The query without its `?`, percent-encoded; nil without one, empty for a lone `?`.
  public internal(set) var query: String?
  /// The fragment without its `#`, percent-encoded; nil without one, empty for a lone `#`.
  public internal(set) var fragment: String?

  /// Reads an absolute URL.
  ///
  /// - Parameter text: the URL, spelled as freely as a browser permits.
  /// - Throws: `invalidURL`, saying which part is wrong and what to do. The message never holds user info,
  ///   path or query, which may be secrets.
  public init(_ text: String) throws(DirectDNSError) {
    var parser = WebURLParser(text)
    self = try parser.url(base: nil)
  }

  /// Resolves a reference, such as the value of `Location`, against the URL that it was found at.
  ///
  /// - Parameters:
  ///   - reference: an absolute URL, or one relative to the base: `//host/x`, `/x`, `x`, `?x`, `#x`.
  ///   - base: the URL that a relative reference is relative to.
  /// - Throws: `invalidURL`, saying which part is wrong and what to do.
  public init(_ reference: String, base: WebURL) throws(DirectDNSError) {
    var parser = WebURLParser(reference)
    self = try parser.url(base: base)
  }

  init(
    scheme: Scheme, username: String, password: String, host: Host, port: UInt16?, path: String,
    query: String?, fragment: String?
  ) {
    self.scheme = scheme
    self.username = username
    self.password = password
    self.host = host
    self.port = port
    self.path = path
    self.query = query
    self.fragment = fragment
  }
}
