// SPDX-License-Identifier: Apache-2.0
/// The WHATWG basic URL parser (§4.4), for the four special schemes that have a host.
///
/// With only these schemes, the standard's state machine becomes a sequence: scheme, authority, path, query, fragment.
/// The comments of the methods name the states that they stand for. Each method writes its part after the earlier ones.
struct WebURLParser {
  private let input: [UInt8]
  private var position = 0
  private var output: [UInt8] = []
  private var layout = WebURL.Layout()

  /// Takes the text without surrounding C0 controls and spaces, and without any tab or line break in it.
  init(_ text: String) {
    let bytes = text.utf8.filter { $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }
    let start = bytes.firstIndex { $0 > 0x20 } ?? 0
    let end = bytes.lastIndex { $0 > 0x20 }.map { $0 + 1 } ?? 0
    input = Array(bytes[start..<end])
  }

  /// Reads the URL; a parser can be used only once.
  mutating func url(base: WebURL?) throws(DirectDNSError) -> WebURL {
    output.reserveCapacity(input.count + 16)
    try takeURL(base: base)
    // The layout's numbers grow from part to part: if the last one fits, all do, even with a longer host later.
    guard output.count <= Int32.max else {
      throw DirectDNSError(.invalidURL, "The URL is longer than 2 GiB, which no server takes.")
    }
    return WebURL(href: ASCII.text(output.span), layout: layout)
  }

  private mutating func takeURL(base: WebURL?) throws(DirectDNSError) {
    guard let name = takeScheme() else {
      guard let base else {
        throw DirectDNSError(.invalidURL, "The URL has no scheme: put https:// or http:// in front of it.")
      }
      return try takeRelative(to: base)
    }
    guard let scheme = WebURL.Scheme(rawValue: name) else {
      throw DirectDNSError(
        .invalidURL,
        "The URL's scheme \(DirectDNSError.quoted(name)) is not supported: use http or https, "
          + "or ws or wss for a WebSocket.")
    }
    // Special relative or authority state: `http:next` is relative to an http base.
    let hasTwoSlashes = byte(at: 0) == ASCII.slash && byte(at: 1) == ASCII.slash
    if let base, base.scheme == scheme, !hasTwoSlashes { return try takeRelative(to: base) }
    try takeAbsolute(scheme)
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
  private mutating func takeAbsolute(_ scheme: WebURL.Scheme) throws(DirectDNSError) {
    while Self.isSlash(byte(at: 0)) { position += 1 }
    layout.scheme = scheme
    output = Array("\(scheme.rawValue)://".utf8)
    try takeAuthority()
    takePath()
    takeQuery()
    takeFragment()
  }

  /// Relative and relative slash state.
  private mutating func takeRelative(to base: WebURL) throws(DirectDNSError) {
    let first = byte(at: 0)
    if Self.isSlash(first), Self.isSlash(byte(at: 1)) { return try takeAbsolute(base.scheme) }
    layout = base.layout
    switch first {
    case nil, ASCII.hash: keep(base, upTo: base.layout.queryEnd)
    case ASCII.question: keep(base, upTo: base.layout.pathEnd)
    case let first where Self.isSlash(first):
      keep(base, upTo: base.layout.pathStart)
      takePath()
    default:
      keep(base, upTo: base.layout.pathEnd)
      removeLastSegment()
      takePath()
    }
    if first != nil, first != ASCII.hash { takeQuery() }
    takeFragment()
  }

  private mutating func keep(_ base: WebURL, upTo end: UInt32) { output += base.href.utf8.prefix(Int(end)) }

  /// Authority, host and port state: `user:password@host:port`.
  private mutating func takeAuthority() throws(DirectDNSError) {
    let authority = takeUntil { Self.isSlash($0) || Self.endsPath($0) }
    var hostStart = authority.lowerBound
    layout.usernameEnd = written
    // The last @ ends the user info; earlier ones belong to it and are encoded.
    if let at = input[authority].lastIndex(of: ASCII.at) {
      writeUserInfo(authority.lowerBound..<at)
      hostStart = at + 1
    }
    layout.hostStart = written
    let hostAndPort = try WebURL.HostAndPort(input.span.extracting(hostStart..<authority.upperBound))
    output += hostAndPort.host.description.utf8
    layout.hostEnd = written
    layout.address = WebURL.Layout.HostAddress(hostAndPort.host)
    if let port = hostAndPort.port, port != layout.scheme.defaultPort {
      layout.port = port
      output += ":\(port)".utf8
    }
    layout.pathStart = written
  }

  /// User name and password, each without its separator when it is empty.
  private mutating func writeUserInfo(_ userInfo: Range<Int>) {
    let colon = input[userInfo].firstIndex(of: ASCII.colon) ?? userInfo.upperBound
    write(userInfo.lowerBound..<colon, .userInfo)
    layout.usernameEnd = written
    let password = userInfo.suffix(from: min(colon + 1, userInfo.upperBound))
    if !password.isEmpty {
      output.append(ASCII.colon)
      write(password, .userInfo)
    }
    if layout.usernameEnd > layout.authorityStart || !password.isEmpty { output.append(ASCII.at) }
  }

  /// Path state: the segments, with dots resolved, after those of a base's folder that are written already.
  private mutating func takePath() {
    if Self.isSlash(byte(at: 0)) { position += 1 }
    while true {
      let segment = takeUntil { Self.isSlash($0) || Self.endsPath($0) }
      let isLast = !Self.isSlash(byte(at: 0))
      switch DotSegment(input.span.extracting(segment)) {
      case nil:
        output.append(ASCII.slash)
        write(segment, .path)
      case .current: if isLast { output.append(ASCII.slash) }
      case .parent:
        removeLastSegment()
        if isLast { output.append(ASCII.slash) }
      }
      if isLast { break }
      position += 1
    }
    layout.pathEnd = written
    layout.queryEnd = written
  }

  /// Removes the path's last segment and the slash before it.
  private mutating func removeLastSegment() {
    guard let slash = output.lastIndex(of: ASCII.slash), slash >= layout.pathStart else { return }
    output.removeSubrange(slash...)
  }

  /// Query state.
  private mutating func takeQuery() {
    if byte(at: 0) == ASCII.question {
      position += 1
      output.append(ASCII.question)
      write(takeUntil { $0 == ASCII.hash }, .query)
    }
    layout.queryEnd = written
  }

  /// Fragment state.
  private mutating func takeFragment() {
    guard byte(at: 0) == ASCII.hash else { return }
    output.append(ASCII.hash)
    write(position + 1..<input.count, .fragment)
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

  private var written: UInt32 { UInt32(truncatingIfNeeded: output.count) }

  private mutating func write(_ range: Range<Int>, _ set: PercentEncoding.EncodeSet) {
    let input = input
    PercentEncoding.append(input.span.extracting(range), set, to: &output)
  }
}

extension WebURL {
  /// The scheme that a text begins with, in lower case, whether it is supported or not; nil without one.
  package static func schemeName(of text: String) -> String? {
    var parser = WebURLParser(text)
    return parser.takeScheme()
  }
}
