// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes

/// Turns a request for a name into one that goes straight to an address.
///
/// A pure function of the request, the answer and these settings: it resolves nothing and sends nothing, so that any
/// HTTP client can use it. It does not touch bodies.
public struct RequestRewriter: Hashable, Sendable {
  /// Where the address goes; into the URL by default.
  public var form: DirectRequest.Form
  /// Which addresses may be connected to; public ones only by default.
  public var policy: AddressPolicy
  /// For which names requests are rewritten at all; on by default, for all of them.
  public var direct: DirectSwitch

  /// Creates a rewriter.
  public init(
    form: DirectRequest.Form = .literal, policy: AddressPolicy = .publicOnly, direct: DirectSwitch = .on
  ) {
    self.form = form
    self.policy = policy
    self.direct = direct
  }

  /// Rewrites a request.
  ///
  /// Rewriting twice is the same as once. A caller's own `Host` stays. User info becomes `Authorization` unless the
  /// caller set one, and the fragment is removed. So are a foreign `originalUrl`, and `Proxy-Authorization`, which is
  /// not for origins.
  ///
  /// If the URL has an address, only that address can allow the request. Its `Host` or `originalUrl` can forbid it but
  /// never allow it, since anybody can write them.
  ///
  /// - Parameters:
  ///   - request: the request, with scheme, authority and path; see `HTTPRequest.init(method:url:headerFields:)`.
  ///   - answer: the addresses of the URL's host, in the order of use, such as a resolution's.
  ///   - throughProxy: whether the request will go through a proxy, which then connects by name.
  /// - Returns: the request to send, or why it is left as it is, or why it must not be sent.
  public func rewrite(
    _ request: HTTPRequest, using answer: some Sequence<IPAddress>, throughProxy: Bool = false
  ) -> RewriteOutcome {
    if let scheme = request.scheme, WebURL.Scheme(rawValue: scheme.lowercased()) == nil {
      return .bypassed(request.withoutOriginalURL, reason: .otherScheme)
    }
    do throws(DirectDNSError) {
      let url = try WebURL(request)
      let answer = Array(answer)
      return switch try decide(request.headerFields, url, url.host, nil, answer, throughProxy: throughProxy) {
      case .bypassed(.alreadyRewritten): .bypassed(request, reason: .alreadyRewritten)
      case .bypassed(let reason): .bypassed(request.withoutOriginalURL, reason: reason)
      case .direct(let name, let addresses):
        .direct(DirectRequest(form, request, url, name, addresses: addresses, answer: answer))
      }
    } catch {
      return .refused(error)
    }
  }

  /// Where a request goes.
  enum Decision {
    /// Straight to these addresses of the name.
    case direct(HostName, addresses: [IPAddress])
    /// As it is.
    case bypassed(RewriteOutcome.BypassReason)
  }

  /// Decides where a request goes, before anything is rewritten; `known` is the host as a name, if it was read already.
  ///
  /// - Throws: why it must not be sent.
  func decide(
    _ fields: HTTPFields, _ url: WebURL, _ host: WebURL.Host, _ known: HostName?, _ answer: [IPAddress],
    throughProxy: Bool
  ) throws(DirectDNSError) -> Decision {
    if !fields.isEmpty { try checkFields(fields) }
    try policy.check(host)
    if case .address(let address) = host {
      _ = try policy.allowed(CollectionOfOne(address), for: host)
      guard let original = fields.original(of: url) else { return .bypassed(.addressLiteral) }
      try policy.check(original.host)
      return .bypassed(.alreadyRewritten)
    }
    let name = if let known { known } else { try HostName(host) }
    guard direct.isOn(for: name) else { return .bypassed(.directOff) }
    if throughProxy { return .bypassed(.proxy) }
    guard !answer.isEmpty else { return .bypassed(.noAddress) }
    let areAllowed = answer.allSatisfy { policy.objection(to: $0, host: host) == nil }
    return .direct(name, addresses: areAllowed ? answer : try policy.allowed(answer, for: host))
  }

  /// Checks that there are not too many fields, and that there is at most one `Host`, which the policy allows.
  private func checkFields(_ fields: HTTPFields) throws(DirectDNSError) {
    guard fields.count <= RequestRewriter.maximumFields else {
      throw DirectDNSError(
        .invalidRequest,
        "The request has \(fields.count) header fields: no server takes more than \(RequestRewriter.maximumFields).")
    }
    let hosts = fields[values: .hostField]
    guard hosts.count <= 1 else {
      throw DirectDNSError(.invalidRequest, "The request has more than one Host field: leave one, or none.")
    }
    guard let host = hosts.first else { return }
    do {
      try policy.check(WebURL.HostAndPort(host.utf8.span).host)
    } catch {
      guard error.code == .addressForbidden else {
        throw DirectDNSError(.invalidRequest, "The request's Host field is not a host: \(error.clause).")
      }
      throw error
    }
  }

  private static let maximumFields = 10_000
}

extension DirectRequest {
  /// Rewrites a request to go to the first of its addresses.
  fileprivate init(
    _ form: Form, _ request: HTTPRequest, _ url: WebURL, _ name: HostName, addresses: [IPAddress], answer: [IPAddress]
  ) {
    self.form = form
    originalURL = url
    self.addresses = addresses
    self.answer = answer
    serverName = url.scheme.isSecure ? name : nil
    var fields = request.headerFields.forOrigin(of: url)
    fields[.originalURL] = nil
    let ownHost = fields[.hostField]
    host = ownHost ?? url.hostAndPort
    switch form {
    case .pinned: self.url = url.requested
    case .literal:
      self.url = url.requested(from: .address(addresses[0]))
      // RFC 9112 §3.2: Host goes first.
      if ownHost == nil { fields.insert(HTTPField(name: .hostField, value: url.hostAndPort), at: 0) }
      fields.append(HTTPField(name: .originalURL, value: url.text(fragment: false)))
    }
    var moved = request
    // Setting one of them checks and copies it, and most do not change.
    let (scheme, authority, path) = (url.scheme.rawValue, self.url.hostAndPort, url.requestTarget)
    if moved.scheme != scheme { moved.scheme = scheme }
    if moved.authority != authority { moved.authority = authority }
    if moved.path != path { moved.path = path }
    moved.headerFields = fields
    self.request = moved
  }
}

extension HTTPRequest {
  /// The request without `originalUrl`, which only this library may set.
  fileprivate var withoutOriginalURL: HTTPRequest {
    guard headerFields.contains(.originalURL) else { return self }
    var request = self
    request.headerFields[.originalURL] = nil
    return request
  }
}

extension HTTPFields {
  /// The fields without `Proxy-Authorization`, and with the URL's user info as `Authorization` unless there is one.
  package func forOrigin(of url: WebURL) -> HTTPFields {
    guard !isEmpty || url.hasUserInfo else { return self }
    var fields = self
    fields[.proxyAuthorization] = nil
    if url.hasUserInfo, fields[.authorization] == nil { fields[.authorization] = url.basicCredentials }
    return fields
  }

  /// The URL in `originalUrl`, with the name, if rewriting a request to it would give this URL; otherwise nil.
  fileprivate func original(of url: WebURL) -> WebURL? {
    guard contains(.hostField), self[values: .originalURL].count == 1, let text = self[.originalURL],
      let original = try? WebURL(text), case .name = original.host
    else { return nil }
    let isOurs = original.text(host: url.host, userInfo: false) == url.href && original.text(fragment: false) == text
    return isOurs ? original : nil
  }
}

extension WebURL {
  /// The URL as it is requested: without user info and fragment.
  var requested: WebURL { hasUserInfo || layout.queryEnd < href.utf8.count ? requested(from: host) : self }

  /// The URL as it is requested from a host: without user info and fragment.
  func requested(from host: Host) -> WebURL {
    let text = text(host: host, userInfo: false, fragment: false)
    var layout = layout
    let hostEnd = UInt32(text.utf8.count) - (layout.queryEnd - layout.hostEnd)
    // Unsigned: a shift to the left wraps around.
    let shift = hostEnd &- layout.hostEnd
    layout.usernameEnd = layout.authorityStart
    layout.hostStart = layout.authorityStart
    layout.hostEnd = hostEnd
    layout.pathStart &+= shift
    layout.pathEnd &+= shift
    layout.queryEnd &+= shift
    layout.address = Layout.HostAddress(host)
    return WebURL(href: text, layout: layout)
  }

  /// The URL's user info as the value of `Authorization` (RFC 7617); nil without user info.
  ///
  /// It is a secret.
  package var basicCredentials: String? {
    guard !userInfo.isEmpty else { return nil }
    let pair = PercentEncoding.decoded(username.utf8.span) + [ASCII.colon] + PercentEncoding.decoded(password.utf8.span)
    return "Basic " + Base64.encoded(pair)
  }
}
