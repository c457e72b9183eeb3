public import DirectDNS

/// How a ``FakeOrigin`` is set up.
public struct FakeOriginConfiguration: Sendable {
  /// The certificate and key; nil, the default, means plain http.
  public var identity: TLSIdentity?
  /// The versions offered under TLS, the preferred one first.
  ///
  /// Plain http is HTTP/1.1 whatever stands here.
  public var httpVersions: [HTTPVersion]
  /// The address to listen on, `127.0.0.1` by default; `::1` is the other useful one.
  public var address: IPAddress
  /// The port to listen on.
  ///
  /// Default: 0, any free one.
  public var port: Int

  /// Creates a configuration.
  public init(
    identity: TLSIdentity? = nil, httpVersions: [HTTPVersion] = [.http2, .http1],
    address: IPAddress = .ipv4(0x7F00_0001), port: Int = 0
  ) {
    self.identity = identity
    self.httpVersions = httpVersions
    self.address = address
    self.port = port
  }

  var server: ServerConfiguration {
    ServerConfiguration(identity: identity, httpVersions: httpVersions, address: address, port: port)
  }
}
