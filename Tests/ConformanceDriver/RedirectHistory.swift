// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import Foundation
import HTTPTypes

/// What came before a redirect: earlier hops, and a cookie jar.
///
/// `via` names the URLs that were asked before the request's own, of which the first got `initial_headers`; `jar` has the
/// cookies that were there, and `response_set_cookie` those of the redirecting response.
struct RedirectHistory {
  private let asked: JSONObject
  private let status: Int
  private let url: WebURL
  private let via: [WebURL]
  private let jar: CookieJar?

  init(_ asked: JSONObject, _ response: JSONObject, status: Int) throws {
    self.asked = asked
    self.status = status
    url = try WebURL(text(asked, "url"))
    via = try Self.list(asked["via"]).map { try WebURL(Self.field($0, "url")) }
    let received = Self.list(asked["response_set_cookie"] ?? response["response_set_cookie"] ?? response["set_cookie"])
    guard asked["jar"] != nil || !received.isEmpty else {
      jar = nil
      return
    }
    let jar = CookieJar()
    for cookie in Self.list(asked["jar"]) {
      let (place, fields) = try Self.stored(cookie, url)
      jar.store(setCookie: fields, for: place)
    }
    for cookie in received { jar.store(setCookie: [try Self.field(cookie, "set_cookie")], for: url) }
    self.jar = jar
  }

  /// A cookie of the jar: a `Set-Cookie` field of the request's own URL or another's, or its parts.
  private static func stored(_ cookie: Any, _ url: WebURL) throws -> (WebURL, [String]) {
    guard let parts = cookie as? JSONObject else { return (url, [try field(cookie, "set_cookie")]) }
    guard let name = parts["name"] as? String else {
      let fields = try list(parts["set_cookie"]).map { try field($0, "set_cookie") }
      return (try parts["url"].map { try WebURL(field($0, "url")) } ?? url, fields)
    }
    let host = (parts["domain"] ?? parts["host"]) as? String ?? url.host.description
    let rest = parts["path"].map { "; Path=\($0)" } ?? ""
    return (try WebURL("https://\(host)/"), ["\(name)=\(parts["value"] as? String ?? "")" + rest])
  }

  /// How many redirects were followed before.
  var hops: Int { via.count }

  /// The request that is redirected, as the hops before made it.
  func request() throws -> (HTTPRequest, Redirect.Body) {
    guard let method = HTTPRequest.Method(try text(asked, "method")) else { throw MissingField(name: "method") }
    var body: Redirect.Body = asked["body"] is String ? .replayable : .none
    let fields = try RedirectCase.fields(
      via.isEmpty ? asked["headers"] : asked["initial_headers"] ?? asked["headers"])
    var request = HTTPRequest(method: method, url: via.first ?? url, headerFields: fields)
    for (index, next) in (via.dropFirst() + [url]).enumerated() where !via.isEmpty {
      let redirect = try Redirect.next(
        after: RedirectCase.response(status, [next.href]), to: request, body: body, hops: index)
      guard let redirect else { throw MissingField(name: "a status that redirects") }
      (request, body) = (redirect.request, redirect.keepsBody ? .replayable : .none)
    }
    return (request, body)
  }

  /// What the next request has for a `Cookie` field; nothing where the case has no history.
  func answer(_ redirect: Redirect) -> JSONObject {
    guard jar != nil || !via.isEmpty else { return [:] }
    let cookies = [jar?.cookieHeader(for: redirect.url)].compactMap(\.self)
    let own = redirect.request.headerFields[values: .cookie]
    return ["cookie": (cookies + own).joined(separator: "; "), "uses_history": true]
  }

  /// A list, or the one thing that stands for it.
  private static func list(_ value: Any?) -> [Any] {
    guard let value, !(value is NSNull) else { return [] }
    return value as? [Any] ?? [value]
  }

  /// A text, or an object's field.
  private static func field(_ value: Any, _ key: String) throws -> String {
    if let text = value as? String { return text }
    if let object = value as? JSONObject, let text = object[key] as? String { return text }
    throw MissingField(name: key)
  }
}
