// SPDX-License-Identifier: Apache-2.0
/// The fields that a proxy acts on; all others pass as they are.
package enum FieldName: UInt8, Sendable {
  case host
  case connection
  case proxyConnection
  case keepAlive
  case te
  case trailer
  case transferEncoding
  case contentLength
  case upgrade
  case http2Settings
  case proxyAuthorization
  case proxyAuthenticate
  case proxyAuthenticationInfo
  case expect
  case maxForwards
  case authorization
  case wwwAuthenticate
  case cookie
  /// DirectDNS's own field with a request's URL: never accepted from outside.
  case originalURL
  case proxyVia
  case accept
  case date
  case other

  private static let known: [(text: String, name: FieldName)] = [
    ("host", .host), ("connection", .connection), ("proxy-connection", .proxyConnection), ("keep-alive", .keepAlive),
    ("te", .te), ("trailer", .trailer), ("transfer-encoding", .transferEncoding), ("content-length", .contentLength),
    ("upgrade", .upgrade), ("http2-settings", .http2Settings), ("proxy-authorization", .proxyAuthorization),
    ("proxy-authenticate", .proxyAuthenticate), ("proxy-authentication-info", .proxyAuthenticationInfo),
    ("expect", .expect), ("max-forwards", .maxForwards), ("authorization", .authorization),
    ("www-authenticate", .wwwAuthenticate), ("cookie", .cookie),
    ("originalurl", .originalURL), ("directdns-via", .proxyVia), ("accept", .accept),
    ("date", .date),
  ]

  /// The same by length, which tells most names apart.
  private static let byLength: [[(bytes: [UInt8], name: FieldName)]] = {
    var table: [[(bytes: [UInt8], name: FieldName)]] = Array(repeating: [], count: 32)
    for (text, name) in known { table[text.utf8.count].append((Array(text.utf8), name)) }
    return table
  }()

  /// Reads a name, ignoring case.
  init(_ bytes: Span<UInt8>) {
    self = .other
    guard bytes.count < Self.byLength.count else { return }
    for entry in Self.byLength[bytes.count] where bytes.isEqualIgnoringCase(entry.bytes.span) {
      self = entry.name
      return
    }
  }

  /// Whether it is only for the next hop (RFC 9110 §7.6.1), or for this proxy.
  var isHopByHop: Bool {
    switch self {
    case .connection, .proxyConnection, .keepAlive, .te, .upgrade, .http2Settings, .proxyAuthorization,
      .proxyAuthenticate, .proxyAuthenticationInfo, .originalURL, .proxyVia:
      true
    case .host, .trailer, .transferEncoding, .contentLength, .expect, .maxForwards, .authorization, .wwwAuthenticate,
      .cookie, .accept, .date, .other:
      false
    }
  }

  /// Whether `Connection` cannot remove it: a message's framing, its destination and its credentials.
  var isProtected: Bool {
    switch self {
    case .host, .transferEncoding, .contentLength, .authorization, .cookie, .expect, .date: true
    default: false
    }
  }

  /// Whether it may be a trailer (RFC 9110 §6.5.1).
  var isAllowedInTrailers: Bool { [.other, .accept, .date].contains(self) }
}

extension Span<UInt8> {
  /// Whether it equals a lower-case text, ignoring case.
  func isEqualIgnoringCase(_ lower: Span<UInt8>) -> Bool {
    guard count == lower.count else { return false }
    for index in indices where ConnectionNames.lowered(self[index]) != lower[index] { return false }
    return true
  }

  /// Whether it equals a lower-case text, ignoring case.
  func isEqualIgnoringCase(_ lower: String) -> Bool { isEqualIgnoringCase(lower.utf8.span) }
}
