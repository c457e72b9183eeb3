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
    guard let host = host?.description else {
      return ASCII.text(head, whole.extracting(hostStart..<hostEnd), tail)
    }
    return ASCII.text(head, host.utf8.span, tail)
  }

  /// The URL as it is requested from a host: without user info and fragment.
  func at(_ host: Host) -> WebURL {
    let href = text(host: host, userInfo: false, fragment: false)
    var moved = layout
    moved.usernameEnd = layout.authorityStart
    moved.hostStart = layout.authorityStart
    // What stands behind the host keeps its distances from the end.
    let end = UInt32(href.utf8.count)
    moved.hostEnd = end - (layout.queryEnd - layout.hostEnd)
    moved.pathStart = end - (layout.queryEnd - layout.pathStart)
    moved.pathEnd = end - (layout.queryEnd - layout.pathEnd)
    moved.queryEnd = end
    if case .address = host { moved.hostIsAddress = true } else { moved.hostIsAddress = false }
    return WebURL(href: href, layout: moved)
  }
}
