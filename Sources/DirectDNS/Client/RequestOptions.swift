// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes

/// The options of one request, which override its client's configuration; by default they leave it as it is.
public struct RequestOptions: Sendable {
  /// How redirects are followed.
  public enum Redirects: Sendable, Hashable {
    /// As the client's configuration says.
    case asConfigured
    /// By these rules.
    case followed(RedirectConfiguration)
    /// Not at all: the caller gets the redirect itself.
    case returned
  }

  /// Which addresses may be connected to, for the request and each redirect; nil for the client's policy.
  ///
  /// Default: nil. A gateway whose tenants have policies of their own needs one client: connections are shared, and a
  /// request uses none whose address its policy forbids.
  public var policy: AddressPolicy? {
    get { own?.policy }
    set { own = Own(policy: newValue, cookies: cookies) }
  }
  /// Where the cookies of the request and of each redirect are kept; nil for the client's jar, if it has one.
  ///
  /// Default: nil. A program that acts for many users needs one client, and a jar for each of them.
  public var cookies: CookieJar? {
    get { own?.cookies }
    set { own = Own(policy: policy, cookies: newValue) }
  }
  // Seven words in one: nearly no request has either, and each step of a request holds its options.
  private var own: Own?
  /// How long it may take; nil for the client's timeouts.
  public var timeouts: RequestTimeouts?
  /// How redirects are followed; by default as the client's configuration says.
  public var redirects: Redirects
  /// Which versions of HTTP are used; nil for the client's choice.
  public var httpVersion: HTTPVersionChoice?
  /// Whether a compressed body is requested and decoded; nil for the client's choice.
  public var decompresses: Bool?
  /// Whether the request may be sent again although it may have reached the server and its method is not idempotent:
  /// for example a POST with a key by which the server recognises a retry.
  ///
  /// Default: false. GET, HEAD, OPTIONS, TRACE, PUT and DELETE may be sent again anyway (RFC 9110 §9.2.2), if their
  /// body is replayable.
  public var isSafeToRetry: Bool
  /// Whether the client's certificate (``DirectClientConfiguration/identity``) is shown to a server that asks for one.
  ///
  /// Default: true; a redirect to another origin sets it to false. Do the same if you follow redirects yourself.
  public var showsIdentity: Bool
  /// The options of the lookup; nil for the client's.
  public var lookup: LookupOptions?
  /// Called with the progress of the transfer, at most ten times a second and at its end, on the thread that carries
  /// it; it should return quickly.
  ///
  /// Default: none.
  public var progress: (@Sendable (TransferProgress) -> Void)?
  /// Called with every event on the way to the response, on any thread; it should return quickly.
  ///
  /// Default: none.
  public var observer: (@Sendable (RequestEvent) -> Void)?
  /// Called with what measures a transfer, on the thread that carries it, if there is an ``observer`` as well.
  package var wireObserver: (@Sendable (WireEvent) -> Void)?

  private final class Own: Sendable {
    let policy: AddressPolicy?
    let cookies: CookieJar?

    /// Nil if there is nothing to hold.
    init?(policy: AddressPolicy?, cookies: CookieJar?) {
      if policy == nil, cookies == nil { return nil }
      self.policy = policy
      self.cookies = cookies
    }
  }

  /// Creates options.
  public init(
    policy: AddressPolicy? = nil, cookies: CookieJar? = nil, timeouts: RequestTimeouts? = nil,
    redirects: Redirects = .asConfigured, httpVersion: HTTPVersionChoice? = nil, decompresses: Bool? = nil,
    isSafeToRetry: Bool = false, showsIdentity: Bool = true, lookup: LookupOptions? = nil,
    progress: (@Sendable (TransferProgress) -> Void)? = nil, observer: (@Sendable (RequestEvent) -> Void)? = nil
  ) {
    own = Own(policy: policy, cookies: cookies)
    self.timeouts = timeouts
    self.redirects = redirects
    self.httpVersion = httpVersion
    self.decompresses = decompresses
    self.isSafeToRetry = isSafeToRetry
    self.showsIdentity = showsIdentity
    self.lookup = lookup
    self.progress = progress
    self.observer = observer
  }
}

/// An event on the way to a response.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum RequestEvent: Sendable {
  /// A request is about to be sent to this URL, which is the caller's or that of a redirect.
  case sending(WebURL)
  /// A name was resolved.
  case resolved(HostName, to: Resolution)
  /// A connection to an address is being opened.
  case connecting(IPAddress)
  /// An address could not be connected to.
  case connectFailed(IPAddress, reason: String)
  /// There is a connection, which may be a reused one; through a proxy there is no address. Where it ends before a
  /// response, and libcurl sends the request once more, the next one is told, too.
  case connected(IPAddress?, isReused: Bool)
  /// A line about the TLS session.
  case secured(session: String)
  /// The request as it is sent, including all fields of the client, and all secrets.
  ///
  /// Fields that libcurl adds, such as `Content-Length`, are not included.
  case requesting(HTTPRequest)
  /// The head of a response has come, over that connection.
  case responded(HTTPResponse, over: ConnectionDetails)
  /// The request is sent again: the connection ended before a response came, the server refused it unprocessed, or the
  /// server refused its `Expect` (417).
  case retrying(reason: String)
  /// A redirect is followed.
  case redirected(status: Int, to: WebURL)
}

/// How long a request may take.
///
/// Each time has to be more than 0: with another one no client is made (`invalidConfiguration`), and no request sent
/// (`invalidRequest`).
public struct RequestTimeouts: Hashable, Sendable {
  /// For connecting, over all addresses that are tried; waiting for a connection to become free does not count.
  ///
  /// A request that has waited that long, while others tried to connect to the same addresses in vain, fails as they
  /// do.
  ///
  /// Default: 5 s.
  public var connect: Duration
  /// For silence before the response's head is whole, counted from when there is a connection, from when a part of the
  /// request's body was last sent, or from when a line of the head, or of an interim response (1xx), last came.
  ///
  /// The time does not run while the body has nothing to send. A server that sends a line now and then is bounded by
  /// ``total`` alone.
  ///
  /// Default: 30 s.
  public var firstByte: Duration
  /// For a pause between two pieces of the response's body; the time does not run while the body waits for its reader,
  /// nor while the server waits for the request's body.
  ///
  /// Default: nil, for no limit but ``total``. With it ``total`` can be long enough for large bodies, and a server that
  /// has gone silent is still noticed.
  public var idle: Duration?
  /// For the whole request: lookup, waiting, every redirect, and the response's body.
  ///
  /// Default: 120 s.
  public var total: Duration

  /// Creates timeouts.
  public init(
    connect: Duration = .seconds(5), firstByte: Duration = .seconds(30), idle: Duration? = nil,
    total: Duration = .seconds(120)
  ) {
    self.connect = connect
    self.firstByte = firstByte
    self.idle = idle
    self.total = total
  }

  func validate(_ code: DirectDNSError.Code = .invalidConfiguration) throws(DirectDNSError) {
    let times: KeyValuePairs = ["connect": connect, "firstByte": firstByte, "total": total, "idle": idle ?? total]
    guard let (name, value) = times.first(where: { $0.value <= .zero }) else { return }
    throw DirectDNSError(code, "timeouts.\(name) is \(value): give it some time.")
  }
}
