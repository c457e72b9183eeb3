// SPDX-License-Identifier: Apache-2.0
internal import HTTPTypes

/// How a client behaves.
///
/// Every property has a default, with which a client works on the public internet and connects to public addresses
/// only. A count has to be at least 1 and at most 2^30: with another one no client is made (`invalidConfiguration`).
public struct DirectClientConfiguration: Sendable {
  /// Which addresses may be connected to; ``AddressPolicy/publicOnly`` by default.
  ///
  /// It judges every address of an answer, and again the address that is finally dialled, for the request and each
  /// redirect.
  public var policy: AddressPolicy
  /// Fixed addresses of names at single ports, which are not looked up; none by default.
  package var pins: [HostPort: [IPAddress]] = [:]
  /// For which names direct connect is on; by default for all.
  ///
  /// Names for which it is off are looked up by the system's DNS only; ``policy`` still judges their addresses.
  public var direct: DirectSwitch
  /// The certificate authorities that are trusted; the system's by default.
  ///
  /// Certificates are always checked, and always for the name.
  public var trust: TrustStore
  /// The certificate that the client shows to servers that ask for one; none by default.
  ///
  /// Only the origin that the request names gets it: it is not shown after a redirect to another origin, even if a
  /// further redirect leads back. Proxies never get it.
  public var identity: ClientIdentity?
  /// The oldest version of TLS that is accepted; ``TLSVersion/v12`` by default.
  public var minimumTLS: TLSVersion
  /// Which versions of HTTP are used; ``HTTPVersionChoice/automatic`` by default.
  public var httpVersion: HTTPVersionChoice
  /// How redirects are followed; nil to return them to the caller.
  ///
  /// Default: as ``RedirectConfiguration`` has it.
  public var redirects: RedirectConfiguration?
  /// Where cookies are kept; nil, the default, to send and store none.
  public var cookies: CookieJar?
  /// The proxy that requests go through; ``ProxyChoice/none`` by default, whatever the environment says.
  public var proxy: ProxyChoice
  /// The `User-Agent` of requests that have none of their own; nil to send none.
  ///
  /// Default: `DirectDNS`.
  public var userAgent: String?
  /// Whether compressed bodies are requested and decoded: gzip, deflate, br and zstd, as far as libcurl supports them.
  ///
  /// Default: false; bodies come as they were sent.
  public var decompresses: Bool
  /// How long a request may take.
  ///
  /// Default: as ``RequestTimeouts`` has it, 120 s for all of it.
  public var timeouts: RequestTimeouts
  /// The time from one attempt to connect to the next one, at another address; after a failure the next begins at once.
  ///
  /// Default: 250 ms (RFC 8305 §5). With 0 all addresses are tried at once.
  public var attemptDelay: Duration
  /// The most connections in all; when they are all in use, requests wait in the order of their arrival.
  ///
  /// Default: 256. With several ``threads`` each has its share, 64 of 256 with four, even if the others have
  /// connections to spare. As many idle connections are kept, but no more than a quarter of the files that the process
  /// may open (`ulimit -n`).
  public var connections: Int
  /// The most connections to one origin (scheme, host and port), counted separately for each HTTP version and proxy,
  /// and with and without the client's certificate.
  ///
  /// Default: 64.
  public var connectionsPerOrigin: Int
  /// The most requests at a time on one HTTP/2 connection; for more, another connection is opened.
  ///
  /// Default: 50; BIND 9.18 closes a connection at 64, nginx takes 128.
  public var streamsPerConnection: Int
  /// The number of threads that carry the transfers.
  ///
  /// Default: 1, which carries some 40 000 requests of 1 KB a second. Requests that may share connections, see
  /// ``connectionsPerOrigin``, are carried by the same thread.
  public var threads: Int
  /// How many bytes of a response's body may wait for a slow reader; with more, the server has to wait.
  ///
  /// Default: 256 KiB for each response.
  public var bufferSize: Int
  /// Whether a direct request tells the server its URL, without the fragment, in the field `originalUrl`.
  ///
  /// Default: false. The field contains everything that the URL does: user name, password and query. A field of that
  /// name from the caller is never sent.
  public var forwardsOriginalURL: Bool
  /// The options of lookups, which moreover take no longer than the request may.
  ///
  /// Default: `LookupOptions()`, which leaves everything to the resolver's configuration.
  public var lookup: LookupOptions

  /// Creates a configuration; everything has a default.
  public init(
    policy: AddressPolicy = .publicOnly, direct: DirectSwitch = .on, trust: TrustStore = TrustStore(),
    identity: ClientIdentity? = nil, minimumTLS: TLSVersion = .v12, httpVersion: HTTPVersionChoice = .automatic,
    redirects: RedirectConfiguration? = RedirectConfiguration(), cookies: CookieJar? = nil,
    proxy: ProxyChoice = .none, userAgent: String? = "DirectDNS", decompresses: Bool = false,
    timeouts: RequestTimeouts = RequestTimeouts(), attemptDelay: Duration = .milliseconds(250),
    connections: Int = 256, connectionsPerOrigin: Int = 64, streamsPerConnection: Int = 50, threads: Int = 1,
    bufferSize: Int = 256 * 1024, forwardsOriginalURL: Bool = false, lookup: LookupOptions = LookupOptions()
  ) {
    self.policy = policy
    self.direct = direct
    self.trust = trust
    self.identity = identity
    self.minimumTLS = minimumTLS
    self.httpVersion = httpVersion
    self.redirects = redirects
    self.cookies = cookies
    self.proxy = proxy
    self.userAgent = userAgent
    self.decompresses = decompresses
    self.timeouts = timeouts
    self.attemptDelay = attemptDelay
    self.connections = connections
    self.connectionsPerOrigin = connectionsPerOrigin
    self.streamsPerConnection = streamsPerConnection
    self.threads = threads
    self.bufferSize = bufferSize
    self.forwardsOriginalURL = forwardsOriginalURL
    self.lookup = lookup
  }

  /// The largest value of a count: sums and products of two of them cannot overflow.
  private static let most = 1 << 30

  func validate() throws(DirectDNSError) {
    let counts: KeyValuePairs = [
      "connections": connections, "connectionsPerOrigin": connectionsPerOrigin,
      "streamsPerConnection": streamsPerConnection, "threads": threads, "bufferSize": bufferSize,
    ]
    if let (name, value) = counts.first(where: { !(1...Self.most).contains($0.value) }) {
      throw DirectDNSError(
        .invalidConfiguration, "\(name) is \(value): 1 is the least, and \(Self.most) the most.")
    }
    guard threads <= connections else {
      throw DirectDNSError(
        .invalidConfiguration, "threads is \(threads) and connections \(connections): each thread needs one at least.")
    }
    guard attemptDelay >= .zero else {
      throw DirectDNSError(.invalidConfiguration, "attemptDelay is \(attemptDelay): 0 s, all at once, is the least.")
    }
    if let redirects, redirects.limit < 0 {
      throw DirectDNSError(
        .invalidConfiguration,
        "redirects.limit is \(redirects.limit): 0 is the least. Set redirects to nil to have redirects returned.")
    }
    try timeouts.validate()
    try lookup.validate()
    if let userAgent, !HTTPField.isValidValue(userAgent) {
      throw DirectDNSError(.invalidConfiguration, "userAgent has a character that no header field may have.")
    }
  }
}

/// A client's certificate and its key.
///
/// Both are checked when the client is made, and read again for each connection, so that the files can be renewed.
public struct ClientIdentity: Sendable, Hashable {
  /// The path of the file with the certificate and its chain, in PEM form.
  public var certificate: String
  /// The path of the file with the key, in PEM form; nil if it is in the same file as the certificate.
  public var key: String?
  /// The password of the key, if it has one.
  public var password: Secret?

  /// Creates an identity.
  public init(certificate: String, key: String? = nil, password: Secret? = nil) {
    self.certificate = certificate
    self.key = key
    self.password = password
  }
}

/// A version of TLS.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum TLSVersion: String, Sendable, Hashable, CaseIterable {
  /// TLS 1.2 (RFC 5246).
  case v12 = "1.2"
  /// TLS 1.3 (RFC 8446).
  case v13 = "1.3"
}

/// The proxy that requests go through.
///
/// Its port is that of its URL: 80 for http and 443 for https if it names none. For http curl takes 1080 then: name the
/// port in variables that curl reads too.
public enum ProxyChoice: Sendable, Hashable {
  /// None.
  case none
  /// The one that `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` of the process's environment name.
  case environment
  /// This one, except for the hosts of the list, which has the form of `no_proxy`.
  case url(WebURL, except: String = "")
}

extension ProxyChoice: CustomStringConvertible, CustomReflectable {
  /// `none`, `environment`, or the proxy's scheme, host and port, without its user name and password.
  public var description: String {
    switch self {
    case .none: "none"
    case .environment: "environment"
    case .url(let url, let except): url.originText + (except.isEmpty ? "" : ", except for \(except)")
    }
  }
  /// The description alone.
  public var customMirror: Mirror { Mirror(self, unlabeledChildren: [description]) }
}

/// A name at one port.
package struct HostPort: Sendable, Hashable {
  let host: HostName
  let port: UInt16

  package init(host: HostName, port: UInt16) {
    self.host = host
    self.port = port
  }
}
