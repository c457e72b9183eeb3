// SPDX-License-Identifier: Apache-2.0
/// A `Set-Cookie` field that was parsed and not checked yet (RFC 6265bis §5.6).
package struct SetCookie {
  static let maximumOctets = 4_096
  static let maximumAttributeOctets = 1_024

  let name: String
  let value: String
  /// The last `Domain` in lower case without its leading dot; empty and nil mean the host alone.
  package private(set) var domain: String?
  /// The last `Path`; empty if it means the default path.
  private(set) var path: String?
  private(set) var maximumAge: Duration?
  private(set) var expires: CookieTime?
  private(set) var isSecure = false
  private(set) var isHTTPOnly = false
  private(set) var sameSite: Cookie.SameSite?

  package init(_ text: String) throws(CookieRejection) {
    guard !text.utf8.contains(where: ASCII.isControl) else { throw .controlCharacter }
    var rest = text[...].utf8
    let pair = Self.next(&rest)
    if let equals = pair.firstIndex(of: Self.equals) {
      name = Self.trimmed(pair[..<equals])
      value = Self.trimmed(pair[pair.index(after: equals)...])
    } else {
      name = ""
      value = Self.trimmed(pair)
    }
    while !rest.isEmpty { take(Self.next(&rest)) }
  }

  private static let equals = UInt8(ascii: "=")
  private static let semicolon = UInt8(ascii: ";")

  /// The text before the next semicolon; both are removed from `rest`.
  private static func next(_ rest: inout Substring.UTF8View) -> Substring.UTF8View {
    guard let end = rest.firstIndex(of: semicolon) else {
      defer { rest = rest[rest.endIndex...] }
      return rest
    }
    defer { rest = rest[rest.index(after: end)...] }
    return rest[..<end]
  }

  private static func trimmed(_ text: Substring.UTF8View) -> String {
    String(Substring(text.trimming(ASCII.isBlank)))
  }

  private mutating func take(_ attribute: Substring.UTF8View) {
    let equals = attribute.firstIndex(of: Self.equals)
    let value = equals.map { Self.trimmed(attribute[attribute.index(after: $0)...]) } ?? ""
    guard value.utf8.count <= Self.maximumAttributeOctets else { return }
    switch Self.lowercased(Self.trimmed(attribute[..<(equals ?? attribute.endIndex)])) {
    case "expires": expires = CookieTime(cookieDate: value) ?? expires
    case "max-age": maximumAge = Self.seconds(value) ?? maximumAge
    case "domain":
      domain = Self.lowercased(value.utf8.first == ASCII.dot ? String(Substring(value.utf8.dropFirst())) : value)
    case "path": path = value.utf8.first == ASCII.slash ? value : ""
    case "secure": isSecure = true
    case "httponly": isHTTPOnly = true
    case "samesite": sameSite = Cookie.SameSite(rawValue: Self.lowercased(value))
    default: break
    }
  }

  /// Lower case for ASCII alone: by Unicode's rules the Kelvin sign becomes `k`, which would be another domain.
  private static func lowercased(_ text: String) -> String {
    String(decoding: text.utf8.map(ASCII.lowercased), as: UTF8.self)
  }

  /// Digits, with or without a minus sign; a negative number gives 0, and one that is too large the largest.
  private static func seconds(_ text: String) -> Duration? {
    let digits = text.utf8.first == ASCII.hyphen ? text.utf8.dropFirst() : text.utf8[...]
    guard !digits.isEmpty, digits.allSatisfy(ASCII.isDigit) else { return nil }
    guard digits.count == text.utf8.count else { return .zero }
    return .seconds(Int64(text) ?? .max)
  }
}

extension Cookie {
  /// Reads the cookie of a `Set-Cookie` field of a response.
  ///
  /// A cookie that has expired already is not an error: that is how a server deletes one. Only a jar can check whether
  /// it has a `Secure` cookie that this one may not overlay.
  ///
  /// - Parameters:
  ///   - field: one field's value.
  ///   - url: the URL that was asked for.
  ///   - hostField: the request's own `Host`; it counts only if the URL has an address.
  ///   - now: the present.
  /// - Throws: why the cookie is to be ignored.
  public init(setCookie field: String, for url: WebURL, hostField: String? = nil, now: CookieTime)
    throws(CookieRejection)
  {
    try self.init(SetCookie(field), in: CookieContext(url, hostField: hostField), now: now)
  }

  init(_ field: SetCookie, in request: CookieContext, now: CookieTime) throws(CookieRejection) {
    let domain = try Cookie.domain(of: field, in: request)
    try self.init(
      name: field.name, value: field.value, domain: domain ?? request.host, isHostOnly: domain == nil,
      path: field.path.flatMap { $0.isEmpty ? nil : $0 } ?? CookiePath.defaultPath(of: request.path),
      expires: field.maximumAge.map { $0 > .zero ? now + $0 : .distantPast } ?? field.expires,
      isSecure: field.isSecure, isHTTPOnly: field.isHTTPOnly, sameSite: field.sameSite, now: now)
    guard !isSecure || request.isSecure else { throw .notSecure }
    // A default path that happens to be `/` is not enough for the prefix (RFC 6265bis §5.7, step 21), and neither is a
    // `Path` without a value, which means that one: the server has to write the `/` (§4.1.3.2), as for Chromium.
    guard field.path == "/" || !Cookie.begins(name, "__host-") else { throw .prefix }
  }

  /// The domain that a `Domain` attribute asks for; nil when the cookie is the host's alone.
  private static func domain(of field: SetCookie, in request: CookieContext) throws(CookieRejection) -> Domain? {
    guard let attribute = field.domain, !attribute.isEmpty else { return nil }
    // A server that was reached by its address may name the address, and means the host. Reached by its name, it would
    // have named the host, which the prefix `__Host-` forbids (RFC 6265bis §5.7, step 22).
    if let literal = request.literal, isSpelling(attribute, of: literal) {
      guard !begins(field.name, "__host-") else { throw .prefix }
      return nil
    }
    guard let domain = request.host.covering(attribute) else { throw .foreignDomain(attribute) }
    guard domain.isPublicSuffix else { return domain }
    guard domain == request.host else { throw .publicSuffix(attribute) }
    return nil
  }

  private static func isSpelling(_ text: String, of address: IPAddress) -> Bool {
    IPAddress(text) == address || (try? WebURL.Host(text)) == .address(address)
  }
}

/// Why a cookie is rejected.
///
/// A rejected cookie does not fail the request: it is ignored, as RFC 6265bis says, and this is the reason.
/// It never holds the cookie's value.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum CookieRejection: Error, Hashable, Sendable {
  /// Neither name nor value.
  case empty
  /// A control character other than a tab in the field, or in a part of a cookie made by hand.
  case controlCharacter
  /// Name and value together are longer than 4 096 octets.
  case tooLong(octets: Int)
  /// A part of a cookie made by hand that no `Set-Cookie` could have given: a `;`, a `=` in the name, spaces
  /// around name or value, a path without its slash.
  case malformed
  /// The URL's host, or the `Host` field of a request to an address, can have no cookies: the reason.
  case unusableHost(String)
  /// The `Domain` attribute does not cover the host that answered.
  case foreignDomain(String)
  /// The `Domain` attribute is a public suffix such as `co.uk`, which belongs to nobody.
  case publicSuffix(String)
  /// A `Secure` cookie from a connection that is not secure.
  case notSecure
  /// A cookie from an insecure connection may not overlay a `Secure` one of the same name.
  case overlaysSecure
  /// The attributes do not meet the conditions of the name's prefix, `__Secure-` or `__Host-`.
  case prefix
}

extension CookieRejection: CustomStringConvertible {
  /// The reason in words.
  public var description: String {
    switch self {
    case .empty: "the cookie has neither a name nor a value"
    case .controlCharacter: "the cookie contains a control character"
    case .tooLong(let octets):
      "the cookie's name and value have \(octets) octets, \(SetCookie.maximumOctets) are the most"
    case .malformed: "a part of the cookie could not be sent or read back as it is: ';', '=' in the name, outer spaces"
    case .unusableHost(let reason): "the host can have no cookies: \(reason)"
    case .foreignDomain(let domain): "the host may not set cookies for \(DirectDNSError.quoted(domain))"
    case .publicSuffix(let domain):
      "\(DirectDNSError.quoted(domain)) is a public suffix, which nobody's cookie may cover"
    case .notSecure: "the cookie is Secure, but the connection is not: use https or wss"
    case .overlaysSecure: "a Secure cookie of the same name is there, which an insecure connection may not overlay"
    case .prefix: "the name's prefix __Secure- or __Host- promises what the cookie's attributes do not keep"
    }
  }
}
