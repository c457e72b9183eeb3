// SPDX-License-Identifier: Apache-2.0
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

  /// The text with its host, up to an end behind it.
  fileprivate func text(of href: String, upTo head: UInt32, to end: Int) -> String {
    text(of: href, upTo: head, href.utf8.span.extracting(Int(hostStart)..<Int(hostEnd)), to: end)
  }

  /// The text with another host, up to an end behind it.
  fileprivate func text(of href: String, upTo head: UInt32, _ host: Span<UInt8>, to end: Int) -> String {
    let whole = href.utf8.span
    return ASCII.text(whole.extracting(0..<Int(head)), host, whole.extracting(Int(hostEnd)..<end))
  }

  /// The host, where it is an address.
  func address(in href: String) -> IPAddress? {
    switch address {
    case .none: nil
    case .ipv4(let value): .ipv4(value)
    // In brackets.
    case .ipv6: IPAddress(ascii: href.utf8.span.extracting(Int(hostStart) + 1..<Int(hostEnd) - 1))
    }
  }

  /// Whether there is a fragment, be it empty.
  func hasFragment(in href: String) -> Bool { Int(queryEnd) < href.utf8.count }
}
