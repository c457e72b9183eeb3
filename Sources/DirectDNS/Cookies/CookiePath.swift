// SPDX-License-Identifier: Apache-2.0
/// The two rules about paths (RFC 6265bis §5.1.4).
package enum CookiePath {
  /// The path of a cookie that came without one: the folder of the URL's path.
  package static func defaultPath(of path: String) -> String {
    guard path.utf8.first == ASCII.slash, let slash = path.utf8.lastIndex(of: ASCII.slash), slash != path.startIndex
    else { return "/" }
    return String(path[..<slash])
  }

  /// Whether a request for a path gets the cookies of another: the same one or a folder above it.
  package static func matches(_ requested: String, _ path: String) -> Bool {
    let request = requested.utf8.span
    let prefix = path.utf8.span
    guard !prefix.isEmpty, request.count >= prefix.count else { return false }
    for index in prefix.indices where request[index] != prefix[index] { return false }
    return request.count == prefix.count || prefix[prefix.count - 1] == ASCII.slash
      || request[prefix.count] == ASCII.slash
  }
}
