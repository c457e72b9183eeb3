// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes

/// Puts the name back into the response to a request that went straight to an address.
///
/// A server that was reached by its address may answer with it: in the `Domain` of a cookie, or in a `Location`. A
/// client that followed it would lose the name, and keep cookies for an address that may serve others tomorrow. A value
/// that does not name one of the addresses keeps its bytes, except that a relative reference becomes absolute. An
/// invalid value keeps them too: restoring never makes it valid.
public struct ResponseRestorer: Hashable, Sendable {
  /// The URL that was asked for, with the name: the response's URL.
  public let originalURL: WebURL
  /// The addresses that stand for the name.
  public let addresses: [IPAddress]

  /// Creates a restorer.
  ///
  /// - Parameters:
  ///   - originalURL: the URL that was asked for, with the name.
  ///   - addresses: every address of the answer from which the request's address was taken.
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
  /// - Returns: the response, as if the request had been sent to the name.
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
  ///   - isRedirect: whether the response's status is 3xx: then a restored URL without a fragment inherits the original
  ///     one (RFC 9110 §10.2.2).
  /// - Returns: an absolute URL; the value as it was if it is blank, not a URL, or leads elsewhere.
  public func location(_ value: String, isRedirect: Bool = true) -> String {
    reference(value, inheritsFragment: isRedirect)
  }

  /// The value of `Set-Cookie`, without a `Domain` that is one of the addresses in any spelling.
  ///
  /// The cookie is then host-only, for the host of ``originalURL``. A cookie that a jar would refuse stays as it came:
  /// one with a control character, or with the prefix `__Host-`, which allows no `Domain` at all.
  public func setCookie(_ value: String) -> String {
    // A value with a control character is not a cookie (RFC 6265bis §5.6, step 1).
    guard !value.utf8.contains(where: ASCII.isControl), !Self.isHostCookie(value) else { return value }
    // By code points: a semicolon with a combining mark is another `Character`, but for a jar it is a semicolon.
    let attributes = value.unicodeScalars.split(separator: ";", omittingEmptySubsequences: false).map(Substring.init)
    // RFC 6265 §5.3: of several, the last one counts.
    guard let last = attributes.dropFirst().compactMap(domain).last, isHidden(last) else { return value }
    return (attributes.prefix(1) + attributes.dropFirst().filter { domain($0) == nil }).joined(separator: ";")
  }

  /// The value of `Refresh` with the name put back into its URL; a value without a URL is kept.
  public func refresh(_ value: String) -> String {
    guard let range = RefreshURL.range(in: value) else { return value }
    var restored = value
    restored.replaceSubrange(range, with: reference(String(value[range])))
    return restored
  }

  /// A reference in a response, with the name put back; a blank one stays blank, and does not become the base's URL.
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

  /// A URL without a fragment, with the fragment of the original URL added.
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
    // By code points: an equals sign with a combining mark ends the name for a jar.
    let parts = attribute.unicodeScalars.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      .map(Substring.init)
    guard parts[0].trimmed.lowercased() == "domain" else { return nil }
    let value = parts.count > 1 ? parts[1].trimmed : ""
    // RFC 6265bis §5.6: an attribute that is longer than this does not count.
    guard value.utf8.count <= 1_024 else { return nil }
    return value.hasPrefix(".") ? value.dropFirst() : value
  }

  /// Whether a domain is one of the addresses, in any spelling of URLs or as an IPv6 address without brackets.
  private func isHidden(_ domain: Substring) -> Bool {
    if let address = IPAddress(String(domain)) { return addresses.contains(address.unmapped) }
    guard case .address(let address) = try? WebURL.Host(String(domain)) else { return false }
    return addresses.contains(address.unmapped)
  }

  /// Whether a value begins with `__Host-` in upper or lower case (RFC 6265bis §5.7, step 22).
  private static func isHostCookie(_ value: String) -> Bool {
    Substring(value).trimmed.utf8.prefix(7).map(ASCII.lowercased).elementsEqual("__host-".utf8)
  }
}

extension String {
  /// Whether a URL parser finds nothing in the text: it strips spaces and control characters from both ends (WHATWG URL
  /// §4.4), and the empty reference that is left leads to the page itself.
  package var isBlankReference: Bool { utf8.allSatisfy { $0 <= 0x20 } }
}

/// Finds the URL in the value of `Refresh`: `5; url=/next` (HTML, "shared declarative refresh steps").
enum RefreshURL {
  /// Where the URL is; nil for a value that has only a time.
  static func range(in value: String) -> Range<String.Index>? {
    // By code points, as HTML reads it: a quotation mark with a combining mark behind it is another `Character`.
    var rest = value.unicodeScalars[...].drop(while: isBlank)
    let time = rest.prefix { "0" <= $0 && $0 <= "9" || $0 == "." }
    // A time without digits that begins with a dot is 0.
    guard !time.isEmpty else { return nil }
    rest = rest[time.endIndex...]
    guard let next = rest.first, next == ";" || next == "," || isBlank(next) else { return nil }
    rest = rest.drop(while: isBlank)
    if rest.first == ";" || rest.first == "," { rest = rest.dropFirst().drop(while: isBlank) }
    rest = withoutKey(rest)
    if let quote = rest.first, quote == "\"" || quote == "'" {
      rest = rest.dropFirst().prefix { $0 != quote }
    }
    return rest.isEmpty ? nil : rest.startIndex..<rest.endIndex
  }

  /// The text after `url=`; the whole text if it does not begin with that.
  private static func withoutKey(_ text: Substring.UnicodeScalarView) -> Substring.UnicodeScalarView {
    guard String(text.prefix(3)).lowercased() == "url" else { return text }
    let rest = text.dropFirst(3).drop(while: isBlank)
    return rest.first == "=" ? rest.dropFirst().drop(while: isBlank) : text
  }

  private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
    scalar == " " || scalar == "\t" || scalar == "\n" || scalar == "\r" || scalar == "\u{c}"
  }
}

extension HTTPField {
  /// Whether the octets of its value are UTF-8; otherwise ``value`` is a different value, with U+FFFD in it.
  package var isText: Bool {
    let text = value
    guard text.unicodeScalars.contains("\u{FFFD}") else { return true }
    var copy = self
    copy.value = text
    return copy == self
  }

  /// Its value as a reference to resolve: octets that are not UTF-8 are percent-encoded, as browsers and curl do.
  ///
  /// ``value`` has U+FFFD for them, which would lead elsewhere.
  var reference: String {
    guard !isText else { return value }
    var octets: [UInt8] = []
    octets.append(valueOf: self)
    return PercentEncoding.encoded(octets.span, .nonASCII)
  }
}

extension HTTPFields {
  /// The values of `Set-Cookie` that are UTF-8: a `String` cannot hold other octets, and a different cookie would be
  /// sent back.
  package var cookies: [String] { filter { $0.name == .setCookie && $0.isText }.map(\.value) }
}
