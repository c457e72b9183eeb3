// SPDX-License-Identifier: Apache-2.0
internal import HTTPTypes

/// Where a request goes: filled in while it is looked up and judged.
///
/// A class, which one task has to itself: a copy at each step of the request would cost a retain of each part.
final class RequestTarget {
  /// What is requested: the name, no user info, no fragment.
  let url: WebURL
  /// What the caller asked for.
  let original: WebURL
  /// The fields that go out.
  var fields: HTTPFields
  /// The addresses that may be connected to, in the order of use.
  var addresses: [IPAddress] = []
  var proxy: CurlProxy?
  /// What the name may be hidden behind in a response; nil for a request that goes as it is.
  var answer: [IPAddress]?
  /// The answer that named the addresses.
  var resolution: Resolution?
  /// The family that the lookup did not wait for.
  var others: OtherFamily?
  /// How long the lookup took; nothing for what was known.
  var lookup = Duration.zero

  init(_ original: WebURL, _ fields: HTTPFields) {
    url = original.requested
    self.original = original
    self.fields = fields
  }

  /// Whether the request goes to this machine, wherever it is tried.
  var staysOnMachine: Bool {
    proxy == nil && others == nil && !addresses.isEmpty && addresses.allSatisfy(\.isLoopback)
  }

  /// Tries an address after all others.
  func moveToEnd(_ address: IPAddress?) {
    guard let address, let index = addresses.firstIndex(of: address) else { return }
    addresses.append(addresses.remove(at: index))
  }

  /// Leaves out an expectation that the server refused (RFC 9110 §10.1.1).
  func dropExpectation() { fields[.expect] = nil }

  /// The answer that named an address; nil through a proxy.
  func resolution(of address: IPAddress?) -> Resolution? {
    guard proxy == nil else { return nil }
    if let address, let other = others?.resolution, other.addresses.contains(address) { return other }
    return resolution
  }

  /// A response's head with the name put back where an address of the name stands.
  func restore(_ head: ResponseHead) -> LazyHead {
    guard let answer, head.hasRestorableField else { return LazyHead(head, nil) }
    let late = others?.resolution?.addresses
    // A password is no part of what a server said: heads are logged. Redirects keep it by themselves.
    let base = original.hasUserInfo ? (try? WebURL(original.text(userInfo: false))) ?? original : original
    return LazyHead(head, ResponseRestorer(originalURL: base, addresses: late.map { answer + $0 } ?? answer))
  }
}

/// As libcurl is told of it.
extension RequestTarget {
  /// One sending of a request.
  ///
  /// - Parameters:
  ///   - method: the method.
  ///   - body: the body.
  ///   - length: the body's length; nil where it is not known.
  ///   - call: whose request it is.
  ///   - spans: what follows the attempts to connect, where somebody does.
  ///   - isRetryable: whether it may be sent again when it may have reached the server.
  /// - Returns: what the loop's thread needs.
  func transferRequest(
    _ method: HTTPRequest.Method, _ body: RequestBody, length: Int64?, _ call: DirectClient.Call,
    _ spans: ConnectTelemetry?, isRetryable: Bool
  ) -> TransferRequest {
    let settings = call.settings
    let hasFields = !fields.isEmpty
    let cookie = settings.configuration.cookies?.cookieHeader(
      for: original, hostField: fields[.hostField], staysOnMachine: staysOnMachine)
    let lines =
      method == .get && !hasFields && cookie == nil && body.kind == .none && body.trailerFields.isEmpty
      ? settings.plainLines : FieldLines(method, fields, body, cookie: cookie, settings.configuration)
    let version = call.options.httpVersion ?? settings.configuration.httpVersion
    let route = CurlRoute(
      origin: url.originText, usesTLS: url.scheme.isSecure,
      version: body.trailerFields.isEmpty ? version : .http1, proxy: proxy,
      showsIdentity: call.showsIdentity && settings.configuration.identity != nil)
    var observer: (@Sendable (CurlEvent) -> Void)?
    if let told = call.options.observer {
      var request = HTTPRequest(method: method, url: url)
      request.headerFields = lines.fields
      told(.requesting(request))
      observer = { event in
        told(RequestEvent(event))
        spans?.note(event)
      }
    } else if let spans {
      observer = spans.note
    }
    let sent = body.sent(with: method, length: length)
    let terms = TransferTerms(
      addresses: proxy == nil ? addresses : [], isProxied: proxy != nil, hasOthers: others != nil,
      isRetryable: isRetryable, canStartOver: sent.canStartOver, hasTrailers: !body.trailerFields.isEmpty,
      expectsContinue: hasFields && fields[.expect]?.lowercased() == "100-continue",
      connectTimeout: call.timeouts.connect.wholeMilliseconds,
      firstByteTimeout: call.timeouts.firstByte.wholeMilliseconds,
      idleTimeout: call.timeouts.idle?.wholeMilliseconds, deadline: call.deadline)
    return TransferRequest(
      route: route, terms: terms, others: others, port: url.effectivePort,
      policy: settings.configuration.policy, host: original.host, url: url.href, method: method.rawValue,
      fields: lines.bytes, hasOwnHost: hasFields && fields.contains(.hostField),
      body: sent,
      trailers: FieldLines(trailers: body.trailerFields).bytes,
      decompresses: call.options.decompresses ?? settings.configuration.decompresses,
      observer: observer, progress: call.options.progress)
  }
}

extension RequestEvent {
  fileprivate init(_ event: CurlEvent) {
    self =
      switch event {
      case .connecting(let address): .connecting(address)
      case .failed(let address, let error): .connectFailed(address, reason: error.text.printable)
      case .connected(let address, let isReused): .connected(address, isReused: isReused)
      case .secured(let line): .secured(line.printable)
      }
  }
}

/// A request on its way through the client, with its URL read once.
struct ClientRequest: Sendable {
  var method: HTTPRequest.Method
  /// User info and fragment included; neither is sent.
  var url: WebURL
  var fields: HTTPFields

  init(_ method: HTTPRequest.Method, _ url: WebURL, _ fields: HTTPFields) {
    self.method = method
    self.url = url
    self.fields = fields
  }

  /// - Throws: `invalidURL` for a request that names none.
  init(_ request: HTTPRequest) throws(DirectDNSError) {
    self.init(request.method, try WebURL(request), request.headerFields)
  }

  /// The request that a redirect leads to.
  init(_ redirect: Redirect) {
    self.init(redirect.request.method, redirect.url, redirect.request.headerFields)
  }

  /// The same for those who are not of the client.
  var request: HTTPRequest { HTTPRequest(method: method, url: url, headerFields: fields) }
}
