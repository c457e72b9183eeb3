// SPDX-License-Identifier: Apache-2.0
public import DirectDNS

/// How a ``FakeProvider`` is set up.
public struct FakeProviderConfiguration: Sendable {
  /// The provider whose JSON a server speaks; the path alone decides about the other formats.
  public enum Vendor: Sendable, CaseIterable {
    /// Alibaba Public DNS: `Question` is an object, names end with a dot, `short` is supported.
    case alidns
    /// Google Public DNS: `Question` is an array, `Comment` a string.
    case google
    /// Cloudflare: `Question` is an array, `Comment` a list, names lack the final dot.
    case cloudflare
    /// DNSPod's `doh.pub`: Google's JSON, at `/dns-query`.
    case dnspod
  }

  /// Whose JSON is spoken at `/resolve` and, for `dnspod`, at `/dns-query`.
  ///
  /// Default: `alidns`.
  public var vendor: Vendor
  /// The account that AliDNS requests must be signed for; by default none, and nothing is checked.
  public var alidnsAccount: AliDNSAccount?
  /// The account that DNSPod requests must name; by default none, and nothing is checked.
  public var dnspodAccount: DNSPodAccount?
  /// The account that EMAS requests must name; by default none, and nothing is checked.
  public var emasAccount: EMASAccount?
  /// The certificate and key; nil, the default, means plain http.
  public var identity: TLSIdentity?
  /// The versions offered under TLS, the preferred one first.
  ///
  /// Default: HTTP/2, then HTTP/1.1. Plain http uses HTTP/1.1, or HTTP/2 at once (RFC 9113 §3.3) if that is the only
  /// one.
  public var httpVersions: [HTTPProtocolVersion]
  /// The most HTTP/2 streams that a connection may have open.
  ///
  /// Default: 100.
  public var maxConcurrentStreams: Int
  /// The address to listen on, `127.0.0.1` by default; `::1` is useful too.
  public var address: IPAddress
  /// The port to listen on.
  ///
  /// Default: 0, any free one.
  public var port: Int
  /// The clock for `Date` and for checking signatures; nil means the machine's.
  public var clock: (any ResolverClock)?

  /// Creates a configuration.
  public init(
    vendor: Vendor = .alidns, alidnsAccount: AliDNSAccount? = nil, dnspodAccount: DNSPodAccount? = nil,
    emasAccount: EMASAccount? = nil, identity: TLSIdentity? = nil,
    httpVersions: [HTTPProtocolVersion] = [.http2, .http1], maxConcurrentStreams: Int = 100,
    address: IPAddress = .loopback(), port: Int = 0, clock: (any ResolverClock)? = nil
  ) {
    self.vendor = vendor
    self.alidnsAccount = alidnsAccount
    self.dnspodAccount = dnspodAccount
    self.emasAccount = emasAccount
    self.identity = identity
    self.httpVersions = httpVersions
    self.maxConcurrentStreams = maxConcurrentStreams
    self.address = address
    self.port = port
    self.clock = clock
  }

  var server: ServerConfiguration {
    ServerConfiguration(
      identity: identity, httpVersions: httpVersions, maxConcurrentStreams: maxConcurrentStreams, address: address,
      port: port)
  }

  var secondsSince1970: Int64 { clock?.secondsSince1970 ?? SystemClock().secondsSince1970 }
}
