// SPDX-License-Identifier: Apache-2.0
public import DirectDNS

/// How a ``FakeOrigin`` is set up.
public struct FakeOriginConfiguration: Sendable {
  /// The certificate and key; nil, the default, means plain http.
  public var identity: TLSIdentity?
  /// Other certificates, by the names that clients ask for in SNI; any other name gets ``identity``.
  ///
  /// Default: none.
  public var identities: [String: TLSIdentity]
  /// The authority, as PEM text, that must have issued a client's certificate.
  ///
  /// By default none, and clients are not asked for one. See ``RecordedConnection/clientCertificate``.
  public var clientAuthority: String?
  /// Whether TLS 1.3 is spoken, besides TLS 1.2.
  ///
  /// Default: true.
  public var offersTLS13: Bool
  /// The versions offered under TLS, the preferred one first.
  ///
  /// Default: HTTP/2, then HTTP/1.1. Plain http uses HTTP/1.1, or HTTP/2 at once (RFC 9113 §3.3) if that is the only
  /// one.
  public var httpVersions: [HTTPProtocolVersion]
  /// The most HTTP/2 streams that a connection may have open.
  ///
  /// Default: 100.
  public var maxConcurrentStreams: Int
  /// The bytes that a client may send ahead on an HTTP/2 stream of the first connection; nil for as many as on others.
  package var firstStreamWindow: Int?
  /// The most bytes of each request's body that are kept in ``RecordedRequest/body``; the rest is only counted and
  /// hashed.
  ///
  /// Default: 64 MiB.
  public var bodyLimit: Int
  /// The address to listen on, `127.0.0.1` by default; `::1` and `127.0.0.2` to `127.255.255.254` are useful too.
  public var address: IPAddress
  /// The port to listen on.
  ///
  /// Default: 0, any free one.
  public var port: Int

  /// Creates a configuration.
  public init(
    identity: TLSIdentity? = nil, identities: [String: TLSIdentity] = [:], clientAuthority: String? = nil,
    offersTLS13: Bool = true, httpVersions: [HTTPProtocolVersion] = [.http2, .http1], maxConcurrentStreams: Int = 100,
    bodyLimit: Int = 64 << 20, address: IPAddress = .loopback(), port: Int = 0
  ) {
    self.identity = identity
    self.identities = identities
    self.clientAuthority = clientAuthority
    self.offersTLS13 = offersTLS13
    self.httpVersions = httpVersions
    self.maxConcurrentStreams = maxConcurrentStreams
    self.bodyLimit = bodyLimit
    self.address = address
    self.port = port
  }

  var server: ServerConfiguration {
    ServerConfiguration(
      identity: identity, identities: identities, clientAuthority: clientAuthority, offersTLS13: offersTLS13,
      httpVersions: httpVersions, maxConcurrentStreams: maxConcurrentStreams, firstStreamWindow: firstStreamWindow,
      address: address, port: port)
  }
}
