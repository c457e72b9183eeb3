// SPDX-License-Identifier: Apache-2.0
/// The IPv4 addresses that traffic to an IPv6 address would reach.
///
/// The kernel takes an IPv4-mapped address for the IPv4 address in it, a NAT64 translator the addresses under its
/// prefix. There are none in most addresses; several where configured prefixes overlap.
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
