// SPDX-License-Identifier: Apache-2.0
/// A block of addresses that share their first bits, such as `10.0.0.0/8`.
public struct IPNetwork: Hashable, Sendable {
  /// The first address of the block: every bit beyond the prefix is zero.
  public let address: IPAddress
  /// How many leading bits the addresses of the block share: 0 to 32 for IPv4, 0 to 128 for IPv6.
  public let prefixLength: Int
  private let maskHigh: UInt64
  private let maskLow: UInt64

  /// Makes the block that an address lies in; bits of the address beyond the prefix are cleared.
  ///
  /// - Parameters:
  ///   - address: any address of the block.
  ///   - prefixLength: the number of shared bits; the result is nil if the family has fewer.
  public init?(address: IPAddress, prefixLength: Int) {
    let width = address.family == .ipv4 ? 32 : 128
    guard (0...width).contains(prefixLength) else { return nil }
    // An IPv4 address lies in the last 32 of the 128 bits, so its mask begins there.
    let bits = prefixLength + 128 - width
    let mask = bits == 0 ? 0 : UInt128.max << UInt128(128 - bits)
    maskHigh = UInt64(truncatingIfNeeded: mask >> 64)
    maskLow = UInt64(truncatingIfNeeded: mask)
    self.prefixLength = prefixLength
    self.address =
      switch address.family {
      case .ipv4: .ipv4(UInt32(truncatingIfNeeded: address.low & maskLow))
      case .ipv6: .ipv6(high: address.high & maskHigh, low: address.low & maskLow)
      }
  }

  /// Makes the block of one address alone, `/32` or `/128`.
  public init(_ address: IPAddress) {
    self.address = address
    prefixLength = address.family == .ipv4 ? 32 : 128
    maskHigh = .max
    maskLow = .max
  }

  /// The last address of the block: every bit beyond the prefix is one.
  public var lastAddress: IPAddress {
    switch address.family {
    case .ipv4: .ipv4(UInt32(truncatingIfNeeded: address.low | ~maskLow))
    case .ipv6: .ipv6(high: address.high | ~maskHigh, low: address.low | ~maskLow)
    }
  }

  /// Whether an address lies in the block; false for an address of the other family.
  public func contains(_ candidate: IPAddress) -> Bool {
    candidate.family == address.family
      && (candidate.high & maskHigh) ^ address.high | (candidate.low & maskLow) ^ address.low == 0
  }
}

extension IPNetwork: LosslessStringConvertible {
  /// Reads an address, a slash and a prefix length in decimal: `192.168.0.0/16`, `fe80::/10`.
  ///
  /// Bits beyond the prefix are cleared: `10.1.2.3/8` is `10.0.0.0/8`. An address without a length is
  /// refused, because a reader cannot tell whether one host or a network was meant.
  public init?(_ description: String) {
    let parts = description.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let address = IPAddress(String(parts[0])) else { return nil }
    let digits = parts[1].utf8
    let hasLeadingZero = digits.count > 1 && digits.first == ASCII.zero
    guard digits.allSatisfy(ASCII.isDigit), !hasLeadingZero, let length = Int(parts[1]) else { return nil }
    self.init(address: address, prefixLength: length)
  }

  /// Reads a network from a configuration, where a mistake must not count as "none".
  ///
  /// - Parameter text: an address, a slash and a prefix length.
  /// - Throws: an error of code ``DirectDNSError/Code/invalidConfiguration`` that shows the text.
  public init(parsing text: String) throws(DirectDNSError) {
    guard let network = IPNetwork(text) else {
      throw DirectDNSError(
        .invalidConfiguration,
        "\(DirectDNSError.quoted(text)) is not a network: write 10.0.0.0/8, or 10.0.0.1/32 for one address.")
    }
    self = network
  }

  /// Reads a constant of the source; a malformed one is a mistake there, and stops the process.
  init(constant text: String) {
    // Texts come from the source alone, and a test reads them all.
    guard let network = IPNetwork(text) else { preconditionFailure("\(text) is not a network") }
    self = network
  }

  /// The first address, a slash and the prefix length.
  public var description: String { "\(address)/\(prefixLength)" }
}

extension IPNetwork: Codable {
  /// Decodes a network from its text.
  public init(from decoder: any Decoder) throws {
    guard let network = IPNetwork(try String(from: decoder)) else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "not a network such as 10.0.0.0/8"))
    }
    self = network
  }

  /// Encodes the network as its text.
  public func encode(to encoder: any Encoder) throws { try description.encode(to: encoder) }
}
