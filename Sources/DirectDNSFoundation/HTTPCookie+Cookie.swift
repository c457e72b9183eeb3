// SPDX-License-Identifier: Apache-2.0
public import DirectDNS

#if canImport(FoundationNetworking)
  internal import Foundation
  public import FoundationNetworking
#else
  public import Foundation
#endif

extension Cookie {
  /// A cookie of Foundation's.
  ///
  /// A domain with a dot before it covers the names below it; without one the cookie is the host's alone. `SameSite` is
  /// taken over where Foundation keeps it.
  ///
  /// - Parameters:
  ///   - cookie: the cookie.
  ///   - now: the present: when it comes into being, unless Foundation remembers an earlier instant.
  /// - Throws: the rule of RFC 6265bis that it breaks.
  public init(_ cookie: HTTPCookie, now: CookieTime) throws(CookieRejection) {
    let coversNames = cookie.domain.hasPrefix(".")
    let domainText = String(cookie.domain.drop { $0 == "." || $0 == "[" }.prefix { $0 != "]" })
    let domain: Domain
    if let address = IPAddress(domainText) {
      domain = .address(address)
    } else {
      do {
        domain = .name(try HostName(domainText))
      } catch {
        throw .unusableHost(error.clause)
      }
    }
    let created = cookie.creation.map { CookieTime(Date(timeIntervalSinceReferenceDate: $0)) }
    try self.init(
      name: cookie.name, value: cookie.value, domain: domain, isHostOnly: !coversNames, path: cookie.path,
      expires: cookie.expiresDate.map(CookieTime.init), isSecure: cookie.isSecure, isHTTPOnly: cookie.isHTTPOnly,
      sameSite: (cookie.properties?[.sameSite] as? String).flatMap(SameSite.init(foundation:)),
      now: min(created ?? now, now))
  }
}

extension Cookie.SameSite {
  fileprivate init?(foundation text: String) {
    guard let known = Self.allCases.first(where: { $0.rawValue.lowercased() == text.lowercased() }) else { return nil }
    self = known
  }
}

extension HTTPCookie {
  /// A cookie of a jar; nil where Foundation makes none of it, as of one without a name.
  ///
  /// - Parameter cookie: the cookie.
  public convenience init?(_ cookie: Cookie) {
    var properties: [HTTPCookiePropertyKey: Any] = [
      .name: cookie.name, .value: cookie.value, .path: cookie.path,
      .domain: cookie.isHostOnly ? cookie.domain.description : ".\(cookie.domain)",
      .created: NSNumber(value: Date(cookie.creation).timeIntervalSinceReferenceDate),
    ]
    if let expires = cookie.expires { properties[.expires] = Date(expires) } else { properties[.discard] = "TRUE" }
    if cookie.isSecure { properties[.secure] = "TRUE" }
    if cookie.isHTTPOnly { properties[.httpOnly] = "TRUE" }
    if let sameSite = cookie.sameSite { properties[.sameSite] = sameSite.rawValue.lowercased() }
    self.init(properties: properties)
  }

  /// When Foundation took note of it, in seconds since its reference date, with fractions.
  var creation: Double? { (properties?[.created] as? NSNumber)?.doubleValue }
}

extension CookieTime {
  init(_ date: Date) {
    self.init(secondsSince1970: Int64(exactly: date.timeIntervalSince1970.rounded(.down)) ?? .max)
  }
}

extension Date {
  fileprivate init(_ time: CookieTime) { self.init(timeIntervalSince1970: Double(time.secondsSince1970)) }
}

extension HTTPCookiePropertyKey {
  // Foundation keeps these under names that not every version of it declares.
  fileprivate static let created = HTTPCookiePropertyKey(rawValue: "Created")
  fileprivate static let httpOnly = HTTPCookiePropertyKey(rawValue: "HttpOnly")
  fileprivate static let sameSite = HTTPCookiePropertyKey(rawValue: "SameSite")
}
