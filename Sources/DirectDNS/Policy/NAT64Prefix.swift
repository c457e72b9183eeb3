// SPDX-License-Identifier: Apache-2.0
/// A prefix under which a network's translator reaches IPv4, such as `64:ff9b::/96` (RFC 6052 §2.2).
public struct NAT64Prefix: Hashable, Sendable, CustomStringConvertible {
  /// The prefix's addresses.
  public let network: IPNetwork

  /// The prefix that is the same everywhere, `64:ff9b::/96`.
  public static let wellKnown = NAT64Prefix(checked: IPNetwork(constant: "64:ff9b::/96"))

  private init(checked network: IPNetwork) { self.network = network }

  /// Creates a network's own prefix.
  ///
  /// - Parameter network: an IPv6 network of length 32, 40, 48, 56, 64 or 96.
  /// - Throws: an error of code ``DirectDNSError/Code/invalidConfiguration`` for another length, for IPv4, and for a
  ///   prefix whose bits 64 to 71 are not zero.
  public init(_ network: IPNetwork) throws(DirectDNSError) {
    guard network.address.family == .ipv6, [32, 40, 48, 56, 64, 96].contains(network.prefixLength) else {
      throw DirectDNSError(
        .invalidConfiguration,
        "\(network) is not a NAT64 prefix: give an IPv6 network of length 32, 40, 48, 56, 64 or 96 (RFC 6052).")
    }
    guard network.address.low >> 56 == 0 else {
      throw DirectDNSError(
        .invalidConfiguration, "\(network) is not a NAT64 prefix: its bits 64 to 71 must be zero (RFC 6052).")
    }
    self.network = network
  }

  /// The IPv4 address that a translator sends to for an address under the prefix; nil for any other.
  ///
  /// It comes right after the prefix. With one shorter than 96 bits, the octet at bit 64 is skipped, whatever it holds:
  /// a translator may ignore it too.
  public func ipv4(in address: IPAddress) -> IPAddress? {
    guard network.contains(address) else { return nil }
    guard network.prefixLength < 96 else { return .ipv4(UInt32(truncatingIfNeeded: address.low)) }
    let withoutOctet = UInt128(address.high) << 56 | UInt128(address.low & 0x00FF_FFFF_FFFF_FFFF)
    return .ipv4(UInt32(truncatingIfNeeded: withoutOctet >> UInt128(120 - 32 - network.prefixLength)))
  }

  /// The prefix's text, such as `64:ff9b::/96`.
  public var description: String { network.description }
}

/// The IPv4 addresses that traffic to an IPv6 address would reach.
///
/// The kernel connects to the IPv4 address in an IPv4-mapped one, a NAT64 translator to those under its prefix. Most
/// addresses have none inside; they have several if configured prefixes overlap.
struct EmbeddedIPv4: Sequence, IteratorProtocol {
  private let address: IPAddress
  private let prefixes: [NAT64Prefix]
  private var step: Int

  /// Reads an address by the mapped form, the well-known NAT64 prefix, and the network's own prefixes.
  init(in address: IPAddress, prefixes: [NAT64Prefix]) {
    self.address = address
    self.prefixes = prefixes
    step = address.family == .ipv6 ? 0 : prefixes.count + 2
  }

  mutating func next() -> IPAddress? {
    while step < prefixes.count + 2 {
      step += 1
      let ipv4 =
        switch step {
        case 1: address.isIPv4Mapped ? IPAddress.ipv4(UInt32(truncatingIfNeeded: address.low)) : nil
        case 2: NAT64Prefix.wellKnown.ipv4(in: address)
        default: prefixes[step - 3].ipv4(in: address)
        }
      if let ipv4 { return ipv4 }
    }
    return nil
  }
}
