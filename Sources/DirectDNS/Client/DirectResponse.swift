// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes

/// A response, with the name in every place where the address could have stood, and how it was got.
public struct DirectResponse: Sendable {
  private let source: LazyHead
  /// The URL that answered, with its fragment: the last hop's.
  public let url: WebURL
  /// The body, as it comes.
  public let body: ResponseBody
  /// The responses that redirected here, the first one first.
  public let hops: [Hop]
  /// The connection that it came over.
  public let connection: ConnectionDetails
  /// How fresh the answer was that named the address; nil for an address literal and through a proxy.
  public let resolution: Resolution?
  /// How long it took, up to the head.
  public let timings: RequestTimings

  /// Creates a response that was not received: a test's, or that of a protocol of your own before the client.
  ///
  /// - Parameters:
  ///   - head: status and header fields.
  ///   - url: the URL that answered.
  ///   - body: the body; default none.
  ///   - hops: the responses that redirected there; default none.
  ///   - connection: the connection; default one of HTTP/1.1 to no address.
  ///   - resolution: the answer that named the address; default nil.
  ///   - timings: how long it took; default no time at all.
  public init(
    head: HTTPResponse, url: WebURL, body: ResponseBody = .bytes([]), hops: [Hop] = [],
    connection: ConnectionDetails? = nil, resolution: Resolution? = nil, timings: RequestTimings = RequestTimings()
  ) {
    self.init(
      LazyHead(head), url: url, body: body, hops: hops,
      connection: connection ?? ConnectionDetails(remotePort: url.effectivePort), resolution: resolution,
      timings: timings)
  }

  init(
    _ head: LazyHead, url: WebURL, body: ResponseBody, hops: [Hop] = [], connection: ConnectionDetails,
    resolution: Resolution?, timings: RequestTimings
  ) {
    source = head
    self.url = url
    self.body = body
    self.hops = hops
    self.connection = connection
    self.resolution = resolution
    self.timings = timings
  }

  /// Status and header fields; what was received is read when it is first asked for.
  public var head: HTTPResponse { source.response }
  /// The status; it needs no reading of the fields.
  public var status: HTTPResponse.Status { source.status }
  /// The header fields; what was received is read when it is first asked for.
  public var headerFields: HTTPFields { source.response.headerFields }
  /// Whether it may have set a cookie.
  var maySetCookie: Bool { source.hasRestorableField }
  /// How fresh the answer was that named the address.
  public var freshness: Resolution.Freshness? { resolution?.freshness }

  /// A response that redirected.
  public struct Hop: Sendable, Hashable {
    /// The method that it answered.
    public let method: HTTPRequest.Method
    /// The URL that redirected.
    public let url: WebURL
    /// Status and header fields of the response.
    public let head: HTTPResponse
    /// The connection that it came over.
    public let connection: ConnectionDetails

    /// Creates one that was not received; default a GET, over HTTP/1.1 to no address.
    public init(
      method: HTTPRequest.Method = .get, url: WebURL, head: HTTPResponse, connection: ConnectionDetails? = nil
    ) {
      self.method = method
      self.url = url
      self.head = head
      self.connection = connection ?? ConnectionDetails(remotePort: url.effectivePort)
    }
  }

  func following(_ hops: [Hop]) -> DirectResponse {
    DirectResponse(
      source, url: url, body: body, hops: hops, connection: connection, resolution: resolution, timings: timings)
  }
}

/// The connection that a response came over.
public struct ConnectionDetails: Sendable, Hashable {
  /// The address; nil through a proxy.
  public let remoteAddress: IPAddress?
  /// The port.
  public let remotePort: UInt16
  /// 1 for HTTP/1.1 and HTTP/1.0, 2 for HTTP/2.
  public let httpVersion: Int
  /// 1 for HTTP/1.1, 0 for HTTP/1.0 and for HTTP/2, whose version has no such part.
  public let httpMinorVersion: Int
  /// Whether the connection had stood before.
  public let isReused: Bool
  /// Addresses that failed before this one.
  public let failedAddresses: [IPAddress]

  /// Creates the details of a connection; default one of HTTP/1.1 to no address, for this response alone.
  public init(
    remoteAddress: IPAddress? = nil, remotePort: UInt16, httpVersion: Int = 1, httpMinorVersion: Int? = nil,
    isReused: Bool = false, failedAddresses: [IPAddress] = []
  ) {
    self.remoteAddress = remoteAddress
    self.remotePort = remotePort
    self.httpVersion = httpVersion
    self.httpMinorVersion = httpMinorVersion ?? (httpVersion == 1 ? 1 : 0)
    self.isReused = isReused
    self.failedAddresses = failedAddresses
  }

  /// As spans have it: `1.0`, `1.1` or `2`.
  var protocolVersion: String { httpVersion == 1 ? "1.\(httpMinorVersion)" : "\(httpVersion)" }
}

/// How long a request took, up to its response's head: the last hop's.
public struct RequestTimings: Sendable, Hashable {
  /// Finding an address.
  public let lookup: Duration
  /// Making the TCP connection; nil for one that stood.
  public let connect: Duration?
  /// Making the TLS session; nil without one, and for a connection that stood.
  public let tls: Duration?
  /// From the connection to the head.
  public let firstByte: Duration
  /// All of it, every redirect and all waiting included.
  public let total: Duration

  /// Creates them; by default nothing took any time.
  public init(
    lookup: Duration = .zero, connect: Duration? = nil, tls: Duration? = nil, firstByte: Duration = .zero,
    total: Duration = .zero
  ) {
    self.lookup = lookup
    self.connect = connect
    self.tls = tls
    self.firstByte = firstByte
    self.total = total
  }
}
