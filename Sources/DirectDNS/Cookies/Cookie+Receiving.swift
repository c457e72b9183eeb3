// SPDX-License-Identifier: Apache-2.0
extension Cookie {
  /// Reads a `Set-Cookie` field of a response, and says what becomes of it.
  ///
  /// A cookie that has expired already is no error: it is how a server deletes one. Whether a jar has a `Secure`
  /// cookie that this one may not overlay, only the jar can tell.
  ///
  /// - Parameters:
  ///   - field: one field's value.
  ///   - url: the URL that was asked for.
  ///   - hostField: the request's own `Host`; it counts where the URL has an address.
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
    // A path that only happens to be `/` is no promise (RFC 6265bis §5.7, step 21).
    guard field.path != nil || !Cookie.begins(name, "__host-") else { throw .prefix }
  }

  /// The domain that a `Domain` attribute asks for; nil when the cookie is the host's alone.
  private static func domain(of field: SetCookie, in request: CookieContext) throws(CookieRejection) -> Domain? {
    guard let attribute = field.domain, !attribute.isEmpty else { return nil }
    // A server that was asked by its address may name that: the host is meant, which it does not know. By its name it
    // would have named the host, which the prefix forbids (RFC 6265bis §5.7, step 22).
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
