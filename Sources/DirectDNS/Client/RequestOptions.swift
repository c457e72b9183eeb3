// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes

/// What one request wants other than its client does; nothing by default.
public struct RequestOptions: Sendable {
  /// How redirects are followed.
  public enum Redirects: Sendable, Hashable {
    /// As the client does.
    case asConfigured
    /// By these rules.
    case followed(RedirectConfiguration)
    /// Not at all: the caller gets the response that redirects.
    case returned
  }

  /// How long it may take; nil for the client's times.
  public var timeouts: RequestTimeouts?
  /// How redirects are followed.
  public var redirects: Redirects
  /// Which versions of HTTP are spoken; nil for the client's choice.
  public var httpVersion: HTTPVersionChoice?
  /// Whether a compressed body is asked for and decoded; nil for the client's choice.
  public var decompresses: Bool?
  /// Whether the request may be sent again after it may have reached the server, although its method is not idempotent:
  /// a POST with a key by which the server knows a repetition, for example.
  ///
  /// Default: false. GET, HEAD, OPTIONS, TRACE, PUT and DELETE may anyway (RFC 9110 §9.2.2), if their body can be sent
  /// again.
  public var isSafeToRetry: Bool
  /// Whether the client's certificate (``DirectClientConfiguration/identity``) is shown to a server that asks for one.
  ///
  /// Default: true; redirects take it to no other origin. Set it to false for the hops behind another origin where you
  /// follow redirects yourself.
  public var showsIdentity: Bool
  /// What the lookup wants; nil for the client's.
  public var lookup: LookupOptions?
  /// Is told how the transfer goes, some ten times a second and at its end, on the thread that carries it: return soon.
  public var progress: (@Sendable (TransferProgress) -> Void)?
  /// Is told what happens on the way, on whatever thread it happens: return soon.
  public var observer: (@Sendable (RequestEvent) -> Void)?

  /// Creates options.
  public init(
    timeouts: RequestTimeouts? = nil, redirects: Redirects = .asConfigured, httpVersion: HTTPVersionChoice? = nil,
    decompresses: Bool? = nil, isSafeToRetry: Bool = false, showsIdentity: Bool = true, lookup: LookupOptions? = nil,
    progress: (@Sendable (TransferProgress) -> Void)? = nil, observer: (@Sendable (RequestEvent) -> Void)? = nil
  ) {
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

/// What happens on the way to a response.
public enum RequestEvent: Sendable {
  /// A request is about to be sent to this URL: the caller's, or where a redirect leads.
  case sending(WebURL)
  /// A name was resolved.
  case resolved(HostName, Resolution)
  /// An address is being connected to.
  case connecting(IPAddress)
  /// An address could not be connected to.
  case connectFailed(IPAddress, reason: String)
  /// A connection stands; one that stood before is reused. Through a proxy there is no address.
  case connected(IPAddress?, isReused: Bool)
  /// A line about the TLS session.
  case secured(String)
  /// The request as it goes out, with every field of the client's own, and every secret: what libcurl adds, such as
  /// `Content-Length`, is not among them.
  case requesting(HTTPRequest)
  /// A response's head has come, over that connection.
  case responded(HTTPResponse, ConnectionDetails)
  /// The request is sent once more: the connection ended before a response came, the server refused it unprocessed, or
  /// it wants no `Expect` (417).
  case repeating(reason: String)
  /// A response redirects.
  case redirected(status: Int, to: WebURL)
}

/// How long a request may take.
public struct RequestTimeouts: Hashable, Sendable {
  /// For a connection, over all addresses that are tried; waiting for a free one does not count.
  ///
  /// A request that waits so long while others try to connect to the same addresses in vain fails as they do.
  ///
  /// Default: 5 s.
  public var connect: Duration
  /// For the response's head, from the moment at which the connection stands or something of the request's body was
  /// last sent; a pause in which the body itself has nothing to send does not count.
  ///
  /// Default: 30 s.
  public var firstByte: Duration
  /// For a pause between two pieces of the response's body; one in which the body waits for its reader does not count.
  ///
  /// Default: nil, any pause that ``whole`` has room for. With it ``whole`` can be as long as bodies are, and a server that
  /// has gone silent is told all the same.
  public var idle: Duration?
  /// For all of it: lookup, waiting, every redirect, and the response's body.
  ///
  /// Default: 120 s.
  public var whole: Duration

  /// Creates time-outs.
  public init(
    connect: Duration = .seconds(5), firstByte: Duration = .seconds(30), idle: Duration? = nil,
    whole: Duration = .seconds(120)
  ) {
    self.connect = connect
    self.firstByte = firstByte
    self.idle = idle
    self.whole = whole
  }
}
