extension WebURL {
  /// A host and a port, as the target of `CONNECT` names them (RFC 9110 §9.3.6).
  ///
  /// The host is read by the rules of URLs, so the same host is meant by both.
  public struct Authority: Hashable, Sendable, CustomStringConvertible {
    /// The host.
    public let host: Host
    /// The port, 1 to 65535.
    public let port: UInt16

    /// Reads `host:port`; the port must be there, and no user info may be.
    ///
    /// - Parameter text: such as `example.com:443` or `[2001:db8::1]:443`.
    /// - Throws: `invalidURL` with the reason.
    public init(_ text: String) throws(DirectDNSError) {
      let hostAndPort = try HostAndPort(text.utf8.span)
      // RFC 9110 §9.3.6: a target with an empty or invalid port is to be rejected.
      guard let port = hostAndPort.port, port > 0 else {
        throw DirectDNSError(.invalidURL, "a port from 1 to 65535 must follow the host: host:443")
      }
      host = hostAndPort.host
      self.port = port
    }

    /// The host, a colon and the port.
    public var description: String { "\(host):\(port)" }
  }
}
