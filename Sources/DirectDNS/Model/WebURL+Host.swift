// SPDX-License-Identifier: Apache-2.0
extension WebURL {
  /// The host of a URL, as it is used in origins, in the URL's text and in the `Host` field.
  ///
  /// It may have all that WHATWG URL permits, such as a final dot and empty labels; to look it up, make a ``HostName``
  /// of it.
  public enum Host: Hashable, Sendable, CustomStringConvertible {
    /// A name in lower-case ASCII; international labels in their `xn--` form.
    case name(String)
    /// An address, in whatever spelling it was written.
    case address(IPAddress)

    /// Reads a host as a browser does (WHATWG URL §3.5, "host parser", for special schemes).
    ///
    /// Percent-encoding is decoded, international names become their ASCII form, and a host whose last label is a
    /// number is an IPv4 address in any legacy spelling (`0x7f.1`, `2130706433`). IPv6 addresses are in brackets,
    /// without a zone. When in doubt the host is refused.
    ///
    /// - Parameter text: the host without user info and port.
    /// - Throws: `invalidName` with the reason.
    public init(_ text: String) throws(DirectDNSError) { try self.init(utf8: text.utf8.span) }

    /// The host as written in a URL: a name, a dotted quad, or an IPv6 address in brackets.
    public var description: String {
      switch self {
      case .name(let name): return name
      case .address(let address):
        var text = AddressText()
        address.writeURLHost(to: &text)
        return ASCII.text(text.bytes.span.extracting(0..<text.count))
      }
    }
  }
}

extension WebURL.Host {
  /// Whether the host is a name that is `suffix` or below it; final dots make no difference.
  ///
  /// It also works for names that cannot be looked up, so that an odd spelling does not evade a list: a server that
  /// gets `Host: a.example..` may take it for `a.example`.
  func hasSuffix(_ suffix: HostName) -> Bool {
    guard case .name(let name) = self else { return false }
    var text = name.utf8.span
    while !text.isEmpty, text[text.count - 1] == ASCII.dot { text = text.extracting(droppingLast: 1) }
    return HostName.ends(text, with: suffix)
  }
}

extension WebURL.Host {
  /// Reads a host.
  ///
  /// - Parameters:
  ///   - text: the host.
  ///   - advises: whether the reason says what to give instead; false while a possible advice is tried.
  /// - Throws: `invalidName` with the reason.
  init(utf8 text: Span<UInt8>, advises: Bool = true) throws(DirectDNSError) {
    guard !text.isEmpty else { throw DirectDNSError(.invalidName, "The host is empty.") }
    if text[0] == ASCII.openBracket {
      self = try .address(WebURL.Host.bracketed(text, advises))
      return
    }
    let decoded = PercentEncoding.decoded(text)
    guard let domain = String(validating: decoded, as: UTF8.self) else {
      throw DirectDNSError(.invalidName, "The host's percent-encoding is not UTF-8.")
    }
    // A host that is ASCII already stays as it is, even with invalid `xn--` labels (WHATWG URL §3.3, "domain to
    // ASCII"): it is looked up as it is written.
    let name: String
    do throws(DirectDNSError) {
      name = decoded.allSatisfy { $0 < 0x80 } ? domain.lowercased() : try IDNA.ascii(domain)
    } catch {
      let fault = error.message.hasSuffix(".") ? String(error.message.dropLast()) : error.message
      throw DirectDNSError(.invalidName, fault + (advises ? HostAdvice.ending(for: domain) : "."))
    }
    try WebURL.Host.check(name, advises)
    guard LegacyIPv4.isWritten(in: name.utf8.span) else {
      self = .name(name)
      return
    }
    guard let address = LegacyIPv4.parse(name.utf8.span) else {
      throw DirectDNSError(
        .invalidName,
        "The host \(DirectDNSError.quoted(name)) ends in a number, so it must be an IPv4 address, and is not."
      )
    }
    self = .address(address)
  }

  private static func bracketed(_ text: Span<UInt8>, _ advises: Bool) throws(DirectDNSError) -> IPAddress {
    let last = text.count - 1
    guard last > 0, text[last] == ASCII.closeBracket,
      let address = IPAddress(ascii: text.extracting(1..<last)), address.family == .ipv6
    else {
      let written = String(decoding: text.indices.map { text[$0] }, as: UTF8.self)
      throw DirectDNSError(
        .invalidName,
        "A host in brackets must be an IPv6 address such as [2001:db8::1], without a zone"
          + (advises ? HostAdvice.ending(for: written) : "."))
    }
    return address
  }

  private static func check(_ name: String, _ advises: Bool) throws(DirectDNSError) {
    guard !name.isEmpty else {
      throw DirectDNSError(.invalidName, "The host is empty: all its characters are ignored ones.")
    }
    if let byte = name.utf8.first(where: isForbidden) {
      let character = DirectDNSError.quoted(String(UnicodeScalar(byte)))
      throw DirectDNSError(
        .invalidName,
        "The host \(DirectDNSError.quoted(name)) contains \(character), which no host may have"
          + (advises ? HostAdvice.ending(for: name) : "."))
    }
  }

  /// The forbidden domain code points (WHATWG URL §3.2), and everything that is not ASCII.
  private static func isForbidden(_ byte: UInt8) -> Bool {
    switch byte {
    case 0...0x20, 0x7F...: true
    case UInt8(ascii: "#"), UInt8(ascii: "%"), UInt8(ascii: "/"), UInt8(ascii: ":"), UInt8(ascii: "<"),
      UInt8(ascii: ">"), UInt8(ascii: "?"), UInt8(ascii: "@"), UInt8(ascii: "["), UInt8(ascii: "\\"),
      UInt8(ascii: "]"), UInt8(ascii: "^"), UInt8(ascii: "|"):
      true
    default: false
    }
  }
}

extension WebURL {
  /// A host and, after a colon, a port: the end of a URL's authority (WHATWG URL §4.4, host and port state).
  package struct HostAndPort {
    package let host: Host
    /// The port; nil when there is none, or nothing after the colon.
    package let port: UInt16?

    package init(_ text: Span<UInt8>) throws(DirectDNSError) {
      let colon = HostAndPort.colon(in: text)
      do {
        host = try Host(utf8: text.extracting(0..<(colon ?? text.count)))
      } catch {
        throw DirectDNSError(
          .invalidURL, "The host cannot be used: \(error.clause).", underlying: error)
      }
      port = if let colon { try HostAndPort.port(text.extracting(colon + 1..<text.count)) } else { nil }
    }

    /// The colon before the port: the first one outside brackets.
    private static func colon(in text: Span<UInt8>) -> Int? {
      var isInBrackets = false
      for index in text.indices {
        switch text[index] {
        case ASCII.openBracket: isInBrackets = true
        case ASCII.closeBracket: isInBrackets = false
        case ASCII.colon where !isInBrackets: return index
        default: break
        }
      }
      return nil
    }

    private static func port(_ digits: Span<UInt8>) throws(DirectDNSError) -> UInt16? {
      var value: UInt32 = 0
      for index in digits.indices {
        guard ASCII.isDigit(digits[index]) else {
          throw DirectDNSError(
            .invalidURL, "The port is not a number: write digits only after the colon.")
        }
        value = value * 10 + UInt32(digits[index] - ASCII.zero)
        guard value <= UInt16.max else {
          throw DirectDNSError(.invalidURL, "The port is above 65535, which no port is.")
        }
      }
      return digits.isEmpty ? nil : UInt16(value)
    }
  }
}

/// Advises what to write in place of a text that is not a host, in errors; a pure function.
private enum HostAdvice {
  /// Longer than any URL that somebody would type: a text with many combining marks in a row takes quadratic time.
  private static let longest = 2048

  /// `: give www.example.com alone.` for a text that is more than a host; a period alone if no host can be found in it.
  ///
  /// - Parameter text: what was given for a host, such as a URL, `HOST:PORT`, or an IPv6 address with its zone.
  /// - Returns: the end of a message.
  static func ending(for text: String) -> String {
    guard text.utf8.count <= longest else { return "." }
    if let percent = text.firstIndex(of: "%"), let address = IPAddress(text[..<percent].withoutBrackets) {
      return address.family == .ipv6 ? ": an IPv6 zone is refused everywhere, give \(address) without it." : "."
    }
    guard let host = host(in: text[...]) else { return "." }
    return ": give \(host) alone."
  }

  /// The host of a URL of any scheme, or of a text that might be a part of one.
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
    // If nothing was removed, the fault is in the name itself; dots alone are a folder, as in `./hosts.txt`. Without
    // `advises: false`, this would call itself as often as the text has colons.
    let written = String(rest)
    guard rest.count < text.count, !written.allSatisfy({ $0 == "." }) else { return nil }
    return try? WebURL.Host(utf8: written.utf8.span, advises: false)
  }
}

extension Substring {
  fileprivate var withoutBrackets: String { hasPrefix("[") ? String(dropFirst()) : String(self) }
}
