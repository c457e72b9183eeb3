// SPDX-License-Identifier: Apache-2.0
extension WebURL {
  /// What a URL's host part names: the unit of origins, of serialisation and of the `Host` field.
  ///
  /// It keeps what WHATWG URL permits, a final dot and empty labels included; what can be looked up is a
  /// ``HostName`` made of it.
  public enum Host: Hashable, Sendable, CustomStringConvertible {
    /// A name in lower-case ASCII; international labels in their `xn--` form.
    case name(String)
    /// An address, in whatever spelling it was written.
    case address(IPAddress)

    /// Reads a host as a browser does (WHATWG URL §3.5, "host parser", for special schemes).
    ///
    /// Percent-encoding is decoded, international names become their ASCII form, and a host whose last
    /// label is a number is an IPv4 address in any legacy spelling (`0x7f.1`, `2130706433`). Addresses of
    /// IPv6 stand in brackets, without a zone. When in doubt the host is refused.
    ///
    /// - Parameter text: the host without user info and port.
    /// - Throws: `invalidName` with the reason.
    public init(_ text: String) throws(DirectDNSError) { try self.init(utf8: text.utf8.span) }

    /// The host as it stands in a URL: a name, a dotted quad, or an IPv6 address in brackets.
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
  /// Whether the host is a name that is `suffix` or lies below it; final dots make no difference.
  ///
  /// It also holds for names that no DNS can look up, so that an odd spelling slips through no list: a server that is
  /// told `Host: a.example..` may take it for `a.example`.
  func hasSuffix(_ suffix: HostName) -> Bool {
    guard case .name(let name) = self else { return false }
    var text = name.utf8.span
    while !text.isEmpty, text[text.count - 1] == ASCII.dot { text = text.extracting(droppingLast: 1) }
    return HostName.ends(text, with: suffix)
  }
}

extension WebURL.Host {
  init(utf8 text: Span<UInt8>) throws(DirectDNSError) {
    guard !text.isEmpty else { throw DirectDNSError(.invalidName, "the host is empty") }
    if text[0] == ASCII.openBracket {
      self = try .address(WebURL.Host.bracketed(text))
      return
    }
    let decoded = PercentEncoding.decoded(text)
    guard let domain = String(validating: decoded, as: UTF8.self) else {
      throw DirectDNSError(.invalidName, "the host's percent-encoding is not UTF-8")
    }
    // A host that is ASCII already stays as it is, labels that only look international included (WHATWG URL §3.3,
    // "domain to ASCII"): whatever they claim to stand for, they are looked up as they are written.
    let name: String
    do throws(DirectDNSError) {
      name = decoded.allSatisfy { $0 < 0x80 } ? domain.lowercased() : try IDNA.ascii(domain)
    } catch {
      throw DirectDNSError(.invalidName, error.message + HostAdvice.ending(for: domain))
    }
    try WebURL.Host.check(name)
    guard LegacyIPv4.isWritten(in: name.utf8.span) else {
      self = .name(name)
      return
    }
    guard let address = LegacyIPv4.parse(name.utf8.span) else {
      throw DirectDNSError(
        .invalidName,
        "the host \(DirectDNSError.quoted(name)) ends in a number, so it must be an IPv4 address, and is none"
      )
    }
    self = .address(address)
  }

  private static func bracketed(_ text: Span<UInt8>) throws(DirectDNSError) -> IPAddress {
    let last = text.count - 1
    guard last > 0, text[last] == ASCII.closeBracket,
      let address = IPAddress(ascii: text.extracting(1..<last)), address.family == .ipv6
    else {
      let written = String(decoding: text.indices.map { text[$0] }, as: UTF8.self)
      throw DirectDNSError(
        .invalidName,
        "a host in brackets must be an IPv6 address such as [2001:db8::1], without a zone\(HostAdvice.ending(for: written))"
      )
    }
    return address
  }

  private static func check(_ name: String) throws(DirectDNSError) {
    guard !name.isEmpty else {
      throw DirectDNSError(.invalidName, "the host is empty: all its characters are ignored ones")
    }
    if let byte = name.utf8.first(where: isForbidden) {
      let character = DirectDNSError.quoted(String(UnicodeScalar(byte)))
      throw DirectDNSError(
        .invalidName,
        "the host \(DirectDNSError.quoted(name)) contains \(character), which no host may have\(HostAdvice.ending(for: name))"
      )
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
