// SPDX-License-Identifier: Apache-2.0
extension WebURL {
  /// The layout of a URL's text: where its parts begin and end, in bytes, and its scheme and port.
  ///
  ///     https://user:password@host.example:8443/path?query#fragment
  ///             │   │         │           │    │    │     └ queryEnd
  ///             │   │         │           │    │    └ pathEnd
  ///             │   │         │           │    └ pathStart
  ///             │   │         │           └ hostEnd
  ///             │   │         └ hostStart
  ///             │   └ usernameEnd
  ///             └ authorityStart
  struct Layout: Equatable, Sendable {
    // Without user info the user name ends where the host starts.
    var usernameEnd: UInt32 = 0
    var hostStart: UInt32 = 0
    var hostEnd: UInt32 = 0
    var pathStart: UInt32 = 0
    var pathEnd: UInt32 = 0
    var queryEnd: UInt32 = 0
    var port: UInt16?
    var scheme = Scheme.http
    var address = HostAddress.none

    /// The host, if it is an address: an IPv4 address need not be read from the text again.
    enum HostAddress: Equatable, Sendable {
      case none, ipv6
      case ipv4(UInt32)

      init(_ host: WebURL.Host) {
        switch host {
        case .name: self = .none
        case .address(let address):
          self = address.family == .ipv4 ? .ipv4(UInt32(truncatingIfNeeded: address.low)) : .ipv6
        }
      }
    }

    /// After the scheme, its colon and two slashes; constant, since counting the scheme's text would cost as much as
    /// reading a part.
    var authorityStart: UInt32 {
      switch scheme {
      case .ws: 5
      case .wss: 6
      case .http: 7
      case .https: 8
      }
    }
  }

  /// The scheme.
  public var scheme: Scheme { layout.scheme }

  /// The user name, percent-encoded; empty when there is none.
  public var username: String { part(layout.authorityStart..<layout.usernameEnd) }

  /// The password, percent-encoded; empty when there is none.
  public var password: String {
    // A colon is before it, an at sign after it.
    layout.usernameEnd + 1 < layout.hostStart ? part(layout.usernameEnd + 1..<layout.hostStart - 1) : ""
  }

  /// The host.
  public var host: Host {
    layout.address(in: href).map(Host.address) ?? .name(part(layout.hostStart..<layout.hostEnd))
  }

  /// The port, nil when it is the scheme's default.
  public var port: UInt16? { layout.port }

  /// The path, percent-encoded, its dot segments resolved; it begins with a slash.
  public var path: String { part(layout.pathStart..<layout.pathEnd) }

  /// The query without its `?`, percent-encoded; nil without one, empty for a lone `?`.
  public var query: String? {
    layout.pathEnd < layout.queryEnd ? part(layout.pathEnd + 1..<layout.queryEnd) : nil
  }

  /// The fragment without its `#`, percent-encoded; nil without one, empty for a lone `#`.
  public var fragment: String? {
    layout.hasFragment(in: href) ? part(layout.queryEnd + 1..<UInt32(href.utf8.count)) : nil
  }

  /// The port that a connection goes to: the URL's own or the scheme's default.
  public var effectivePort: UInt16 { port ?? scheme.defaultPort }

  /// The host, and the port when it is not the default: the value of the `Host` field (RFC 9110 §7.2).
  public var hostAndPort: String { part(layout.hostStart..<layout.pathStart) }

  /// User info, host and port, as in the URL.
  var authority: String { part(layout.authorityStart..<layout.pathStart) }

  /// Whether it has a user name or a password.
  var hasUserInfo: Bool { layout.authorityStart < layout.hostStart }

  /// User name and password with the `@` after them, as in the URL; empty when there are none.
  var userInfo: String { part(layout.authorityStart..<layout.hostStart) }

  /// The path and the query, as in a request line (RFC 9112 §3.2.1).
  public var requestTarget: String { part(layout.pathStart..<layout.queryEnd) }

  private func part(_ range: Range<UInt32>) -> String {
    ASCII.text(href.utf8.span.extracting(Int(range.lowerBound)..<Int(range.upperBound)))
  }
}

extension WebURL: CustomStringConvertible {
  /// The whole URL as text.
  ///
  /// It may hold secrets: do not log it.
  public var description: String { href }

  /// The URL as text, with parts of it left out or replaced.
  ///
  /// - Parameters:
  ///   - host: the host to write instead of the URL's own.
  ///   - userInfo: whether user name and password are written.
  ///   - fragment: whether the fragment is written.
  /// - Returns: what a browser would write for these parts.
  public func text(host: Host? = nil, userInfo: Bool = true, fragment: Bool = true) -> String {
    if host == nil, userInfo || !hasUserInfo, fragment || !layout.hasFragment(in: href) { return href }
    let head = userInfo ? layout.hostStart : layout.authorityStart
    let end = fragment ? href.utf8.count : Int(layout.queryEnd)
    switch host {
    case nil: return layout.text(of: href, upTo: head, to: end)
    case .name(let name): return layout.text(of: href, upTo: head, name.utf8.span, to: end)
    case .address(let address):
      var text = AddressText()
      address.writeURLHost(to: &text)
      return layout.text(of: href, upTo: head, text.bytes.span.extracting(0..<text.count), to: end)
    }
  }

  /// The URL as text, with the host of another one.
  func text(hostOf other: WebURL) -> String { layout.text(of: href, hostOf: other) }
}

// Functions of the text and not of the URL that has it: a span of a value's own text retains the value.
extension WebURL.Layout {
  /// The text with the host of another URL.
  func text(of href: String, hostOf other: WebURL) -> String {
    text(of: href, hostOf: other.href, Int(other.layout.hostStart)..<Int(other.layout.hostEnd))
  }

  fileprivate func text(of href: String, hostOf other: String, _ host: Range<Int>) -> String {
    text(of: href, upTo: hostStart, other.utf8.span.extracting(host), to: href.utf8.count)
  }

  /// The text with its host, up to an end after it.
  fileprivate func text(of href: String, upTo head: UInt32, to end: Int) -> String {
    text(of: href, upTo: head, href.utf8.span.extracting(Int(hostStart)..<Int(hostEnd)), to: end)
  }

  /// The text with another host, up to an end after it.
  fileprivate func text(of href: String, upTo head: UInt32, _ host: Span<UInt8>, to end: Int) -> String {
    let whole = href.utf8.span
    return ASCII.text(whole.extracting(0..<Int(head)), host, whole.extracting(Int(hostEnd)..<end))
  }

  /// The host, if it is an address.
  func address(in href: String) -> IPAddress? {
    switch address {
    case .none: nil
    case .ipv4(let value): .ipv4(value)
    // In brackets.
    case .ipv6: IPAddress(ascii: href.utf8.span.extracting(Int(hostStart) + 1..<Int(hostEnd) - 1))
    }
  }

  /// Whether there is a fragment, even an empty one.
  func hasFragment(in href: String) -> Bool { Int(queryEnd) < href.utf8.count }
}

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

  /// Scheme, host and port: the only parts of an endpoint that may be logged.
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

extension WebURL {
  /// The URL for parsers that follow RFC 3986, such as Foundation's.
  ///
  /// A browser leaves `|`, `[`, `^`, a lone `%` and others as they are (WHATWG URL §1.3). Foundation assumes that a
  /// text with one of them is not encoded yet, and encodes all of it, including each `%`. The host stays as it is: a
  /// name that can be looked up has none of them.
  package var rfc3986: String {
    let text = href.utf8.span
    let host = Int(layout.hostStart)..<Int(layout.hostEnd)
    let strangers = text.indices.filter { !host.contains($0) && needsEncoding(at: $0, in: text) }
    guard !strangers.isEmpty else { return href }
    var output: [UInt8] = []
    var start = 0
    for stranger in strangers {
      for index in start..<stranger { output.append(text[index]) }
      // `reserved` contains all of these bytes, also the percent sign and the hash.
      PercentEncoding.append(text.extracting(stranger..<stranger + 1), .reserved, to: &output)
      start = stranger + 1
    }
    for index in start..<text.count { output.append(text[index]) }
    return String(decoding: output, as: UTF8.self)
  }

  private func needsEncoding(at index: Int, in text: Span<UInt8>) -> Bool {
    switch text[index] {
    case ASCII.percent:
      index + 2 >= text.count || ASCII.hexValue(text[index + 1]) == nil || ASCII.hexValue(text[index + 2]) == nil
    case ASCII.hash: index != Int(layout.queryEnd)
    case let byte: PercentEncoding.EncodeSet.notRFC3986.contains(byte)
    }
  }
}
