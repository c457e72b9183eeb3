// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes

/// Puts the name back into the response to a request that went straight to an address.
///
/// A server that was reached by address may answer with it: in the `Domain` of a cookie, in a `Location`. Whoever
/// followed that would leave the name for good, and keep cookies for an address that serves others tomorrow. What
/// does not name one of the addresses keeps its bytes, relative references aside, which become absolute ones. So does
/// what a later rule has to refuse: restoring makes nothing valid that came invalid.
public struct ResponseRestorer: Hashable, Sendable {
  /// The URL that was asked for, with the name: the response's URL.
  public let originalURL: WebURL
  /// The addresses that stand for the name.
  public let addresses: [IPAddress]

  /// Creates a restorer.
  ///
  /// - Parameters:
  ///   - originalURL: the URL that was asked for, with the name.
  ///   - addresses: every address of the answer that the request's own one was of.
  public init(originalURL: WebURL, addresses: some Sequence<IPAddress>) {
    self.originalURL = originalURL
    let addresses = Array(addresses)
    self.addresses = addresses.contains(where: \.isIPv4Mapped) ? addresses.map(\.unmapped) : addresses
  }

  /// Creates the restorer of a request's responses.
  public init(for request: DirectRequest) {
    self.init(originalURL: request.originalURL, addresses: request.answer)
  }

  /// The response with the name put back into `Set-Cookie`, `Location`, `Content-Location` and `Refresh`.
  ///
  /// - Parameters:
  ///   - response: a response's head.
  ///   - request: the request that it answers.
  /// - Returns: the response, as if the name had been asked.
  public static func restore(_ response: HTTPResponse, for request: DirectRequest) -> HTTPResponse {
    ResponseRestorer(for: request).restore(response)
  }

  /// The fields in which an address can stand for the name.
  static let fields: [HTTPField.Name] = [.setCookie, .location, .contentLocation, .refresh]

  /// The response with the name put back into `Set-Cookie`, `Location`, `Content-Location` and `Refresh`.
  public func restore(_ response: HTTPResponse) -> HTTPResponse {
    var restored = response
    let isRedirect = response.status.kind == .redirection
    for index in response.headerFields.indices {
      let field = response.headerFields[index]
      let value: String
      switch field.name {
      case .setCookie: value = setCookie(field.value)
      case .location: value = location(field.value, isRedirect: isRedirect)
      case .contentLocation: value = reference(field.value)
      case .refresh: value = refresh(field.value)
      default: continue
      }
      if value != field.value, field.isText { restored.headerFields[index].value = value }
    }
    return restored
  }

  /// The value of `Location` with the name put back.
  ///
  /// - Parameters:
  ///   - value: an absolute URL, or a reference that is resolved against ``originalURL``.
  ///   - isRedirect: whether the response's status is 3xx: what is restored then inherits the original fragment where
  ///     it has none of its own (RFC 9110 §10.2.2).
  /// - Returns: an absolute URL; the value as it was where it is blank or no URL, or leads elsewhere.
  public func location(_ value: String, isRedirect: Bool = true) -> String {
    reference(value, inheritsFragment: isRedirect)
  }

  /// The value of `Set-Cookie`, without a `Domain` that is one of the addresses in any spelling.
  ///
  /// The cookie then is host-only, for the host of ``originalURL``. One that a jar refuses as it came stays as it came:
  /// with a control character, or with the prefix `__Host-`, which allows no `Domain` at all.
  public func setCookie(_ value: String) -> String {
    // What has a control character is no cookie (RFC 6265bis §5.6, step 1).
    guard !value.utf8.contains(where: ASCII.isControl), !Self.isHostCookie(value) else { return value }
    // By code points: a combining mark behind a semicolon hides it from `Character` and not from a jar.
    let attributes = value.unicodeScalars.split(separator: ";", omittingEmptySubsequences: false).map(Substring.init)
    // RFC 6265 §5.3: of several, the last one counts.
    guard let last = attributes.dropFirst().compactMap(domain).last, isHidden(last) else { return value }
    return (attributes.prefix(1) + attributes.dropFirst().filter { domain($0) == nil }).joined(separator: ";")
  }

  /// The value of `Refresh` with the name put back into its URL; what has none is kept.
  public func refresh(_ value: String) -> String {
    guard let range = RefreshURL.range(in: value) else { return value }
    var restored = value
    restored.replaceSubrange(range, with: reference(String(value[range])))
    return restored
  }

  /// A reference in a response, with the name put back; a blank one is none, and the base's own URL is not what it says.
  private func reference(_ value: String, inheritsFragment: Bool = false) -> String {
    // Nearly all are absolute and written as a browser would write them: they are only scanned.
    if let layout = WebURL.Layout.canonical(value) {
      guard let address = layout.address(in: value), isHidden(address) else { return value }
      let text = layout.text(of: value, hostOf: originalURL)
      return inheritsFragment && !layout.hasFragment(in: value) ? inheriting(text) : text
    }
    guard !value.isBlankReference, let url = try? WebURL(value, base: originalURL) else { return value }
    let inherits = inheritsFragment && url.fragment == nil
    if case .address(let address) = url.host, isHidden(address) {
      let text = url.text(hostOf: originalURL)
      return inherits ? inheriting(text) : text
    }
    guard isRelative(value) else { return value }
    return inherits ? inheriting(url.href) : url.href
  }

  private func isHidden(_ address: IPAddress) -> Bool { addresses.contains(address.unmapped) }

  /// A URL without a fragment, with that of the URL that was asked for.
  private func inheriting(_ text: String) -> String {
    guard let fragment = originalURL.fragment else { return text }
    return text + "#" + fragment
  }

  /// Whether a reference depends on its base: it has no scheme, or the base's own without two slashes.
  private func isRelative(_ value: String) -> Bool {
    guard let scheme = WebURL.schemeName(of: value) else { return true }
    guard scheme == originalURL.scheme.rawValue else { return false }
    let rest = value.unicodeScalars.drop { $0 != ":" }.lazy.filter { $0 != "\t" && $0 != "\n" && $0 != "\r" }
    return !rest.starts(with: "://".unicodeScalars)
  }

  /// The value of an attribute, if it is `Domain`, without the dot that it may begin with.
  private func domain(_ attribute: Substring) -> Substring? {
    let parts = attribute.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts[0].trimmed.lowercased() == "domain" else { return nil }
    let value = parts.count > 1 ? parts[1].trimmed : ""
    // RFC 6265bis §5.6: an attribute that is longer than this does not count.
    guard value.utf8.count <= 1_024 else { return nil }
    return value.hasPrefix(".") ? value.dropFirst() : value
  }

  /// Whether a domain is one of the addresses, as a URL may spell it or an IPv6 address without brackets.
  private func isHidden(_ domain: Substring) -> Bool {
    if let address = IPAddress(String(domain)) { return addresses.contains(address.unmapped) }
    guard case .address(let address) = try? WebURL.Host(String(domain)) else { return false }
    return addresses.contains(address.unmapped)
  }
}

extension ResponseRestorer {
  /// RFC 6265bis §5.7, step 22, in any case.
  private static func isHostCookie(_ value: String) -> Bool {
    Substring(value).trimmed.utf8.prefix(7).map(ASCII.lowercased).elementsEqual("__host-".utf8)
  }
}

extension String {
  /// Whether a URL parser finds nothing in the text: it strips spaces and control characters from both ends (WHATWG URL
  /// §4.4), and what is left of these is the empty reference, which leads to the page itself.
  package var isBlankReference: Bool { utf8.allSatisfy { $0 <= 0x20 } }
}

extension HTTPField.Name {
  static let refresh = token("Refresh")
}

/// Where the URL stands in the value of `Refresh`: `5; url=/next` (HTML, "shared declarative refresh steps").
enum RefreshURL {
  /// The URL's place; nil for a value that only names a time.
  static func range(in value: String) -> Range<String.Index>? {
    var rest = value[...].drop(while: isBlank)
    let time = rest.prefix { $0.isASCII && $0.isNumber || $0 == "." }
    guard let first = time.first else { return nil }
    rest = rest[time.endIndex...]
    guard first != ".", let next = rest.first, next == ";" || next == "," || isBlank(next) else { return nil }
    rest = rest.drop(while: isBlank)
    if rest.first == ";" || rest.first == "," { rest = rest.dropFirst().drop(while: isBlank) }
    rest = withoutKey(rest)
    if let quote = rest.first, quote == "\"" || quote == "'" {
      rest = rest.dropFirst().prefix { $0 != quote }
    }
    return rest.isEmpty ? nil : rest.startIndex..<rest.endIndex
  }

  /// What follows `url=`; all of it where that does not stand in front.
  private static func withoutKey(_ text: Substring) -> Substring {
    guard text.prefix(3).lowercased() == "url" else { return text }
    let rest = text.dropFirst(3).drop(while: isBlank)
    return rest.first == "=" ? rest.dropFirst().drop(while: isBlank) : text
  }

  private static func isBlank(_ character: Character) -> Bool {
    character == " " || character == "\t" || character == "\n" || character == "\r\n" || character == "\r"
      || character == "\u{c}"
  }
}

extension HTTPField {
  /// Whether the octets of its value are UTF-8: ``value`` of any others is another value, with U+FFFD in it.
  package var isText: Bool {
    let text = value
    guard text.unicodeScalars.contains("\u{FFFD}") else { return true }
    var copy = self
    copy.value = text
    return copy == self
  }
}

extension HTTPFields {
  /// The values of `Set-Cookie` that a cookie can be made of: text cannot hold octets that are no UTF-8, and the cookie
  /// that is sent back would be another one.
  package var cookies: [String] { filter { $0.name == .setCookie && $0.isText }.map(\.value) }
}
