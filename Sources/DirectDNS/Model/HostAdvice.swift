// SPDX-License-Identifier: Apache-2.0
/// What to write in place of a text that is no host: a pure function, for the readers of errors.
enum HostAdvice {
  /// `: give www.example.com alone` for a text that is more than a host; nil where no host can be made out.
  ///
  /// - Parameter text: what was given for a host, such as a URL, `HOST:PORT`, or an IPv6 address with its zone.
  /// - Returns: the end of a message, or nil.
  static func ending(for text: String) -> String {
    if let percent = text.firstIndex(of: "%"), let address = IPAddress(text[..<percent].withoutBrackets) {
      return address.family == .ipv6 ? ": an IPv6 zone is refused everywhere, give \(address) without it" : ""
    }
    guard let host = host(in: text[...]) else { return "" }
    return ": give \(host) alone"
  }

  /// The host of a URL of any scheme, or of what might be the middle of one.
  private static func host(in text: Substring) -> WebURL.Host? {
    var rest = text
    if let scheme = rest.firstRange(of: "://") { rest = rest[scheme.upperBound...] }
    rest = rest.prefix { !"/?#\\".contains($0) }
    if let at = rest.lastIndex(of: "@") { rest = rest[rest.index(after: at)...] }
    if let colon = rest.lastIndex(of: ":"), rest[..<colon].contains("]") || !rest[..<colon].contains(":"),
      rest[rest.index(after: colon)...].utf8.allSatisfy(ASCII.isDigit)
    {
      rest = rest[..<colon]
    }
    // Nothing was left out: what is wrong with it is in the name itself.
    guard rest.count < text.count, let host = try? WebURL.Host(String(rest)) else { return nil }
    return host
  }
}

extension Substring {
  fileprivate var withoutBrackets: String { hasPrefix("[") ? String(dropFirst()) : String(self) }
}
