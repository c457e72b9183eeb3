// SPDX-License-Identifier: Apache-2.0
/// A cookie as a jar keeps it (RFC 6265bis §5.7).
public struct Cookie: Hashable, Sendable {
  /// What a site asks of browsers; this client has no browsing contexts, and only keeps and shows it.
  public enum SameSite: String, Hashable, Sendable, CaseIterable {
    /// Only with requests from the same site.
    case strict
    /// Also with a visit from another site.
    case lax
    /// With every request.
    case none
  }

  /// The name; empty for a cookie without one, which is sent as its value alone.
  public let name: String
  /// The value, quotes included.
  public let value: String
  /// The name or address that the cookie belongs to.
  public internal(set) var domain: Domain
  /// Whether the cookie goes to that host only, and not to the hosts below it; always so for an address.
  public let isHostOnly: Bool
  /// The path at and below which the cookie is sent; it begins with a slash.
  public let path: String
  /// When the cookie ends, at most 400 days after it came; nil when it lasts as long as the session.
  public internal(set) var expires: CookieTime?
  /// Whether the cookie needs https or wss, or a host on this machine.
  public let isSecure: Bool
  /// Whether scripts of a page may not see the cookie; it means nothing to a client.
  public let isHTTPOnly: Bool
  /// The `SameSite` attribute, nil without one; it has no effect here.
  public let sameSite: SameSite?
  /// When a cookie of this name, domain and path first came; a newer value keeps it.
  public internal(set) var creation: CookieTime
  /// When the cookie was last sent, or came.
  public internal(set) var lastAccess: CookieTime
  /// Whether the cookie is held back: it came from an address that stood for more than one host.
  ///
  /// It is never sent, until ``CookieJar/repair(from:to:)-(_,HostName)`` names the host.
  public internal(set) var isHeld = false

  /// When this value came, which decides between two values.
  var received: CookieTime

  /// The longest life of a cookie, 400 days (RFC 6265bis §5.5).
  public static let maximumAge: Duration = .seconds(400 * 86_400)

  /// Makes a cookie by hand, which must follow the rules for received ones.
  ///
  /// - Parameters:
  ///   - name: the name; it may be empty.
  ///   - value: the value; it may be empty when the name is not.
  ///   - domain: the name or address that the cookie belongs to.
  ///   - isHostOnly: whether it goes to that host alone; true by default, and always true for an address.
  ///   - path: the path at and below which it is sent; `/` by default.
  ///   - expires: when it ends; nil, the default, with the session. More than 400 days become 400 days.
  ///   - isSecure: whether it needs a secure connection; false by default.
  ///   - isHTTPOnly: whether scripts may not see it; false by default.
  ///   - sameSite: the `SameSite` attribute; none by default.
  ///   - now: the present, which becomes its time of creation.
  /// - Throws: the rule that it breaks.
  public init(
    name: String, value: String, domain: Domain, isHostOnly: Bool = true, path: String = "/",
    expires: CookieTime? = nil, isSecure: Bool = false, isHTTPOnly: Bool = false, sameSite: SameSite? = nil,
    now: CookieTime
  ) throws(CookieRejection) {
    self.name = name
    self.value = value
    self.domain = domain
    if case .address = domain { self.isHostOnly = true } else { self.isHostOnly = isHostOnly }
    self.path = path
    self.expires = expires.map { min($0, now + Cookie.maximumAge) }
    self.isSecure = isSecure
    self.isHTTPOnly = isHTTPOnly
    self.sameSite = sameSite
    creation = now
    lastAccess = now
    received = now
    try check()
  }
}

extension Cookie {
  /// Whether two cookies count as one, so that the newer replaces the older (RFC 6265bis §5.7, step 23).
  package func replaces(_ other: Cookie) -> Bool {
    name == other.name && path == other.path && domain == other.domain && isHostOnly == other.isHostOnly
  }

  // Inlined into loops over thousands of cookies, these read fields in place and copy nothing.

  /// Whether the cookie has ended.
  @inline(__always)
  func isExpired(at now: CookieTime) -> Bool { expires.map { $0 <= now } ?? false }

  /// Whether a request carries the cookie.
  @inline(__always)
  func isSent(with request: CookieContext, at now: CookieTime) -> Bool { !isHeld && matches(request, at: now) }

  /// Whether the cookie is meant for a request (RFC 6265bis §5.8.3).
  @inline(__always)
  func matches(_ request: CookieContext, at now: CookieTime) -> Bool {
    (!isSecure || request.isSecure) && !isExpired(at: now) && CookiePath.matches(request.path, path)
      && (isHostOnly ? request.host == domain : request.host.matches(domain))
  }
}

extension Cookie: CustomStringConvertible {
  /// The name, domain and path, without the value, which may be a secret.
  public var description: String { "\(DirectDNSError.quoted(name)) of \(domain)\(path)" }
}

/// The rules for every cookie, wherever it came from (RFC 6265bis §5.7).
extension Cookie {
  func check() throws(CookieRejection) {
    guard !name.isEmpty || !value.isEmpty else { throw .empty }
    guard ![name, value, path].contains(where: { $0.utf8.contains(where: ASCII.isControl) }) else {
      throw .controlCharacter
    }
    let octets = name.utf8.count + value.utf8.count
    guard octets <= SetCookie.maximumOctets else { throw .tooLong(octets: octets) }
    guard Cookie.isWhole(name), Cookie.isWhole(value), path.utf8.first == ASCII.slash,
      !name.utf8.contains(UInt8(ascii: "="))
    else { throw .malformed }
    guard isHostOnly || !domain.isPublicSuffix else { throw .publicSuffix(domain.description) }
    guard keepsPrefix else { throw .prefix }
  }

  /// Whether a name or a value comes out of a `Set-Cookie` field as it went in.
  private static func isWhole(_ part: String) -> Bool {
    guard let first = part.utf8.first, let last = part.utf8.last else { return true }
    return !ASCII.isBlank(first) && !ASCII.isBlank(last) && !part.utf8.contains(UInt8(ascii: ";"))
  }

  /// Whether the cookie meets the conditions of its name's prefix (RFC 6265bis §5.7, steps 20 to 22).
  ///
  /// A server that ignores case would trust a prefix in any case, and read the value of a cookie without a name as a
  /// name.
  private var keepsPrefix: Bool {
    if name.isEmpty { return !Cookie.begins(value, "__secure-") && !Cookie.begins(value, "__host-") }
    if Cookie.begins(name, "__host-") { return isSecure && isHostOnly && path == "/" }
    return !Cookie.begins(name, "__secure-") || isSecure
  }

  /// Whether a text, in any case, begins with a prefix that is given in lower case.
  static func begins(_ text: String, _ prefix: String) -> Bool {
    text.utf8.prefix(prefix.utf8.count).map(ASCII.lowercased).elementsEqual(prefix.utf8)
  }
}

/// The two rules about paths (RFC 6265bis §5.1.4).
package enum CookiePath {
  /// The path of a cookie that came without one: the folder of the URL's path.
  package static func defaultPath(of path: String) -> String {
    guard path.utf8.first == ASCII.slash, let slash = path.utf8.lastIndex(of: ASCII.slash), slash != path.startIndex
    else { return "/" }
    return String(path[..<slash])
  }

  /// Whether a request for a path gets the cookies of another path: of the same one or of a folder above it.
  package static func matches(_ requested: String, _ path: String) -> Bool {
    let request = requested.utf8.span
    let prefix = path.utf8.span
    guard !prefix.isEmpty, request.count >= prefix.count else { return false }
    for index in prefix.indices where request[index] != prefix[index] { return false }
    return request.count == prefix.count || prefix[prefix.count - 1] == ASCII.slash
      || request[prefix.count] == ASCII.slash
  }
}
