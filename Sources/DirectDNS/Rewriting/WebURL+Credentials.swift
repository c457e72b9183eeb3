// SPDX-License-Identifier: Apache-2.0
extension WebURL {
  /// The URL's user info as the value of `Authorization` (RFC 7617); nil without user info.
  ///
  /// It is a secret.
  var basicCredentials: String? {
    guard !userInfo.isEmpty else { return nil }
    let pair = PercentEncoding.decoded(username.utf8.span) + [ASCII.colon] + PercentEncoding.decoded(password.utf8.span)
    return "Basic " + Base64.encoded(pair)
  }
}
