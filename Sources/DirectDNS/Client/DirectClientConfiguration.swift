// SPDX-License-Identifier: Apache-2.0
internal import HTTPTypes

/// How a client behaves.
///
/// Every property has a default; without any change a client works on the internet, and sends nothing to addresses that
/// are not public.
public struct DirectClientConfiguration: Sendable {
  /// Which addresses may be connected to; ``AddressPolicy/publicOnly`` by default.
  ///
  /// Judged for every address of an answer, for the address that is really dialled, and for each redirect anew.
  public var policy: AddressPolicy
  /// Addresses of names at single ports, in place of a lookup; none by default.
  package var pins: [HostPort: [IPAddress]] = [:]
  /// For which names requests go direct; on by default.
  ///
  /// Where it is off the system's DNS alone says where a request goes, and ``policy`` still says where it may go.
  public var direct: DirectSwitch
  /// Whose certificates are trusted; the system's by default.
  ///
  /// Certificates are always checked, against the name.
  public var trust: TrustStore
  /// The certificate that the client shows to servers that ask for one; none by default.
  ///
  /// It stays with the origin that a request names: where a redirect leads to another one it is not shown, nor on the
  /// way back. Proxies never see it.
  public var identity: ClientIdentity?
  /// The oldest version of TLS that is spoken; ``TLSVersion/v12`` by default.
  public var minimumTLS: TLSVersion
  /// Which versions of HTTP are spoken; ``HTTPVersionChoice/automatic`` by default.
  public var httpVersion: HTTPVersionChoice
  /// How redirects are followed; nil to hand them to the caller.
  ///
  /// Default: as ``RedirectConfiguration`` has it.
  public var redirects: RedirectConfiguration?
  /// Where cookies are kept; nil, the default, sends and stores none.
  public var cookies: CookieJar?
  /// The proxy that requests go through; ``ProxyChoice/none`` by default, whatever the environment says.
  public var proxy: ProxyChoice
  /// The `User-Agent` of requests that have none of their own; nil sends none.
  ///
  /// Default: `DirectDNS`.
  public var userAgent: String?
  /// Whether compressed bodies are asked for and decoded: gzip, deflate, br and zstd, as far as libcurl has them.
  ///
  /// Default: false; bodies come as they were sent.
  public var decompresses: Bool
  /// How long a request may take.
  ///
  /// Default: as ``RequestTimeouts`` has it, 120 s for all of it.
  public var timeouts: RequestTimeouts
  /// The time from one attempt to connect to the next one, at another address; a failure starts it at once.
  ///
  /// Default: 250 ms (RFC 8305 §5).
  public var attemptDelay: Duration
  /// Connections in all; requests beyond wait in the order of their arrival.
  ///
  /// Default: 256. With several ``threads`` each has its share of them, 64 of 256 with four: no more go to one origin over
  /// one thread, even if the others have connections to spare.
  /// As many are kept for requests to come, but no more than a quarter of the files that the process may open
  /// (`ulimit -n`).
  public var connections: Int
  /// Connections to one origin (scheme, host and port), for each choice of HTTP version, each proxy, and with or without
  /// the client's certificate.
  ///
  /// Default: 64.
  public var connectionsPerOrigin: Int
  /// Requests at once on one HTTP/2 connection; another one is opened beyond.
  ///
  /// Default: 50; BIND 9.18 closes a connection at 64, nginx takes 128.
  public var streamsPerConnection: Int
  /// Threads that carry the transfers.
  ///
  /// Default: 1, which carries some 40 000 requests a second of 1 KB. All requests to one origin with the same choice of
  /// HTTP version, the same proxy, and alike with or without the client's certificate, are one thread's.
  public var threads: Int
  /// Bytes of a response's body that wait for a slow reader before the server has to.
  ///
  /// Default: 256 KiB for each response.
  public var bufferSize: Int
  /// Whether a request that goes direct tells the server its URL, without the fragment, as `originalUrl`.
  ///
  /// Default: false. It holds what the URL holds: user name, password and query. One that the caller has set never goes out.
  public var forwardsOriginalURL: Bool
  /// What lookups want; its time is also bounded by the request's.
  ///
  /// Default: as ``LookupOptions`` has it, which is as the resolver has it.
  public var lookup: LookupOptions

  /// Creates the default configuration.
  public init() {
    policy = .publicOnly
    direct = .on
    trust = TrustStore()
    identity = nil
    minimumTLS = .v12
    httpVersion = .automatic
    redirects = RedirectConfiguration()
    cookies = nil
    proxy = .none
    userAgent = "DirectDNS"
    decompresses = false
    timeouts = RequestTimeouts()
    attemptDelay = .milliseconds(250)
    connections = 256
    connectionsPerOrigin = 64
    streamsPerConnection = 50
    threads = 1
    bufferSize = 256 * 1024
    forwardsOriginalURL = false
    lookup = LookupOptions()
  }

  /// More than anybody has: sums and products of two of them have room.
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
    try timeouts.validate()
    if let userAgent, !HTTPField.isValidValue(userAgent) {
      throw DirectDNSError(.invalidConfiguration, "userAgent has a character that no header field may have.")
    }
  }
}

extension RequestTimeouts {
  func validate() throws(DirectDNSError) {
    let times: KeyValuePairs = ["connect": connect, "firstByte": firstByte, "whole": whole, "idle": idle ?? whole]
    guard let (name, value) = times.first(where: { $0.value <= .zero }) else { return }
    throw DirectDNSError(.invalidConfiguration, "timeouts.\(name) is \(value): give it some time.")
  }
}

/// A client's own certificate, and the key to it.
///
/// Both are checked when the client is made, and read for each connection: they can be renewed where they are.
public struct ClientIdentity: Sendable, Hashable {
  /// The file of the certificate and its chain, in PEM form.
  public var certificate: String
  /// The file of the key, in PEM form; nil when it is in the certificate's.
  public var key: String?
  /// The key's password, where it has one.
  public var password: Secret?

  /// Creates an identity.
  public init(certificate: String, key: String? = nil, password: Secret? = nil) {
    self.certificate = certificate
    self.key = key
    self.password = password
  }
}

/// A version of TLS.
public enum TLSVersion: String, Sendable, Hashable, CaseIterable {
  /// TLS 1.2 (RFC 5246).
  case v12 = "1.2"
  /// TLS 1.3 (RFC 8446).
  case v13 = "1.3"
}

/// The proxy that requests go through.
public enum ProxyChoice: Sendable, Hashable {
  /// None.
  case none
  /// What `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` of the process's environment say.
  case environment
  /// This one, for all but the hosts of the list, which has the form of `no_proxy`.
  case url(WebURL, except: String = "")
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
