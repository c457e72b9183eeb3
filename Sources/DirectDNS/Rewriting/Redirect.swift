// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes

/// The next request after a response that redirects (RFC 9110 §15.4).
///
/// A pure function of the request, the response and the rules: it resolves nothing and sends nothing, so that any HTTP
/// client can use it. It works with names: restore the response to a ``DirectRequest`` first. Resolve, check and
/// rewrite the next request again, since it may lead anywhere.
public struct Redirect: Hashable, Sendable {
  /// Which kind of body a request has.
  public enum Body: Hashable, Sendable {
    /// No body.
    case none
    /// A body that can be sent again.
    case replayable
    /// A body that can be sent only once, such as a stream.
    case oneShot
  }

  /// The request to send next, without `originalUrl`.
  public let request: HTTPRequest
  /// The URL of ``request``, with user info and fragment; choose the cookies for it.
  public let url: WebURL
  /// Whether the body is sent again.
  public let keepsBody: Bool
  /// Whether the next request goes to another origin, and so without credentials.
  public let crossesOrigin: Bool

  /// The next request after a response.
  ///
  /// Each hop starts from the one before, so what was dropped on the way to another origin stays dropped on the way
  /// back. Cookies are up to the caller: store those of the response before the next request, pass `request` without
  /// the jar's cookies, and choose them again for ``url``.
  ///
  /// - Parameters:
  ///   - response: the response's head, with names and not addresses in its `Location`; see ``ResponseRestorer``. A
  ///     blank `Location` is ignored; one that is only a fragment leads to the same URL (Fetch).
  ///   - request: the request that it answers, as it was before it was rewritten and before a jar added cookies.
  ///   - body: which kind of body the request has; none by default.
  ///   - hops: how many redirects were followed before this one.
  ///   - configuration: the rules.
  /// - Returns: the next request; nil if there is no redirect to follow, and the response is for the caller.
  /// - Throws: `tooManyRedirects`; `redirectRefused` for a target that is not a URL of http or https (for a WebSocket,
  ///   of ws or wss), or that the rules forbid; `bodyNotReplayable` if the body is needed again and can be sent only
  ///   once; `invalidURL` if `request` has no valid URL. The message names origins, never paths, queries or user info.
  public static func next(
    after response: HTTPResponse, to request: HTTPRequest, body: Body = .none, hops: Int,
    configuration: RedirectConfiguration = RedirectConfiguration()
  ) throws(DirectDNSError) -> Redirect? {
    let status = response.status.code
    guard let method = method(after: status, request.method, configuration.postRedirect) else { return nil }
    let fields = response.headerFields.filter { $0.name == .location }
    let locations = Set(fields.map(\.reference).filter { !$0.isBlankReference })
    guard let location = locations.first else { return nil }
    let source = try WebURL(request)
    guard hops < configuration.limit else {
      throw DirectDNSError(
        .tooManyRedirects,
        "\(Origin(source)) redirects once more after \(hops) redirects, and the limit is \(configuration.limit): "
          + "look for a loop, or raise the limit.")
    }
    // Someone who can add a field to a response must not get to choose the target (Fetch, "location URL").
    guard locations.count == 1 else {
      throw refused(source, "with \(locations.count) different Location fields: it must send one")
    }
    let target = try target(of: location, source, configuration)
    let dropsBody = method != request.method || (status == 303 && body != .none)
    guard dropsBody || body != .oneShot else {
      throw DirectDNSError(
        .bodyNotReplayable,
        "\(Origin(source)) redirects with \(status), which needs the request's body again, and the body is a stream "
          + "that can be sent only once: use a body that can be replayed.")
    }
    let kept = RedirectFields(
      source: source, target: target, dropsBody: dropsBody, secretFields: configuration.secretFields)
    var next = located(at: target, after: source, request)
    next.method = method
    next.headerFields = kept.next(request.headerFields)
    return Redirect(
      request: next, url: try WebURL(next), keepsBody: body != .none && !dropsBody,
      crossesOrigin: Origin(source) != Origin(target))
  }

  /// The method of the next request; nil when the status does not redirect.
  ///
  /// 300 leaves a choice to the caller, 304 is not a redirect, 305 and 306 are out of use.
  private static func method(
    after status: Int, _ method: HTTPRequest.Method, _ postRedirect: RedirectConfiguration.PostRedirect
  ) -> HTTPRequest.Method? {
    switch status {
    case 301, 302: method == .post && postRedirect == .toGET ? .get : method
    case 303: method == .head ? .head : .get
    case 307, 308: method
    default: nil
    }
  }

  /// Where a `Location` leads.
  private static func target(
    of location: String, _ source: WebURL, _ configuration: RedirectConfiguration
  ) throws(DirectDNSError) -> WebURL {
    let target: WebURL
    do {
      target = try WebURL(location, base: source)
    } catch {
      throw DirectDNSError(
        .redirectRefused, "\(Origin(source)) redirects to what cannot be requested: \(error.clause).", underlying: error
      )
    }
    // RFC 6455 §4.1 allows a WebSocket handshake to be redirected: it must stay one, and no other request may become
    // one.
    guard target.scheme.isWebSocket == source.scheme.isWebSocket else {
      let expected = source.scheme.isWebSocket ? "ws or wss" : "http or https"
      throw refused(source, "to \(Origin(target)): only \(expected) is followed from there")
    }
    guard configuration.downgrade == .allowed || !source.scheme.isSecure || target.scheme.isSecure else {
      throw refused(
        source, "to \(Origin(target)), which is plain text: allow the downgrade, or ask for that URL itself")
    }
    return target
  }

  /// The request for its new URL, which may inherit user info and fragment from the URL that redirects.
  private static func located(at target: WebURL, after source: WebURL, _ request: HTTPRequest) -> HTTPRequest {
    let located = HTTPRequest(url: target)
    var next = request
    next.scheme = located.scheme
    next.path = located.path
    next.authority = located.authority
    // User info belongs to its origin: it is kept within it, and neither sent to another one nor taken from another
    // one.
    if Origin(source) != Origin(target) {
      next.authority = target.hostAndPort
    } else if located.authority == target.hostAndPort {
      next.authority = HTTPRequest(url: source).authority
    }
    // RFC 9110 §10.2.2.
    if target.fragment == nil, let fragment = source.fragment { next.path = "\(target.requestTarget)#\(fragment)" }
    return next
  }

  private static func refused(_ source: WebURL, _ reason: String) -> DirectDNSError {
    DirectDNSError(.redirectRefused, "\(Origin(source)) redirects \(reason).")
  }
}

extension WebURL.Scheme {
  fileprivate var isWebSocket: Bool { self == .ws || self == .wss }
}

/// How redirects are followed.
public struct RedirectConfiguration: Hashable, Sendable {
  /// What happens to a POST that is answered with 301 or 302.
  public enum PostRedirect: Hashable, Sendable {
    /// It becomes a GET without a body, as browsers have always done (RFC 9110 §15.4.2).
    case toGET
    /// It stays a POST and keeps its body.
    case keep
  }

  /// What happens to a redirect from TLS to plain text.
  public enum Downgrade: Hashable, Sendable {
    /// It is followed, without credentials, since the origin is another one.
    case allowed
    /// It is an error.
    case refused
  }

  /// How many redirects are followed in a row; the next one is an error.
  ///
  /// Default: 20. With 0 the first redirect is an error. Less counts as 0, and a client's configuration refuses it.
  public var limit: Int
  /// What happens to a POST that is answered with 301 or 302; ``PostRedirect/toGET`` by default.
  public var postRedirect: PostRedirect
  /// What happens to a redirect from TLS to plain text; ``Downgrade/allowed`` by default.
  public var downgrade: Downgrade
  /// Fields that hold secrets of the caller's own, such as an API key; none by default.
  ///
  /// They are not sent to another origin, and neither are `Authorization` and `Cookie`, which need not be named here.
  public var secretFields: Set<HTTPField.Name>

  /// Creates a configuration.
  public init(
    limit: Int = 20, postRedirect: PostRedirect = .toGET, downgrade: Downgrade = .allowed,
    secretFields: Set<HTTPField.Name> = []
  ) {
    self.limit = limit
    self.postRedirect = postRedirect
    self.downgrade = downgrade
    self.secretFields = secretFields
  }
}

/// Makes the header fields of the next request from those of the last one.
///
/// Fields that are kept keep their order, their spelling and their number.
struct RedirectFields {
  let source: WebURL
  let target: WebURL
  /// Whether the next request goes without the body that this one has, or could have.
  let dropsBody: Bool
  let secretFields: Set<HTTPField.Name>

  private var crossesOrigin: Bool { Origin(source) != Origin(target) }

  func next(_ fields: HTTPFields) -> HTTPFields { HTTPFields(fields.compactMap(next)) }

  private func next(_ field: HTTPField) -> HTTPField? {
    let name = field.name.canonicalName
    // The proxy's password is not for origins, and `originalUrl` belongs to the hop that it was made for.
    guard field.name != .proxyAuthorization, field.name != .originalURL else { return nil }
    if crossesOrigin, Self.ofOneOrigin.contains(name) || secretFields.contains(field.name) { return nil }
    if dropsBody, Self.isAboutBody(name) { return nil }
    return field.name == .referer ? referer(field) : field
  }

  /// Fields that name an origin or hold its credentials: they are not sent to another origin.
  ///
  /// CVE-2018-1000007, CVE-2022-27774 and CVE-2022-27776 are about clients that took another port or scheme of the same
  /// host for the same origin.
  private static let ofOneOrigin: Set = ["authorization", "cookie", "cookie2", "host", "origin", "www-authenticate"]

  private static func isAboutBody(_ name: String) -> Bool {
    name.hasPrefix("content-") || name == "transfer-encoding" || name == "expect"
  }

  /// The field without user info and fragment (CVE-2021-22876); to another origin only its origin.
  private func referer(_ field: HTTPField) -> HTTPField? {
    guard !field.value.isEmpty else { return field }
    guard let url = try? WebURL(field.value, base: source) else { return nil }
    // RFC 9110 §10.1.3: the URL of a secure page is not sent over plain text.
    guard target.scheme.isSecure || !(url.scheme.isSecure || source.scheme.isSecure) else { return nil }
    var cleaned = field
    let shown = crossesOrigin ? "\(Origin(url))/" : url.text(userInfo: false, fragment: false)
    // A value from which nothing is removed keeps its spelling.
    if shown != url.href { cleaned.value = shown }
    return cleaned
  }
}
