// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes

/// A response, and how it was received; wherever the server may have used its address, the name is put back.
public struct DirectResponse: Sendable {
  private let source: ResponseHead
  /// The URL of the last hop, with its fragment.
  public let url: WebURL
  /// The body, which can be read while it comes.
  public let body: ResponseBody
  /// The redirects that led here, in order.
  public let hops: [Hop]
  /// The connection that it came over.
  public let connection: ConnectionDetails
  /// The DNS answer that the address came from; nil for an address literal and through a proxy.
  public let resolution: Resolution?
  /// How long it took, up to the head.
  public let timings: RequestTimings

  /// Creates a response that was not received, for a test or for a layer of your own above the client.
  ///
  /// - Parameters:
  ///   - head: status and header fields.
  ///   - url: the URL of the response.
  ///   - body: the body; default none.
  ///   - hops: the redirects that led there; default none.
  ///   - connection: the connection; default one of HTTP/1.1 to no address.
  ///   - resolution: the DNS answer that the address came from; default nil.
  ///   - timings: how long it took; default no time at all.
  public init(
    head: HTTPResponse, url: WebURL, body: ResponseBody = .bytes([]), hops: [Hop] = [],
    connection: ConnectionDetails? = nil, resolution: Resolution? = nil, timings: RequestTimings = RequestTimings()
  ) {
    self.init(
      ResponseHead(head), url: url, body: body, hops: hops,
      connection: connection ?? ConnectionDetails(remotePort: url.effectivePort), resolution: resolution,
      timings: timings)
  }

  init(
    _ head: ResponseHead, url: WebURL, body: ResponseBody, hops: [Hop] = [], connection: ConnectionDetails,
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

  /// Status and header fields; the fields are parsed when they are first asked for.
  public var head: HTTPResponse { source.response }
  /// The status; the fields need not be parsed for it.
  public var status: HTTPResponse.Status { source.status }
  /// The header fields; they are parsed when they are first asked for.
  public var headerFields: HTTPFields { source.response.headerFields }
  /// False only if there is no `Set-Cookie`; the fields need not be parsed for it.
  var maySetCookie: Bool { source.hasRestorableField }
  /// How fresh the DNS answer was that the address came from; nil for an address literal and through a proxy.
  public var freshness: Resolution.Freshness? { resolution?.freshness }
  /// How long the server asks to be left alone, which may be for years (`Retry-After`, RFC 9110 §10.2.3).
  ///
  /// A date counts from the response's own `Date`, since this machine's clock need not be right. Nil without the field,
  /// and for a date in a response that has no `Date`.
  public var retryAfter: Duration? {
    HTTPFreshness.pause(retryAfter: headerFields[.retryAfter], date: headerFields[.date])
  }

  /// A response that was a redirect.
  public struct Hop: Sendable, Hashable {
    /// The method of its request.
    public let method: HTTPRequest.Method
    /// The URL of its request.
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

  /// Leaves its body before a redirect is followed.
  ///
  /// Over HTTP/1, within an origin, and unless the connection ends with it, it waits for the body's end, so that the next
  /// request can use the connection.
  nonisolated(nonsending) package func leave(for next: Redirect) async {
    let isReusable = !next.crossesOrigin && connection.httpVersion.major < 2 && !endsConnection
    if isReusable { await body.drain() } else { body.discard() }
  }

  /// Whether its connection ends with it, over HTTP/1 (RFC 9112 §6.3, §9.3).
  var endsConnection: Bool {
    let fields = headerFields
    let options = (fields[.connection] ?? "").lowercased().split { ", \t".contains($0) }
    guard !options.contains("close"), connection.httpVersion != .http1_0 || options.contains("keep-alive") else {
      return true
    }
    return fields[.contentLength] == nil && fields[.transferEncoding] == nil
  }

  func following(_ hops: [Hop]) -> DirectResponse {
    DirectResponse(
      source, url: url, body: body, hops: hops, connection: connection, resolution: resolution, timings: timings)
  }
}

/// The connection that a response came over.
public struct ConnectionDetails: Sendable, Hashable {
  /// The server's address; nil through a proxy.
  public let remoteAddress: IPAddress?
  /// The server's port.
  public let remotePort: UInt16
  /// The version of HTTP.
  public let httpVersion: HTTPVersion
  /// Whether the connection was there before.
  public let isReused: Bool
  /// Addresses that failed before this one.
  public let failedAddresses: [IPAddress]

  /// Creates the details of a connection; default one of HTTP/1.1 to no address, for this response alone.
  public init(
    remoteAddress: IPAddress? = nil, remotePort: UInt16, httpVersion: HTTPVersion = .http1_1,
    isReused: Bool = false, failedAddresses: [IPAddress] = []
  ) {
    self.remoteAddress = remoteAddress
    self.remotePort = remotePort
    self.httpVersion = httpVersion
    self.isReused = isReused
    self.failedAddresses = failedAddresses
  }

  /// A version of HTTP.
  public struct HTTPVersion: Sendable, Hashable, CustomStringConvertible {
    /// The major version: 1 or 2.
    public let major: Int
    /// The minor version; 0 for HTTP/2, which has none.
    public let minor: Int

    /// HTTP/1.0.
    public static let http1_0 = HTTPVersion(major: 1, minor: 0)
    /// HTTP/1.1.
    public static let http1_1 = HTTPVersion(major: 1, minor: 1)
    /// HTTP/2.
    public static let http2 = HTTPVersion(major: 2, minor: 0)

    /// Creates a version.
    public init(major: Int, minor: Int) {
      self.major = major
      self.minor = minor
    }

    /// As OpenTelemetry has it: `1.0`, `1.1` or `2`.
    public var description: String { major == 1 ? "1.\(minor)" : "\(major)" }
  }
}

/// How long the last hop of a request took, up to its response's head.
public struct RequestTimings: Sendable, Hashable {
  /// The lookup of the address.
  public let lookup: Duration
  /// The TCP handshake; nil for a reused connection.
  public let connect: Duration?
  /// The TLS handshake; nil without TLS, and for a reused connection.
  public let tls: Duration?
  /// From the established connection to the head.
  public let firstByte: Duration
  /// The whole request, including redirects and all waiting.
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
