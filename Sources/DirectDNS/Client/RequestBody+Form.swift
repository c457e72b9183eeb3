// SPDX-License-Identifier: Apache-2.0
extension RequestBody {
  /// The fields of a form, as `application/x-www-form-urlencoded` (WHATWG URL §5), which can be replayed.
  ///
  /// Names and values are percent-encoded in UTF-8, all but RFC 3986's unreserved characters; a blank is a plus sign.
  ///
  /// ```swift
  /// let body = RequestBody.form([("amount", "7.50"), ("currency", "EUR")])
  /// ```
  ///
  /// - Parameter fields: names and values, in their order; a name may come several times.
  /// - Returns: the body; it is empty for no fields.
  public static func form(_ fields: [(String, String)]) -> RequestBody {
    let items = fields.map { name, value in
      PercentEncoding.formEncoded(Array(name.utf8)) + "=" + PercentEncoding.formEncoded(Array(value.utf8))
    }
    return .text(items.joined(separator: "&"), contentType: "application/x-www-form-urlencoded")
  }
}
