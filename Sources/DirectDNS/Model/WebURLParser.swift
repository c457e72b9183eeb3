/// The WHATWG basic URL parser (§4.4), for the four special schemes that have a host.
///
/// With only these schemes the standard's state machine becomes a descent: scheme, authority, path, query,
/// fragment. Method names say which of its states they stand for.
struct WebURLParser {
  private let input: [UInt8]
  private var position = 0

  /// Takes the text without surrounding C0 controls and spaces, and without any tab or line break in it.
  init(_ text: String) {
    let bytes = text.utf8.filter { $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }
    let start = bytes.firstIndex { $0 > 0x20 } ?? 0
    let end = bytes.lastIndex { $0 > 0x20 }.map { $0 + 1 } ?? 0
    input = Array(bytes[start..<end])
  }

  mutating func url(base: WebURL?) throws(DirectDNSError) -> WebURL {
    guard let name = takeScheme() else {
      guard let base else {
        throw DirectDNSError(.invalidURL, "the URL has no scheme: begin it with https:// or http://")
      }
      return try relative(to: base)
    }
    guard let scheme = WebURL.Scheme(rawValue: name) else {
      throw DirectDNSError(
        .invalidURL,
        "the URL's scheme \(DirectDNSError.quoted(name)) is not supported: use http, https, ws or wss")
    }
    // Special relative or authority state: `http:next` is relative to an http base.
    let hasTwoSlashes = byte(at: 0) == ASCII.slash && byte(at: 1) == ASCII.slash
    if let base, base.scheme == scheme, !hasTwoSlashes { return try relative(to: base) }
    return try absolute(scheme)
  }

  /// Scheme start and scheme state: the scheme in lower case, if the text has one.
  fileprivate mutating func takeScheme() -> String? {
    guard let colon = input.firstIndex(of: ASCII.colon), let first = input.first, ASCII.isLetter(first),
      input[..<colon].allSatisfy(Self.isSchemeByte)
    else { return nil }
    position = colon + 1
    return String(decoding: input[..<colon].map(ASCII.lowercased), as: UTF8.self)
  }

  private static func isSchemeByte(_ byte: UInt8) -> Bool {
    ASCII.isLetter(byte) || ASCII.isDigit(byte) || byte == ASCII.hyphen || byte == ASCII.dot
      || byte == UInt8(ascii: "+")
  }

  /// Special authority ignore slashes state, and all that follows.
  private mutating func absolute(_ scheme: WebURL.Scheme) throws(DirectDNSError) -> WebURL {
    while Self.isSlash(byte(at: 0)) { position += 1 }
    let authority = takeUntil { Self.isSlash($0) || Self.endsPath($0) }
    var url = try authorityURL(scheme, authority)
    url.path = takePath(below: [])
    takeQueryAndFragment(&url)
    return url
  }

  /// Relative and relative slash state.
  private mutating func relative(to base: WebURL) throws(DirectDNSError) -> WebURL {
    var url = base
    url.fragment = nil
    guard let first = byte(at: 0) else { return url }
    if Self.isSlash(first), Self.isSlash(byte(at: 1)) { return try absolute(base.scheme) }
    if !Self.endsPath(first) {
      let directory = base.path.utf8.prefix(
        upTo: base.path.utf8.lastIndex(of: ASCII.slash) ?? base.path.startIndex)
      url.path = takePath(below: Self.isSlash(first) ? [] : Array(directory))
    }
    if first != ASCII.hash { url.query = nil }
    takeQueryAndFragment(&url)
    return url
  }

  /// Authority, host and port state: `user:password@host:port`.
  private func authorityURL(
    _ scheme: WebURL.Scheme, _ authority: Range<Int>
  ) throws(DirectDNSError) -> WebURL {
    var hostStart = authority.lowerBound
    var username = ""
    var password = ""
    // The last @ ends the user info; earlier ones belong to it and are encoded.
    if let at = input[authority].lastIndex(of: ASCII.at) {
      let userInfo = authority.lowerBound..<at
      let colon = input[userInfo].firstIndex(of: ASCII.colon) ?? at
      username = encoded(userInfo.lowerBound..<colon, .userInfo)
      password = encoded(min(colon + 1, at)..<at, .userInfo)
      hostStart = at + 1
    }
    let hostAndPort = try WebURL.HostAndPort(input.span.extracting(hostStart..<authority.upperBound))
    return WebURL(
      scheme: scheme, username: username, password: password, host: hostAndPort.host,
      port: hostAndPort.port == scheme.defaultPort ? nil : hostAndPort.port, path: "/", query: nil,
      fragment: nil)
  }

  /// Path state: the segments below a directory (of the base, without its final slash), dots resolved.
  private mutating func takePath(below directory: [UInt8]) -> String {
    var path = directory
    if Self.isSlash(byte(at: 0)) { position += 1 }
    while true {
      let segment = takeUntil { Self.isSlash($0) || Self.endsPath($0) }
      let isLast = !Self.isSlash(byte(at: 0))
      switch DotSegment(input.span.extracting(segment)) {
      case nil:
        path.append(ASCII.slash)
        PercentEncoding.append(input.span.extracting(segment), .path, to: &path)
      case .current: if isLast { path.append(ASCII.slash) }
      case .parent:
        if let slash = path.lastIndex(of: ASCII.slash) { path.removeSubrange(slash...) }
        if isLast { path.append(ASCII.slash) }
      }
      if isLast { return String(decoding: path, as: UTF8.self) }
      position += 1
    }
  }

  /// Query and fragment state.
  private mutating func takeQueryAndFragment(_ url: inout WebURL) {
    if byte(at: 0) == ASCII.question {
      position += 1
      url.query = encoded(takeUntil { $0 == ASCII.hash }, .query)
    }
    if byte(at: 0) == ASCII.hash {
      url.fragment = encoded(position + 1..<input.count, .fragment)
      position = input.count
    }
  }

  private func byte(at offset: Int) -> UInt8? {
    position + offset < input.count ? input[position + offset] : nil
  }

  /// A special URL's path may be written with backslashes.
  private static func isSlash(_ byte: UInt8?) -> Bool { byte == ASCII.slash || byte == ASCII.backslash }

  private static func endsPath(_ byte: UInt8) -> Bool { byte == ASCII.question || byte == ASCII.hash }

  private mutating func takeUntil(_ isEnd: (UInt8) -> Bool) -> Range<Int> {
    let start = position
    while position < input.count, !isEnd(input[position]) { position += 1 }
    return start..<position
  }

  private func encoded(_ range: Range<Int>, _ set: PercentEncoding.EncodeSet) -> String {
    PercentEncoding.encoded(input.span.extracting(range), set)
  }
}

extension WebURL {
  /// The scheme that a text begins with, in lower case, whether it is one of ours or not; nil without one.
  public static func schemeName(of text: String) -> String? {
    var parser = WebURLParser(text)
    return parser.takeScheme()
  }
}
