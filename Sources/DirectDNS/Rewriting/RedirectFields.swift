// SPDX-License-Identifier: Apache-2.0
internal import HTTPTypes

/// What a request's header fields become on the way from one URL to the next.
///
/// What is kept keeps its place, its spelling and its number.
struct RedirectFields {
  let source: WebURL
  let target: WebURL
  /// Whether the next request goes without the body that this one has, or could have.
  let dropsBody: Bool
  let secretFields: Set<HTTPField.Name>

  private var crossesOrigin: Bool { Origin(source) != Origin(target) }

  func next(_ fields: HTTPFields) -> HTTPFields { HTTPFields(fields.compactMap(next)) }

  private func next(_ field: HTTPField) -> HTTPField? {
    let name = field.name.canonicalName
    // The proxy's password is not for origins, and `originalUrl` is of the hop that it was made for.
    guard field.name != .proxyAuthorization, field.name != .originalURL else { return nil }
    if crossesOrigin, Self.ofOneOrigin.contains(name) || secretFields.contains(field.name) { return nil }
    if dropsBody, Self.isAboutBody(name) { return nil }
    return field.name == .referer ? referer(field) : field
  }

  /// What names an origin or opens its doors: no other origin gets to see it.
  ///
  /// CVE-2018-1000007, CVE-2022-27774 and CVE-2022-27776 are of clients that thought another port or scheme of the same
  /// host the same place.
  private static let ofOneOrigin: Set = ["authorization", "cookie", "cookie2", "host", "origin", "www-authenticate"]

  private static func isAboutBody(_ name: String) -> Bool {
    name.hasPrefix("content-") || name == "transfer-encoding" || name == "expect"
  }

  /// The field without user info and fragment (CVE-2021-22876), across origins no more than its origin.
  private func referer(_ field: HTTPField) -> HTTPField? {
    guard !field.value.isEmpty else { return field }
    guard let url = try? WebURL(field.value, base: source) else { return nil }
    // RFC 9110 §10.1.3: what was read in private is not told in the open.
    guard target.scheme.isSecure || !(url.scheme.isSecure || source.scheme.isSecure) else { return nil }
    var cleaned = field
    let shown = crossesOrigin ? "\(Origin(url))/" : url.text(userInfo: false, fragment: false)
    // What has nothing to hide keeps its spelling.
    if shown != url.href { cleaned.value = shown }
    return cleaned
  }
}
