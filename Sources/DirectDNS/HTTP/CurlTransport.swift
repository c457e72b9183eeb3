internal import HTTPTypes

/// DNS requests over libcurl: HTTP/2 over TLS, one connection per endpoint, strict about certificates.
///
/// No proxy, no netrc, no redirects, no cookies, no look-up of its own: a host that is no address must come with
/// addresses.
public final class CurlTransport: HTTPTransport {
  private let loop = CurlLoop()
  private let trust: CurlTrust
  private let lanes = Locked<[(endpoint: HTTPEndpoint, lane: CurlLane)]>([])

  /// Creates a transport.
  ///
  /// - Parameter trust: whose certificates are trusted; by default the system's.
  /// - Throws: an error of code ``DirectDNSError/Code/invalidConfiguration`` when a private CA's file cannot be
  ///   used.
  public init(trust: TrustStore = TrustStore()) throws(DirectDNSError) {
    self.trust = try trust.resolved()
  }

  /// Sends a request over the endpoint's connection; at most fifty are in flight per endpoint, the others wait
  /// in the order of their arrival (BIND 9.18 closes a connection at sixty-four).
  public func send(
    _ message: HTTPMessage, to endpoint: HTTPEndpoint, timeout: Duration
  ) async throws(HTTPTransportError) -> HTTPReply {
    let request = CurlRequest(
      lane: try lane(endpoint), url: message.url,
      fields: message.fields.map { "\($0.name.rawName): \($0.value)" }, body: message.body,
      timeout: timeout.wholeMilliseconds, bodyLimit: HTTPEndpoint.bodyLimit, wantedFields: Self.wantedFields)
    let response: CurlResponse
    do {
      response = try await loop.perform(request)
    } catch {
      throw HTTPTransportError(error)
    }
    var fields = HTTPFields()
    for (name, value) in response.fields {
      guard let name = HTTPField.Name(name) else { continue }
      fields.append(HTTPField(name: name, value: value))
    }
    return HTTPReply(
      status: .init(code: response.status), fields: fields, body: response.body, address: response.address)
  }

  /// Makes the next request to each endpoint open a new connection.
  public func networkDidChange() { loop.forgetConnections() }

  /// Ends every request and the transport's thread.
  public func shutDown() { loop.stop() }

  private static let wantedFields = ["Content-Type", "Age", "Cache-Control", "Retry-After"]

  private func lane(_ endpoint: HTTPEndpoint) throws(HTTPTransportError) -> CurlLane {
    // A handful of endpoints: comparing them is cheaper than hashing their URLs.
    try lanes.withLock { lanes throws(HTTPTransportError) in
      if let known = lanes.first(where: { $0.endpoint == endpoint }) { return known.lane }
      let url = endpoint.url
      var addresses: String?
      if case .name(let name) = url.host {
        // Without addresses libcurl would ask the system's DNS by itself, out of sight of all that this library promises.
        guard !endpoint.addresses.isEmpty else { throw .connect("no address is known for \(name)") }
        addresses = "\(name):\(url.effectivePort):" + endpoint.addresses.map(\.curlForm).joined(separator: ",")
      }
      let lane = CurlLane(addresses: addresses, usesTLS: url.scheme.isSecure, trust: trust, width: Self.laneWidth)
      // An endpoint whose addresses were looked up anew takes the place of what it was.
      lanes.removeAll { $0.endpoint.url == url }
      lanes.append((endpoint, lane))
      return lane
    }
  }

  /// BIND 9.18 closes a connection at sixty-four queries in flight; dnsdist takes a hundred.
  private static let laneWidth = 50
}

extension IPAddress {
  fileprivate var curlForm: String { family == .ipv6 ? "[\(self)]" : description }
}

extension HTTPTransportError {
  fileprivate init(_ error: CurlError) {
    self =
      switch error {
      case .connect(let reason): .connect(reason)
      case .tls(let reason): .tls(reason)
      case .timedOut: .timedOut
      case .bodyTooLarge: .bodyTooLarge
      case .connectionLost(let reason): .connectionLost(reason)
      case .invalidRequest(let reason): .invalidRequest(reason)
      case .cancelled: .cancelled
      case .shutDown: .shutDown
      }
  }
}
