// SPDX-License-Identifier: Apache-2.0
extension IPAddress: LosslessStringConvertible {
  /// Reads an address in its standard text form, and nothing looser.
  ///
  /// IPv4 is four decimal numbers without leading zeros (RFC 6943 §3.1.1 calls the rest "loose" for good
  /// reason); IPv6 is any form of RFC 4291 §2.2. No zone, no brackets, no port, no spaces. The legacy
  /// spellings that a URL may use (`0x7f.1`) are read by ``WebURL/Host`` alone.
  public init?(_ description: String) { self.init(ascii: description.utf8.span) }

  /// Reads an address from a configuration, where a mistake must not count as "none".
  ///
  /// - Parameter text: an address in its standard text form, without zone, brackets, port and blanks.
  /// - Throws: an error of code ``DirectDNSError/Code/invalidConfiguration`` that shows the text.
  public init(parsing text: String) throws(DirectDNSError) {
    guard let address = IPAddress(text) else {
      throw DirectDNSError(
        .invalidConfiguration,
        "\(DirectDNSError.quoted(text)) is not an IP address: write 192.0.2.1 or 2001:db8::1, without brackets, port and zone."
      )
    }
    self = address
  }

  /// Reads an address from the ASCII bytes of its standard text form.
  init?(ascii text: Span<UInt8>) {
    if let value = IPAddress.dottedQuad(text) {
      self = .ipv4(value)
    } else if let value = IPAddress.groups(text) {
      self = .ipv6(
        high: UInt64(truncatingIfNeeded: value >> 64), low: UInt64(truncatingIfNeeded: value))
    } else {
      return nil
    }
  }

  /// The address in its canonical text form: dotted quad, or RFC 5952 (IPv4-mapped ones end in a dotted quad, §5).
  public var description: String {
    var text = AddressText()
    switch family {
    case .ipv4: writeDottedQuad(to: &text)
    case .ipv6 where isIPv4Mapped:
      for byte in "::ffff:".utf8 { text.append(byte) }
      writeDottedQuad(to: &text)
    case .ipv6: writeGroups(to: &text)
    }
    return ASCII.text(text.bytes.span.extracting(0..<text.count))
  }

  /// The address as written before a port: IPv6 in brackets (RFC 3986 §3.2.2).
  package var bracketed: String { family == .ipv6 ? "[\(self)]" : description }

  /// Reads an address as written before a port: IPv6 in brackets, and nothing else in them.
  package static func beforePort(_ text: Substring) -> IPAddress? {
    written(String(text)).flatMap { ($0.family == .ipv6) == text.hasPrefix("[") ? $0 : nil }
  }

  /// Reads an address as people write it: with brackets too, as IPv6 addresses have them in URLs.
  package static func written(_ text: String) -> IPAddress? {
    let isBracketed = text.hasPrefix("[") && text.hasSuffix("]")
    return IPAddress(isBracketed ? String(text.dropFirst().dropLast()) : text)
  }

  /// Four decimal numbers without leading zeros.
  static func dottedQuad(_ text: Span<UInt8>) -> UInt32? {
    guard text.count <= 15 else { return nil }
    var value: UInt32 = 0
    var octet: UInt32 = 0
    var digits = 0
    var dots = 0
    for index in text.indices {
      let byte = text[index]
      if byte == ASCII.dot {
        guard digits > 0, dots < 3 else { return nil }
        value = value << 8 | octet
        octet = 0
        digits = 0
        dots += 1
      } else {
        let hasLeadingZero = digits > 0 && octet == 0
        guard ASCII.isDigit(byte), !hasLeadingZero else { return nil }
        octet = octet * 10 + UInt32(byte - ASCII.zero)
        digits += 1
        guard octet <= 255 else { return nil }
      }
    }
    return dots == 3 && digits > 0 ? value << 8 | octet : nil
  }

  /// The groups of an IPv6 address, first one highest; `::` stands for at least one group (RFC 4291 §2.2).
  private static func groups(_ text: Span<UInt8>) -> UInt128? {
    guard text.count <= 45 else { return nil }
    var value: UInt128 = 0
    var count = 0
    var gap: Int?
    var index = 0
    if text.count >= 2, text[0] == ASCII.colon, text[1] == ASCII.colon {
      gap = 0
      index = 2
    }
    while index < text.count {
      let start = index
      var group: UInt128 = 0
      while index < text.count, let digit = ASCII.hexValue(text[index]) {
        group = group << 4 | UInt128(digit)
        index += 1
      }
      if index < text.count, text[index] == ASCII.dot {
        guard let quad = dottedQuad(text.extracting(start..<text.count)) else { return nil }
        value = value << 32 | UInt128(quad)
        count += 2
        break
      }
      guard (1...4).contains(index - start) else { return nil }
      value = value << 16 | group
      count += 1
      if index == text.count { break }
      guard text[index] == ASCII.colon, index + 1 < text.count else { return nil }
      index += 1
      if text[index] == ASCII.colon {
        guard gap == nil else { return nil }
        gap = count
        index += 1
      }
    }
    guard let gap else { return count == 8 ? value : nil }
    guard count < 8 else { return nil }
    let tailBits = 16 * (count - gap)
    let tail = value & ~(UInt128.max << tailBits)
    return (value >> tailBits) << (16 * (8 - gap)) | tail
  }

  private func writeDottedQuad(to text: inout AddressText) {
    var shift: UInt64 = 32
    while shift > 0 {
      shift -= 8
      let octet = UInt8(truncatingIfNeeded: low >> shift)
      if octet >= 100 { text.append(ASCII.zero + octet / 100) }
      if octet >= 10 { text.append(ASCII.zero + octet / 10 % 10) }
      text.append(ASCII.zero + octet % 10)
      if shift > 0 { text.append(ASCII.dot) }
    }
  }

  /// Writes the address as in a URL: a dotted quad, or groups in brackets.
  func writeURLHost(to text: inout AddressText) {
    switch family {
    case .ipv4: writeDottedQuad(to: &text)
    case .ipv6:
      text.append(ASCII.openBracket)
      writeGroups(to: &text)
      text.append(ASCII.closeBracket)
    }
  }

  private func group(_ index: Int) -> UInt16 {
    UInt16(truncatingIfNeeded: (index < 4 ? high : low) >> UInt64(48 - 16 * (index & 3)))
  }

  /// The eight groups in hexadecimal, the longest run of at least two zeros as `::`, the first on a tie.
  ///
  /// RFC 5952 §4, and, without an exception for IPv4-mapped addresses, the WHATWG IPv6 serialiser.
  private func writeGroups(to text: inout AddressText) {
    let gap = longestZeroRun
    var index = 0
    while index < 8 {
      if index == gap.lowerBound, !gap.isEmpty {
        text.append(ASCII.colon)
        text.append(ASCII.colon)
        index = gap.upperBound
        continue
      }
      if index > 0, index != gap.upperBound || gap.isEmpty { text.append(ASCII.colon) }
      let value = group(index)
      let digits = max(1, (19 - value.leadingZeroBitCount) / 4)
      for digit in (0..<digits).reversed() {
        text.append(ASCII.hexDigit(UInt8(truncatingIfNeeded: value >> UInt16(4 * digit) & 0xF)))
      }
      index += 1
    }
  }

  private var longestZeroRun: Range<Int> {
    var longest = 0..<0
    var start = 0
    for index in 0..<8 {
      if group(index) != 0 {
        start = index + 1
      } else if index + 1 - start > max(1, longest.count) {
        longest = start..<index + 1
      }
    }
    return longest
  }
}

extension IPAddress: Codable {
  /// Decodes an address from its text.
  public init(from decoder: any Decoder) throws {
    guard let address = IPAddress(try String(from: decoder)) else {
      throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "not an IP address"))
    }
    self = address
  }

  /// Encodes the address as its text.
  public func encode(to encoder: any Encoder) throws { try description.encode(to: encoder) }
}

/// The text of an address while it is written: at most eight groups in brackets, and no allocation.
struct AddressText {
  private(set) var bytes = InlineArray<41, UInt8>(repeating: 0)
  private(set) var count = 0

  @inline(__always)
  mutating func append(_ byte: UInt8) {
    bytes[count] = byte
    count += 1
  }
}
