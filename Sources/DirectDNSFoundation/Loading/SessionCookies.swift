// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import HTTPTypes

#if canImport(FoundationNetworking)
  internal import Foundation
  internal import FoundationNetworking
#else
  internal import Foundation
#endif

/// A session's cookies for one load, by the rules of ``DirectDNS/CookieJar``.
///
/// Foundation on Linux stores none of a protocol's response, and chooses those of a redirect by rules of its own.
struct SessionCookies: Sendable {
  private let storage: HTTPCookieStorage?
  private let policy: HTTPCookie.AcceptPolicy
  private let sends: Bool
  private let mainHost: WebURL.Host?
  /// Where Foundation has taken cookies from when it made the task.
  private let given: HTTPCookieStorage?

  init(_ request: URLRequest, _ route: LoadingRoute) {
    storage = request.httpShouldHandleCookies ? route.cookies : nil
    policy = route.cookiePolicy
    sends = route.sendsCookies
    mainHost = request.mainDocumentURL?.host.flatMap { try? WebURL.Host(inURL: $0) }
    #if canImport(Darwin)
      given = storage
    #else
      // Foundation on Linux does not ask the request whether it handles cookies.
      given = route.cookies
    #endif
  }

  /// The fields as they go to a URL: the storage's cookies take the place of the request's own, as in every session.
  ///
  /// `Secure` ones go over TLS alone, as Foundation has it: where `localhost` leads is not known yet.
  func fields(_ fields: HTTPFields, for url: WebURL) -> HTTPFields {
    guard sends, let header = jar?.cookieHeader(for: url, hostField: fields[.hostField], staysOnMachine: false)
    else { return fields }
    var fields = fields
    fields[.cookie] = nil
    // By name it would become one field for each cookie, and HTTP/1.1 has a single one (RFC 6265 §5.4).
    let place = fields.firstIndex { $0.name == .userAgent } ?? fields.endIndex
    fields.insert(HTTPField(name: .cookie, value: header), at: place)
    return fields
  }

  /// Whether Foundation has put cookies of the storage into a request, in place of its own.
  func arePresent(for url: URL?) -> Bool {
    guard sends, let url, let given else { return false }
    return given.cookies(for: url)?.isEmpty == false
  }

  /// Stores what a response sets, and takes out what it takes back.
  func store(_ response: DirectResponse, hostField: String?) {
    let fields = response.headerFields.cookies
    guard !fields.isEmpty, let storage, accepts(response.url), let jar else { return }
    let before = Set(jar.cookies)
    jar.store(setCookie: fields, for: response.url, hostField: hostField, staysOnMachine: false)
    let after = jar.cookies
    for cookie in before where !after.contains(where: cookie.replaces) {
      HTTPCookie(cookie).map(storage.deleteCookie)
    }
    for cookie in after where !before.contains(cookie) { HTTPCookie(cookie).map(storage.setCookie) }
  }

  /// Foundation's reading of the policy: the host is a suffix of the main document's, where the request names one.
  private func accepts(_ url: WebURL) -> Bool {
    switch policy {
    case .always: true
    case .never: false
    default: mainHost.map { $0.isHostOrBelow(url.host) } ?? true
    }
  }

  private var jar: CookieJar? {
    guard let storage, storage.cookies?.isEmpty == false || policy != .never else { return nil }
    let jar = CookieJar(CookieJarConfiguration(maximumCookies: .max, maximumCookiesPerDomain: .max))
    jar.store(contentsOf: storage)
    return jar
  }
}

extension WebURL.Host {
  /// A host as `URL` has it: an IPv6 address stands in brackets on Linux, and without them on Apple's systems.
  fileprivate init(inURL text: String) throws(DirectDNSError) {
    if let address = IPAddress(text) { self = .address(address) } else { self = try WebURL.Host(text) }
  }

  /// Whether it is that host, or a name below it.
  fileprivate func isHostOrBelow(_ other: WebURL.Host) -> Bool {
    guard case .name(let name) = self, case .name(let parent) = other else { return self == other }
    return ".\(name)".hasSuffix(".\(parent)")
  }
}
