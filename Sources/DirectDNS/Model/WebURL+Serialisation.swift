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
    let whole = href.utf8.span
    let authorityStart = Int(layout.authorityStart)
    let hostStart = Int(layout.hostStart)
    let hostEnd = Int(layout.hostEnd)
    let end = fragment ? whole.count : Int(layout.queryEnd)
    if host == nil, userInfo || authorityStart == hostStart, end == whole.count { return href }

    let head = whole.extracting(0..<(userInfo ? hostStart : authorityStart))
    let tail = whole.extracting(hostEnd..<end)
    switch host {
    case nil: return ASCII.text(head, whole.extracting(hostStart..<hostEnd), tail)
    case .name(let name): return ASCII.text(head, name.utf8.span, tail)
    case .address(let address):
      var text = AddressText()
      address.writeURLHost(to: &text)
      return ASCII.text(head, text.bytes.span.extracting(0..<text.count), tail)
    }
  }

  /// The URL as text, with the host of another one.
  func text(hostOf other: WebURL) -> String {
    let whole = href.utf8.span
    let host = other.href.utf8.span.extracting(Int(other.layout.hostStart)..<Int(other.layout.hostEnd))
    return ASCII.text(
      whole.extracting(0..<Int(layout.hostStart)), host, whole.extracting(Int(layout.hostEnd)..<whole.count))
  }
}
