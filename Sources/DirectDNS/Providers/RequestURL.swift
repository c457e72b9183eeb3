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

/// Items of a query, percent-encoded: all but RFC 3986's unreserved characters and the comma, which APIs read raw.
func queryText(_ items: KeyValuePairs<String, String>) -> String {
  items.map { $0.key + "=" + queryEscaped($0.value) }.joined(separator: "&")
}

/// A query item's value, percent-encoded.
func queryEscaped(_ value: String) -> String {
  var text = ""
  for byte in value.utf8 {
    switch byte {
    case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x2e, 0x5f, 0x7e, 0x2c:
      text.unicodeScalars.append(UnicodeScalar(byte))
    default:
      let hex = String(byte, radix: 16, uppercase: true)
      text += hex.utf8.count == 1 ? "%0" + hex : "%" + hex
    }
  }
  return text
}
