// SPDX-License-Identifier: Apache-2.0
/// The `Cookie` field made of cookies (RFC 6265bis §5.8.3, steps 4 and 6).
enum CookieHeader {
  /// The cookies' pairs, in the order given, as many as fit.
  ///
  /// - Parameters:
  ///   - cookies: the cookies.
  ///   - limit: the bytes that the whole line `Cookie: …` may have; a cookie that no longer fits is left out.
  /// - Returns: the field's value; nil when there is nothing to send.
  static func value(of cookies: some Sequence<Cookie>, limit: Int) -> String? {
    var text = ""
    var room = limit - "Cookie: ".utf8.count
    for cookie in cookies {
      let separator = text.isEmpty ? "" : "; "
      let equals = cookie.name.isEmpty ? "" : "="
      let size = separator.utf8.count + cookie.name.utf8.count + equals.utf8.count + cookie.value.utf8.count
      guard size <= room else { continue }
      room -= size
      text += separator
      text += cookie.name
      text += equals
      text += cookie.value
    }
    return text.isEmpty ? nil : text
  }
}
