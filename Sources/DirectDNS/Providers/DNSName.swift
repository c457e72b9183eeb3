// SPDX-License-Identifier: Apache-2.0
/// A domain name as DNS messages carry it: labels of bytes, compared without regard to ASCII case.
///
/// A name may hold any bytes, a dot inside a label too, so it is not a ``HostName``; ``hostName`` gives that
/// if the name is one. Source: RFC 1035 §3.1, RFC 4343.
public struct DNSName: Hashable, Sendable, CustomStringConvertible {
  /// The uncompressed wire form in lower case: each label after its length, then a zero.
  let wire: [UInt8]

  init(wire: [UInt8]) { self.wire = wire }

  /// The root.
  public static let root = DNSName(wire: [0])

  /// The name of a host.
  public init(_ host: HostName) {
    var wire: [UInt8] = []
    wire.reserveCapacity(host.text.utf8.count + 2)
    Self.append(host, to: &wire)
    self.wire = wire
  }

  /// Appends a host's name in wire form.
  static func append(_ host: HostName, to wire: inout [UInt8]) {
    var lengthIndex = wire.count
    wire.append(0)
    let text = host.text.utf8.span
    for index in text.indices {
      let byte = text[index]
      if byte == ASCII.dot {
        wire[lengthIndex] = UInt8(truncatingIfNeeded: wire.count - lengthIndex - 1)
        lengthIndex = wire.count
        wire.append(0)
      } else {
        wire.append(byte)
      }
    }
    wire[lengthIndex] = UInt8(truncatingIfNeeded: wire.count - lengthIndex - 1)
    wire.append(0)
  }

  /// Reads the presentation form, with or without the final dot; nil if it is malformed.
  ///
  /// `\.` and `\DDD` are the escapes of RFC 1035 §5.1.
  public init?(_ presentation: String) { self.init(presentation: presentation.utf8.span) }

  init?(presentation text: Span<UInt8>) {
    var wire: [UInt8] = []
    wire.reserveCapacity(min(text.count + 2, 256))
    // Where the length of the label that is being read goes.
    var start = 0
    wire.append(0)
    var index = text.count == 1 && text[0] == ASCII.dot ? 1 : 0
    while index < text.count {
      let byte = text[index]
      index += 1
      guard byte != ASCII.dot else {
        guard Self.endLabel(&wire, &start) else { return nil }
        continue
      }
      guard byte == ASCII.backslash else {
        wire.append(ASCII.lowercased(byte))
        continue
      }
      guard index < text.count else { return nil }
      guard ASCII.isDigit(text[index]) else {
        wire.append(ASCII.lowercased(text[index]))
        index += 1
        continue
      }
      guard index + 2 < text.count, ASCII.isDigit(text[index + 1]), ASCII.isDigit(text[index + 2]) else { return nil }
      let value = (0..<3).reduce(0) { $0 * 10 + Int(text[index + $1] - ASCII.zero) }
      guard let escaped = UInt8(exactly: value) else { return nil }
      wire.append(ASCII.lowercased(escaped))
      index += 3
    }
    if wire.count > start + 1 { guard Self.endLabel(&wire, &start) else { return nil } }
    self.wire = wire
  }

  /// Writes the length of the label that began at `start`, and begins another one: the root's, if nothing follows.
  private static func endLabel(_ wire: inout [UInt8], _ start: inout Int) -> Bool {
    let length = wire.count - start - 1
    guard (1...63).contains(length), wire.count < 255 else { return false }
    wire[start] = UInt8(length)
    start = wire.count
    wire.append(0)
    return true
  }

  /// Whether a presentation text is this name, with or without its final dot.
  ///
  /// False for any text with an escape.
  func isSpelled(by text: Span<UInt8>) -> Bool {
    let count = text.count - (text.count > 1 && text[text.count - 1] == ASCII.dot ? 1 : 0)
    guard count > 0, count + 2 == wire.count else { return false }
    // Where the next label's length is; the text has a dot there.
    var next = 1 + Int(wire[0])
    for index in 0..<count {
      let (byte, own) = (text[index], wire[index + 1])
      if index + 1 == next {
        guard byte == ASCII.dot else { return false }
        next += 1 + Int(own)
      } else {
        guard ASCII.lowercased(byte) == own, byte != ASCII.dot, byte != ASCII.backslash else { return false }
      }
    }
    return true
  }

  /// The labels, without the root's empty one.
  public var labels: [[UInt8]] {
    var labels: [[UInt8]] = []
    var index = 0
    while index < wire.count, wire[index] != 0 {
      let next = index + 1 + Int(wire[index])
      labels.append(Array(wire[(index + 1)..<next]))
      index = next
    }
    return labels
  }

  /// The same name as a host name; nil if a label holds a byte that host names cannot have.
  public var hostName: HostName? {
    guard wire.count > 1, wire.count <= 255 else { return nil }
    var text: [UInt8] = []
    text.reserveCapacity(wire.count)
    var remaining = Int(wire[0])
    for byte in wire.dropFirst().dropLast() {
      if remaining == 0 {
        text.append(UInt8(ascii: "."))
        remaining = Int(byte)
      } else {
        guard HostName.isNameByte(byte) else { return nil }
        text.append(byte)
        remaining -= 1
      }
    }
    return try? HostName(String(decoding: text, as: UTF8.self))
  }

  /// The presentation form with its final dot.
  public var description: String {
    guard wire.count > 1 else { return "." }
    var text = ""
    for label in labels {
      for byte in label {
        switch byte {
        // Characters that have a meaning in a zone file (RFC 1035 §5.1) are escaped.
        case _ where "\".();@$\\".utf8.contains(byte): text += "\\" + String(UnicodeScalar(byte))
        case 0x21...0x7e: text.unicodeScalars.append(UnicodeScalar(byte))
        default:
          let digits = String(byte)
          text += "\\" + String(repeating: "0", count: 3 - digits.utf8.count) + digits
        }
      }
      text += "."
    }
    return text
  }
}

extension DNSName {
  /// The name whose PTR records name an address's host, in `in-addr.arpa` or `ip6.arpa` (RFC 1035 §3.5, RFC 3596 §2.5).
  public init(reverse address: IPAddress) {
    let bytes = address.bytes.reversed()
    let labels =
      switch address.family {
      case .ipv4: bytes.map { Array(String($0).utf8) } + [Array("in-addr".utf8)]
      case .ipv6: bytes.flatMap { [[ASCII.hexDigit($0 & 0xf)], [ASCII.hexDigit($0 >> 4)]] } + [Array("ip6".utf8)]
      }
    let wire = (labels + [Array("arpa".utf8)]).flatMap { [UInt8($0.count)] + $0 }
    self.init(wire: wire + [0])
  }

  /// Reads a name as people write it to ask for records: a host name in any spelling, `.` for the root, or a name that
  /// no host can have, such as `*.example.com` or `a\.b.example.com`.
  ///
  /// - Parameter text: such as `example.com`, `bücher.example`, `_sip._tcp.example.com`.
  /// - Throws: an error of code ``DirectDNSError/Code/invalidName`` that says why the text is not a name.
  public init(asking text: String) throws(DirectDNSError) {
    if let address = IPAddress(text) {
      throw DirectDNSError(
        .invalidName,
        "\(address) is an address. The name that it stands for is asked for by PTR of \(DNSName(reverse: address).shown)."
      )
    }
    // A name that no host can have; a whole URL that was pasted is not taken for one.
    if !text.contains("://"),
      text == "." || text.utf8.contains(where: { "\\*".utf8.contains($0) }) || Self.isDelegated(text)
    {
      if text.utf8.allSatisfy({ $0 > ASCII.space && $0 < 0x7f }), let name = DNSName(text) {
        self = name
        return
      }
    }
    self.init(try HostName(text))
  }

  /// Whether it is a name of a reverse zone for a part of an octet: `0/25.2.0.192.in-addr.arpa` (RFC 2317).
  private static func isDelegated(_ text: String) -> Bool {
    let lower = text.lowercased()
    return lower.contains("/") && (lower.hasSuffix(".in-addr.arpa") || lower.hasSuffix(".in-addr.arpa."))
  }
}

extension DNSName {
  /// The name for people: a host's without its final dot and also in Unicode, any other in presentation form.
  package var shown: String { hostName?.shown ?? description }
}

extension DNSQuestion {
  /// The name and the type for people.
  package var shown: String { "\(name.shown) \(type)" }
}
