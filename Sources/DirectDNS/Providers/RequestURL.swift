// SPDX-License-Identifier: Apache-2.0
extension WebURL {
  /// The URL as it is requested: no user info, no fragment.
  var requestText: String { text(userInfo: false, fragment: false) }

  /// The URL as it is requested, ready for a further query item.
  ///
  /// A query that it has is kept.
  var queryPrefix: String {
    guard let query else { return requestText + "?" }
    return query.isEmpty ? requestText : requestText + "&"
  }

  /// Scheme, host and port: all of an endpoint that may stand in a log.
  var originText: String {
    hasUserInfo ? Origin(self).description : ASCII.text(href.utf8.span.extracting(0..<Int(layout.pathStart)))
  }
}

/// Items of a query, percent-encoded.
func queryText(_ items: KeyValuePairs<String, String>) -> String {
  items.map { $0.key + "=" + queryEscaped($0.value) }.joined(separator: "&")
}

/// A query item's value, percent-encoded.
func queryEscaped(_ value: String) -> String { PercentEncoding.encoded(value, .queryValue) }
