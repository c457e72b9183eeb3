// SPDX-License-Identifier: Apache-2.0
extension WebURL {
  /// The URL with further items at the end of its query.
  ///
  /// Names and values are percent-encoded, all but RFC 3986's unreserved characters: a blank is `%20` and a plus sign
  /// `%2B`, which every server reads alike. The query that is there already and the fragment stay as they are.
  ///
  /// ```swift
  /// let page = try WebURL("https://api.example.com/orders").appending(queryItems: [("after", "7"), ("limit", "100")])
  /// ```
  ///
  /// - Parameter items: names and values, in their order; a name may come several times.
  /// - Returns: the URL; the same for no items.
  public func appending(queryItems items: [(String, String)]) -> WebURL {
    guard !items.isEmpty else { return self }
    let text = items.map { name, value in
      PercentEncoding.encoded(name, .reserved) + "=" + PercentEncoding.encoded(value, .reserved)
    }.joined(separator: "&")
    let separator = query.map { $0.isEmpty ? "" : "&" } ?? "?"
    var longer = layout
    longer.queryEnd += UInt32((separator + text).utf8.count)
    let end = href.utf8.index(href.startIndex, offsetBy: Int(layout.queryEnd))
    return WebURL(href: href[..<end] + separator + text + href[end...], layout: longer)
  }
}
