// SPDX-License-Identifier: Apache-2.0
/// What one transfer sends, but for its body.
struct TransferMessage: Sendable {
  var url: String
  var method: String
  /// Lines in libcurl's form, a NUL behind each: `Name: value`, `Name;` for an empty value, `Name:` for a field that
  /// libcurl must not add.
  var fields: [UInt8]
  /// Whether the caller's `Host` is among them.
  var hasOwnHost = false
  /// Fields that follow a chunked body, in the same form.
  var trailers: [UInt8] = []
  /// Whether libcurl asks for an encoded body, and decodes it.
  var decompresses = false
}

/// Where one transfer may go, beyond the addresses of its ``TransferTerms``.
struct TransferTarget: Sendable {
  var port: UInt16
  /// The host that addresses are judged for.
  var host: WebURL.Host
  /// Judges each address that is dialled.
  var policy: AddressPolicy
  /// The source of the family that the lookup did not wait for; nil if both have come, and through a proxy.
  var others: (any CurlAddressSource)?
}

/// The source of further addresses for a transfer whose first ones do not connect at once.
protocol CurlAddressSource: AnyObject, Sendable {
  /// Sets what is called with addresses that come later; called before the transfer is started.
  func setReceiver(_ deliver: @escaping @Sendable ([IPAddress]) -> Void)

  /// The addresses, which the policy has not judged yet, if they are known.
  ///
  /// Otherwise starts to look them up, and returns nil; they are delivered later, as an empty list if there are none.
  /// Called by the loop's thread, so it never waits.
  func ask() -> [IPAddress]?
}

/// Who follows a transfer; called by the loop's thread.
struct TransferWatcher: Sendable {
  var observer: (@Sendable (CurlEvent) -> Void)?
  /// Called with the number of bytes sent and received, at most ten times a second.
  var progress: (@Sendable (TransferProgress) -> Void)?
}

/// An event on the way to a response.
enum CurlEvent: Sendable {
  case connecting(IPAddress)
  case failed(IPAddress, HTTPTransportError)
  case connected(IPAddress?, isReused: Bool)
  /// A line about the TLS session, in libcurl's words.
  case secured(String)
  case wire(WireEvent)
}

/// What happens on the wire and is of use to those alone who measure it.
package enum WireEvent: Sendable, Hashable {
  /// A new connection is established, and what has to come before the request begins: TLS, or a proxy is asked for a tunnel.
  ///
  /// Through a proxy there is no address. A connection that needs neither is not told so.
  case opened(IPAddress?)
  /// Where the connection to a proxy leads.
  case proxy(IPAddress, port: UInt16)
  /// A response has begun, be it an interim one.
  case response
  /// The head of a response has come; with the interim ones before it, it had so many bytes.
  case head(bytes: Int)
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
  let message: TransferMessage
  /// Whether a handle that has served it can serve another request of its pool without a reset.
  let isPlain: Bool
  private(set) var body: Body
  private(set) var target: TransferTarget
  private(set) var watcher: TransferWatcher

  init(
    route: CurlRoute, terms: TransferTerms, target: TransferTarget, message: TransferMessage, body: Body,
    watcher: TransferWatcher = TransferWatcher()
  ) {
    self.route = route
    self.terms = terms
    self.target = target
    self.message = message
    self.body = body
    self.watcher = watcher
    let isBodiless = if case .none = body { true } else { false }
    isPlain =
      isBodiless && message.method == "GET" && message.trailers.isEmpty && !message.decompresses && !message.hasOwnHost
      && watcher.observer == nil && route.proxy == nil
  }

  /// Lets go of the body and of the caller's closures: a response that is kept would keep all of them.
  func release() {
    body = .none
    target.others = nil
    watcher = TransferWatcher()
  }

  /// Why the address must not be dialled; nil when it may be.
  func objection(to address: IPAddress) -> AddressPolicy.Objection? {
    target.policy.objection(to: address, host: target.host)
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
    if case .bytes(let bytes) = body { bytes.count <= Self.inlineBody && message.trailers.isEmpty } else { false }
  }

  /// The largest body in bytes that is copied.
  private static let inlineBody = 65_536
}

/// How far a transfer is.
public struct TransferProgress: Sendable, Hashable {
  /// Bytes of the request's body that were sent.
  public var sent: Int64
  /// Bytes of the response's body that were received, after decoding.
  public var received: Int64
  /// Bytes that the response's body has on the wire; nil when the server does not say.
  public var expected: Int64?

  /// Creates one from its parts, for a test; by default nothing has moved.
  public init(sent: Int64 = 0, received: Int64 = 0, expected: Int64? = nil) {
    self.sent = sent
    self.received = received
    self.expected = expected
  }
}
