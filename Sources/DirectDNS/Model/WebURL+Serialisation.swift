extension WebURL: CustomStringConvertible {
  /// The whole URL as text (WHATWG URL §4.5); reading it again gives an equal URL.
  public var href: String { text() }

  /// The whole URL as text.
  ///
  /// It may hold secrets: do not log it.
  public var description: String { href }

  /// The port that a connection goes to: the URL's own or the scheme's default.
  public var effectivePort: UInt16 { port ?? scheme.defaultPort }

  /// The host, and the port when it is not the default: the value of the `Host` field (RFC 9110 §7.2).
  public var hostAndPort: String { port.map { "\(host):\($0)" } ?? host.description }

  /// The path and the query: what stands in a request line (RFC 9112 §3.2.1).
  public var requestTarget: String { query.map { "\(path)?\($0)" } ?? path }

  /// The URL as text, with parts of it left out or replaced.
  ///
  /// - Parameters:
  ///   - host: the host to write instead of the URL's own.
  ///   - userInfo: whether user name and password are written.
  ///   - fragment: whether the fragment is written.
  /// - Returns: what a browser would write for these parts.
  public func text(host: Host? = nil, userInfo: Bool = true, fragment: Bool = true) -> String {
    var text = scheme.rawValue
    text += "://"
    if userInfo, !username.isEmpty || !password.isEmpty {
      text += username
      if !password.isEmpty {
        text += ":"
        text += password
      }
      text += "@"
    }
    text += (host ?? self.host).description
    if let port { text += ":\(port)" }
    text += path
    if let query {
      text += "?"
      text += query
    }
    if fragment, let value = self.fragment {
      text += "#"
      text += value
    }
    return text
  }
}
