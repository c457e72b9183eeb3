// SPDX-License-Identifier: Apache-2.0
/// Where a transfer goes and how it is secured: transfers of one route share connections.
struct CurlRoute: Hashable, Sendable {
  /// Scheme, host and port.
  let origin: String
  let usesTLS: Bool
  let version: HTTPVersionChoice
  /// The proxy's URL, where the transfer goes through one.
  let proxy: CurlProxy?
  /// Whether the server is shown the client's certificate if it asks for one.
  ///
  /// A connection on which it was shown speaks for the client: who must not show it gets another one.
  let showsIdentity: Bool
}

/// A proxy, and the addresses of its host.
struct CurlProxy: Hashable, Sendable {
  /// A name, a port, and the name's addresses in the order of use.
  ///
  /// The order is left out of comparisons: it changes while the proxy stays the same.
  struct ResolvedHost: Hashable, Sendable {
    let host: String
    let port: UInt16
    let addresses: [IPAddress]

    /// `HOST:PORT:ADDRESS,…`, so that libcurl does not look the proxy up by itself.
    var resolveEntry: String {
      "\(host):\(port):" + addresses.map { "\(WebURL.Host.address($0))" }.joined(separator: ",")
    }

    static func == (left: Self, right: Self) -> Bool {
      left.host == right.host && left.port == right.port && Set(left.addresses) == Set(right.addresses)
    }

    func hash(into hasher: inout Hasher) {
      hasher.combine(host)
      hasher.combine(port)
      hasher.combine(Set(addresses))
    }
  }

  let url: String
  /// Nil if the URL has an address instead of a name.
  let resolvedHost: ResolvedHost?
}

/// One request, as the loop's thread needs it.
///
/// A class, since it is passed around a lot and never changes: a copy of so many parts costs a retain of each.
final class TransferRequest: Sendable {
  enum Body: Sendable {
    case none
    /// Bytes that are at hand, and can be sent again.
    case bytes([UInt8])
    /// Bytes that come one after the other.
    case pulled(BodyUpload)

    /// Whether it can be sent from the beginning once more.
    var canStartOver: Bool { if case .pulled(let upload) = self { upload.canRestart } else { true } }
  }

  let route: CurlRoute
  /// What the pool goes by.
  let terms: TransferTerms
  /// The addresses of a family that was not waited for; nil where both are in, and through a proxy.
  let others: (any CurlAddressSource)?
  /// The port of the connection.
  let port: UInt16
  /// What the address that is really dialled is judged by, for that host.
  let policy: AddressPolicy
  let host: WebURL.Host
  let url: String
  let method: String
  /// Lines in libcurl's form, a NUL behind each: `Name: value`, `Name;` for an empty value, `Name:` for a field that
  /// libcurl must not add.
  let fields: [UInt8]
  let body: Body
  /// Sent after a body that goes in chunks, in the same form.
  let trailers: [UInt8]
  let decompresses: Bool
  /// Whether a handle that has served it can serve another request of its route without being reset.
  let isPlain: Bool
  /// Is told how it goes, by the loop's thread.
  let observer: (@Sendable (CurlEvent) -> Void)?
  /// Is told how many bytes went either way, by the loop's thread, some ten times a second.
  let progress: (@Sendable (TransferProgress) -> Void)?

  init(
    route: CurlRoute, terms: TransferTerms, others: (any CurlAddressSource)?, port: UInt16, policy: AddressPolicy,
    host: WebURL.Host, url: String, method: String, fields: [UInt8], hasOwnHost: Bool, body: Body, trailers: [UInt8],
    decompresses: Bool, observer: (@Sendable (CurlEvent) -> Void)? = nil,
    progress: (@Sendable (TransferProgress) -> Void)? = nil
  ) {
    self.route = route
    self.terms = terms
    self.others = others
    self.port = port
    self.policy = policy
    self.host = host
    self.url = url
    self.method = method
    self.fields = fields
    self.body = body
    self.trailers = trailers
    self.decompresses = decompresses
    self.observer = observer
    self.progress = progress
    let isBodiless = if case .none = body { true } else { false }
    isPlain =
      isBodiless && method == "GET" && trailers.isEmpty && !decompresses && !hasOwnHost && observer == nil
      && route.proxy == nil
  }
}

extension TransferRequest {
  /// Whether it matters what becomes of its stream: it may be sent again only where the server did not process it.
  var followsStream: Bool {
    guard !terms.isRetryable, terms.canStartOver, !isPlain else { return false }
    return switch route.version {
    case .http1: false
    case .automatic: route.usesTLS
    case .http2: true
    }
  }

  /// Whether all of it goes out with its head.
  var isSmall: Bool { if case .none = body { true } else { isInline } }

  /// Whether libcurl gets a copy of the whole body, and sends it along with the head.
  var isInline: Bool {
    if case .bytes(let bytes) = body { bytes.count <= Self.inlineBody && trailers.isEmpty } else { false }
  }

  /// Up to here a body is copied.
  private static let inlineBody = 65_536
}

extension CurlRoute {
  /// What is known of its connections before there is one.
  var multiplexing: PoolLoad.Multiplexing {
    switch version {
    case .http1: .never
    case .automatic: usesTLS ? .unknown : .never
    case .http2: .always
    }
  }
}

/// Where further addresses come from, once those of an order bring no connection at once.
protocol CurlAddressSource: AnyObject, Sendable {
  /// Says where the addresses go that come later; set before a transfer is started.
  func connect(_ deliver: @escaping @Sendable ([IPAddress]) -> Void)

  /// The addresses, judged by nobody yet, if they are known.
  ///
  /// If they are not, finding them out begins, and they are delivered later, none if there are none. Never
  /// waits: the loop's thread asks.
  func ask() -> [IPAddress]?
}

/// What happens on the way to a response.
enum CurlEvent: Sendable {
  case connecting(IPAddress)
  case failed(IPAddress, HTTPTransportError)
  case connected(IPAddress?, isReused: Bool)
  /// A line about the TLS session, in libcurl's words.
  case secured(String)
}

/// What is the same for all transfers of a loop.
struct CurlTransferSettings: Sendable {
  var trust: CurlTrust
  var certificate: String?
  var key: String?
  var keyPassword: String?
  var requiresTLS13: Bool
  var limits: PoolLimits
  /// Bytes of a response's body that are kept for a reader before the transfer waits for it.
  var bufferSize: Int
}
