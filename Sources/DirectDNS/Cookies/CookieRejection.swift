// SPDX-License-Identifier: Apache-2.0
/// Why a cookie is not taken.
///
/// A rejected cookie is no failure of the request: it is ignored, as RFC 6265bis says, and this is the reason.
/// It never holds the cookie's value.
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
  /// The `Domain` attribute covers another host than the one that answered.
  case foreignDomain(String)
  /// The `Domain` attribute is a public suffix such as `co.uk`, which belongs to nobody.
  case publicSuffix(String)
  /// A `Secure` cookie from a connection that is none.
  case notSecure
  /// An insecure connection may not lay a cookie over a `Secure` one of the same name.
  case overlaysSecure
  /// The name promises with `__Secure-` or `__Host-` what the attributes do not keep.
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
