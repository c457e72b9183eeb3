// SPDX-License-Identifier: Apache-2.0
extension DNSName {
  /// The name whose PTR records say what an address stands for, in `in-addr.arpa` or `ip6.arpa` (RFC 1035 §3.5, RFC 3596
  /// §2.5).
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

  /// The name that a person writes to ask for records of any type: a host's in any spelling that has one, `.` for the
  /// root, and names that no host has, such as `*.example.com` or `a\.b.example.com`.
  ///
  /// - Parameter text: such as `example.com`, `bücher.example`, `_sip._tcp.example.com`.
  /// - Throws: an error of code ``DirectDNSError/Code/invalidName`` that says why the text is no name.
  public init(asking text: String) throws(DirectDNSError) {
    if let address = IPAddress(text) {
      throw DirectDNSError(
        .invalidName,
        "\(address) is an address. The name that it stands for is asked for by PTR of \(DNSName(reverse: address).shown)."
      )
    }
    // What stands in names that no host has, and in no URL that was pasted whole.
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

  /// Whether that is a name as address space is delegated in parts of an octet: `0/25.2.0.192.in-addr.arpa` (RFC 2317).
  private static func isDelegated(_ text: String) -> Bool {
    let lower = text.lowercased()
    return lower.contains("/") && (lower.hasSuffix(".in-addr.arpa") || lower.hasSuffix(".in-addr.arpa."))
  }
}

extension DNSName {
  /// The name as people read it: a host's without its final dot and in its own characters, any other as it is.
  package var shown: String { hostName?.shown ?? description }
}

extension DNSQuestion {
  /// Name and type as people read them.
  package var shown: String { "\(name.shown) \(type)" }
}
