// SPDX-License-Identifier: Apache-2.0
internal import HTTPTypes

/// Where one hop of a request goes: filled in while it is looked up and judged.
///
/// A class used by one task only: a copy at each step would cost a retain for each part.
final class RequestTarget {
  /// The URL that is requested: with the name, and without user info and fragment.
  let url: WebURL
  /// The URL as the caller, or a redirect, gave it.
  let original: WebURL
  let host: WebURL.Host
  var fields: HTTPFields
  /// The addresses that may be connected to, in the order of use.
  var addresses: [IPAddress] = []
  var proxy: CurlProxy?
  /// All addresses of the name, any of which a response may have in its place; nil if the request is not direct.
  var answer: [IPAddress]?
  /// The DNS answer that the addresses came from.
  var resolution: Resolution?
  /// The family that the lookup did not wait for.
  var others: OtherFamily?
  /// How long the lookup took; zero if the cache had the answer.
  var lookup = Duration.zero

  init(_ original: WebURL, _ host: WebURL.Host, _ fields: HTTPFields) {
    url = original.requested
    self.original = original
    self.host = host
    self.fields = fields
  }

  /// Whether all addresses that may be tried are this machine's.
  var staysOnMachine: Bool {
    proxy == nil && others == nil && !addresses.isEmpty && addresses.allSatisfy(\.isLoopback)
  }

  func moveToEnd(_ address: IPAddress?) {
    guard let address, let index = addresses.firstIndex(of: address) else { return }
    addresses.append(addresses.remove(at: index))
  }

  /// The DNS answer that an address came from; nil through a proxy.
  func resolution(of address: IPAddress?) -> Resolution? {
    guard proxy == nil else { return nil }
    if let address, let other = others?.resolution, other.addresses.contains(address) { return other }
    return resolution
  }

  /// An error about forbidden addresses, with who gave them: it may be the DNS that is wrong, and not the policy.
  ///
  /// - Parameters:
  ///   - error: why the request is not sent.
  ///   - policy: what judged the addresses.
  ///   - asksProviders: whether providers are asked for the name, so that there is somebody to compare.
  /// - Returns: the error; unchanged if no DNS gave the addresses, or one of them is allowed.
  func namingSource(in error: DirectDNSError, _ policy: AddressPolicy, asksProviders: Bool) -> DirectDNSError {
    guard error.code == .addressForbidden, case .name(let name) = host, let source = resolution?.source,
      let server = source.provider ?? ([.system, .store].contains(source) ? source.kind : nil),
      addresses.allSatisfy({ policy.objection(to: $0, host: host) != nil })
    else { return error }
    let answer = addresses.prefix(4).map(\.description) + (addresses.count > 4 ? ["…"] : [])
    let advice = asksProviders ? "; if that is wrong, dnsctl compare \(name) shows who says what" : ""
    let attempt = DirectDNSError.Attempt(
      server: server, reason: "answered \(answer.joined(separator: ", "))\(advice)")
    return DirectDNSError(error.code, error.message, attempts: [attempt], underlying: error.underlying)
  }

  /// What puts the name back into a response's head, where the server used an address; nil if it has no field for that.
  func restorer(of lines: HeadLines) -> ResponseRestorer? {
    guard let answer, lines.hasRestorableField else { return nil }
    let late = others?.resolution?.addresses
    // The password must not get into the head, which may be logged; a redirect takes it from the original URL.
    let base = original.hasUserInfo ? (try? WebURL(original.text(userInfo: false))) ?? original : original
    return ResponseRestorer(originalURL: base, addresses: late.map { answer + $0 } ?? answer)
  }
}

/// The request in libcurl's terms.
extension RequestTarget {
  /// Makes the request of one transfer.
  ///
  /// - Parameters:
  ///   - method: the method.
  ///   - body: the body.
  ///   - length: the body's length; nil if it is not known.
  ///   - call: the request that it is part of.
  ///   - spans: the spans of the attempts to connect; nil without tracing.
  ///   - isRetryable: whether it may be sent again although it may have reached the server.
  /// - Returns: everything that the loop's thread needs.
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
    let mayBeHTTP2 = body.trailerFields.isEmpty && lines.fitHTTP2(with: url)
    let route = CurlRoute(
      origin: url.originText, usesTLS: url.scheme.isSecure, version: mayBeHTTP2 ? version : .http1, proxy: proxy,
      showsIdentity: call.showsIdentity && settings.configuration.identity != nil)
    let watcher = watcher(of: method, lines, call.options, spans)
    let sent = body.sent(with: method, length: length)
    let terms = terms(of: sent, hasTrailers: !body.trailerFields.isEmpty, call, isRetryable: isRetryable)
    return TransferRequest(
      route: route, terms: terms,
      target: TransferTarget(
        port: url.effectivePort, host: host, policy: settings.configuration.policy, others: others),
      message: TransferMessage(
        url: url.href, method: method.rawValue, fields: lines.bytes,
        hasOwnHost: hasFields && fields.contains(.hostField),
        trailers: body.trailerFields.isEmpty ? [] : FieldLines(trailers: body.trailerFields).bytes,
        decompresses: call.options.decompresses ?? settings.configuration.decompresses),
      body: sent, watcher: watcher)
  }

  /// Who follows a transfer: the spans, and the caller's observer, who is told of the request now.
  private func watcher(
    of method: HTTPRequest.Method, _ lines: FieldLines, _ options: RequestOptions, _ spans: ConnectTelemetry?
  ) -> TransferWatcher {
    var observer: (@Sendable (CurlEvent) -> Void)?
    if let report = options.observer {
      var request = HTTPRequest(method: method, url: url)
      request.headerFields = lines.fields
      report(.requesting(request))
      let measure = options.wireObserver
      observer = { event in
        if case .wire(let event) = event { measure?(event) }
        if let event = RequestEvent(event) { report(event) }
        spans?.note(event)
      }
    } else if let spans {
      observer = spans.note
    }
    return TransferWatcher(observer: observer, progress: options.progress)
  }

  private func terms(
    of body: TransferRequest.Body, hasTrailers: Bool, _ call: DirectClient.Call, isRetryable: Bool
  ) -> TransferTerms {
    TransferTerms(
      addresses: proxy == nil ? addresses : [], isProxied: proxy != nil, hasOthers: others != nil,
      isRetryable: isRetryable, canStartOver: body.canStartOver, hasTrailers: hasTrailers,
      // As libcurl reads the field (`Curl_compareheader`), which may be a list (RFC 9110 §10.1.1).
      expectsContinue: !fields.isEmpty && fields[.expect]?.lowercased().contains("100-continue") == true,
      connectTimeout: call.timeouts.connect.wholeMilliseconds,
      firstByteTimeout: call.timeouts.firstByte.wholeMilliseconds,
      idleTimeout: call.timeouts.idle?.wholeMilliseconds, deadline: call.deadline)
  }
}

extension RequestEvent {
  /// The event as everybody is told of it; nil for what is not.
  fileprivate init?(_ event: CurlEvent) {
    switch event {
    case .connecting(let address): self = .connecting(address)
    case .failed(let address, let error): self = .connectFailed(address, reason: error.text.printable)
    case .connected(let address, let isReused): self = .connected(address, isReused: isReused)
    case .secured(let session): self = .secured(session: session.printable)
    case .wire: return nil
    }
  }
}

/// A request on its way through the client; its URL is parsed only once.
struct ClientRequest: Sendable {
  var method: HTTPRequest.Method
  /// The URL with user info and fragment, neither of which is sent.
  var url: WebURL
  var fields: HTTPFields

  init(_ method: HTTPRequest.Method, _ url: WebURL, _ fields: HTTPFields) {
    self.method = method
    self.url = url
    self.fields = fields
  }

  /// Takes over a request.
  ///
  /// - Throws: `invalidURL` for a request without a valid URL.
  init(_ request: HTTPRequest) throws(DirectDNSError) {
    self.init(request.method, try WebURL(request), request.headerFields)
  }

  /// The request that a redirect leads to.
  init(_ redirect: Redirect) {
    self.init(redirect.request.method, redirect.url, redirect.request.headerFields)
  }

  /// The request in the form of swift-http-types.
  var request: HTTPRequest { HTTPRequest(method: method, url: url, headerFields: fields) }
}
