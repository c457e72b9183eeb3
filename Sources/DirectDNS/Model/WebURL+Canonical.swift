// SPDX-License-Identifier: Apache-2.0
extension WebURL.Layout {
  /// The layout of a text that is a URL's serialisation already, found by one scan of it; nil when in doubt.
  ///
  /// Nearly all URLs are of this kind, and are kept as they are. For a text that this accepts, the parser would give
  /// the same bytes; all others (capitals in the host, user info, IPv6, a final dot…) are left to the parser.
  static func canonical(_ text: String) -> WebURL.Layout? {
    text.isContiguousUTF8 ? WebURL.Layout(canonical: text.utf8.span) : nil
  }

  private init?(canonical text: Span<UInt8>) {
    guard text.count <= Int32.max, let scheme = Self.scheme(text) else { return nil }
    self.scheme = scheme
    let hostStart = Int(authorityStart)
    guard let (hostEnd, address) = Self.host(text, from: hostStart) else { return nil }
    var end = hostEnd
    if end < text.count, text[end] == ASCII.colon {
      guard let (number, portEnd) = Self.port(text, from: end + 1), number != scheme.defaultPort else { return nil }
      port = number
      end = portEnd
    }
    pathStart = UInt32(end)
    guard let pathEnd = Self.path(text, from: end) else { return nil }
    end = pathEnd
    if end < text.count, text[end] == ASCII.question { end = URLPart.query.end(in: text, from: end + 1) }
    queryEnd = UInt32(end)
    if end < text.count, text[end] == ASCII.hash { end = URLPart.fragment.end(in: text, from: end + 1) }
    guard end == text.count else { return nil }
    usernameEnd = UInt32(hostStart)
    self.hostStart = UInt32(hostStart)
    self.hostEnd = UInt32(hostEnd)
    self.address = address
    self.pathEnd = UInt32(pathEnd)
  }

  @inline(__always)
  private static func scheme(_ text: Span<UInt8>) -> WebURL.Scheme? {
    // None is shorter than `ws://h/`.
    guard text.count >= 7 else { return nil }
    let isSocket = text[0] == UInt8(ascii: "w") && text[1] == UInt8(ascii: "s")
    let isHTTP =
      text[0] == UInt8(ascii: "h") && text[1] == UInt8(ascii: "t") && text[2] == UInt8(ascii: "t")
      && text[3] == UInt8(ascii: "p")
    guard isSocket || isHTTP else { return nil }
    var end = isSocket ? 2 : 4
    let isSecure = text[end] == UInt8(ascii: "s")
    if isSecure { end += 1 }
    guard end + 2 < text.count, text[end] == ASCII.colon, text[end + 1] == ASCII.slash, text[end + 2] == ASCII.slash
    else { return nil }
    return isSocket ? isSecure ? .wss : .ws : isSecure ? .https : .http
  }

  /// A name of plain labels without a final dot, or a dotted quad.
  @inline(__always)
  private static func host(_ text: Span<UInt8>, from start: Int) -> (end: Int, address: HostAddress)? {
    let end = URLPart.host.end(in: text, from: start)
    var labelStart = end
    while labelStart > start, text[labelStart - 1] != ASCII.dot { labelStart -= 1 }
    guard labelStart < end else { return nil }
    guard LegacyIPv4.isNumber(text.extracting(labelStart..<end)) else { return (end, .none) }
    return IPAddress.dottedQuad(text.extracting(start..<end)).map { (end, .ipv4($0)) }
  }

  private static func port(_ text: Span<UInt8>, from start: Int) -> (port: UInt16, end: Int)? {
    var value: UInt32 = 0
    var end = start
    while end < text.count, end < start + 5, ASCII.isDigit(text[end]) {
      value = value * 10 + UInt32(text[end] - ASCII.zero)
      end += 1
    }
    let hasLeadingZero = end > start + 1 && text[start] == ASCII.zero
    guard end > start, !hasLeadingZero, let port = UInt16(exactly: value) else { return nil }
    return (port, end)
  }

  /// The end of a path that begins with a slash and has no dot segments.
  @inline(__always)
  private static func path(_ text: Span<UInt8>, from start: Int) -> Int? {
    var end = start
    while end < text.count, text[end] == ASCII.slash {
      let segment = end + 1
      end = URLPart.segment.end(in: text, from: segment)
      guard segment < end, text[segment] == ASCII.dot || text[segment] == ASCII.percent else { continue }
      if DotSegment(text.extracting(segment..<end)) != nil { return nil }
    }
    return end > start ? end : nil
  }
}

/// A path segment that moves instead of naming something (WHATWG URL §4.1, "single-dot" and "double-dot").
enum DotSegment {
  case current
  case parent

  /// Recognises `.` and `..`, each dot also written `%2e`.
  init?(_ segment: Span<UInt8>) {
    var dots = 0
    var index = 0
    while index < segment.count, dots <= 2 {
      if segment[index] == ASCII.dot {
        index += 1
      } else if segment[index] == ASCII.percent, index + 2 < segment.count,
        segment[index + 1] == UInt8(ascii: "2"), segment[index + 2] | 0x20 == UInt8(ascii: "e")
      {
        index += 3
      } else {
        return nil
      }
      dots += 1
    }
    switch dots {
    case 1: self = .current
    case 2: self = .parent
    default: return nil
    }
  }
}
