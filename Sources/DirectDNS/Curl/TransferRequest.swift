// SPDX-License-Identifier: Apache-2.0
/// Where a transfer goes, and how it is secured: transfers with the same route share connections.
struct CurlRoute: Hashable, Sendable {
  /// Scheme, host and port.
  let origin: String
  let usesTLS: Bool
  let version: HTTPVersionChoice
  /// The proxy, if the transfer goes through one.
  let proxy: CurlProxy?
  /// Whether the server is shown the client's certificate if it asks for one.
  ///
  /// Part of the route because a connection on which the certificate was shown acts for the client: requests that must
  /// not show it need another one.
  let showsIdentity: Bool

  /// Whether each connection serves one request: libcurl 7.88 cannot use one of plain HTTP/2 again (curl#10643).
  var servesOnce: Bool { version == .http2 && !usesTLS && !CurlVersion.reusesPlainHTTP2 }
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

  /// Always with the port: without one, libcurl would take 1080 for an http proxy, and the URL standard leaves out 80.
  let url: String
  /// Nil if the URL has an address instead of a name.
  let resolvedHost: ResolvedHost?

  init(_ proxy: WebURL, resolvedHost: ResolvedHost?) {
    url = "\(proxy.scheme.rawValue)://\(proxy.userInfo)\(proxy.host):\(proxy.effectivePort)/"
    self.resolvedHost = resolvedHost
  }
}

/// One request, as the loop's thread needs it.
///
/// A class, since it is passed around a lot: a copy would cost a retain for each of its many parts. Nothing of it
/// changes but that it lets go of what the caller gave, once the transfer has ended (``release()``). These parts belong
/// to the loop's thread from the start of the transfer.
@safe final class TransferRequest: @unchecked Sendable {
  enum Body: Sendable {
    case none
    /// Bytes in memory.
    case bytes([UInt8])
    /// Bytes that a source writes piece by piece.
    case pulled(BodyUpload)

    /// Whether it can be sent again from the beginning.
    var canStartOver: Bool { if case .pulled(let upload) = self { upload.canRestart } else { true } }
  }

  let route: CurlRoute
  /// What the pool has to know.
  let terms: TransferTerms
  /// The source of the family that the lookup did not wait for; nil if both have come, and through a proxy.
  private(set) var others: (any CurlAddressSource)?
  /// The port of the connection.
  let port: UInt16
  /// The policy for the address that is finally dialled, and the host that it is judged for.
  private let policy: AddressPolicy
  private let host: WebURL.Host
  let url: String
  let method: String
  /// Lines in libcurl's form, a NUL behind each: `Name: value`, `Name;` for an empty value, `Name:` for a field that
  /// libcurl must not add.
  let fields: [UInt8]
  private(set) var body: Body
  /// Fields that follow a chunked body, in the same form.
  let trailers: [UInt8]
  let decompresses: Bool
  /// Whether a handle that has served it can serve another request of its pool without a reset.
  let isPlain: Bool
  /// Called by the loop's thread with events of the transfer.
  private(set) var observer: (@Sendable (CurlEvent) -> Void)?
  /// Called by the loop's thread with the number of bytes sent and received, at most ten times a second.
  private(set) var progress: (@Sendable (TransferProgress) -> Void)?

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

  /// Lets go of the body and of the caller's closures: a response that is kept would keep all of them.
  func release() {
    body = .none
    others = nil
    observer = nil
    progress = nil
  }
}

extension TransferRequest {
  /// Why the address must not be dialled; nil when it may be.
  func objection(to address: IPAddress) -> AddressPolicy.Objection? {
    policy.objection(to: address, host: host)
  }

  /// Whether ``StreamTrace`` is needed: the request may only be sent again if the server has not processed it.
  var followsStream: Bool {
    guard !terms.isRetryable, terms.canStartOver, !isPlain else { return false }
    return switch route.version {
    case .http1: false
    case .automatic: route.usesTLS
    case .http2: true
    }
  }

  /// Whether the whole request is sent with its head.
  var isSmall: Bool { if case .none = body { true } else { isInline } }

  /// Whether libcurl gets a copy of the whole body, and sends it along with the head.
  var isInline: Bool {
    if case .bytes(let bytes) = body { bytes.count <= Self.inlineBody && trailers.isEmpty } else { false }
  }

  /// The largest body in bytes that is copied.
  private static let inlineBody = 65_536
}

extension CurlRoute {
  /// What is known about its connections before there is one.
  var multiplexing: PoolLoad.Multiplexing {
    switch version {
    case .http1: .never
    case .automatic: usesTLS ? .unknown : .never
    case .http2: servesOnce ? .never : .always
    }
  }
}

/// The source of further addresses for a transfer whose first ones do not connect at once.
protocol CurlAddressSource: AnyObject, Sendable {
  /// Sets what is called with addresses that come later; called before the transfer is started.
  func connect(_ deliver: @escaping @Sendable ([IPAddress]) -> Void)

  /// The addresses, which the policy has not judged yet, if they are known.
  ///
  /// Otherwise starts to look them up, and returns nil; they are delivered later, as an empty list if there are none.
  /// Called by the loop's thread, so it never waits.
  func ask() -> [IPAddress]?
}

/// An event on the way to a response.
enum CurlEvent: Sendable {
  case connecting(IPAddress)
  case failed(IPAddress, HTTPTransportError)
  case connected(IPAddress?, isReused: Bool)
  /// A line about the TLS session, in libcurl's words.
  case secured(String)
}

/// The settings that all transfers of a loop share.
struct CurlTransferSettings: Sendable {
  var trust: CurlTrust
  var certificate: String?
  var key: String?
  var keyPassword: String?
  var requiresTLS13: Bool
  var limits: PoolLimits
  /// How many bytes of a response's body may wait for the reader before the transfer is paused.
  var bufferSize: Int
}
