// SPDX-License-Identifier: Apache-2.0
/// An IPv4 or IPv6 address, without a port and without a zone.
///
/// It costs no allocation. Addresses are ordered by family (IPv4 first), then by value. An
/// IPv4-mapped IPv6 address (`::ffff:192.0.2.1`) is an IPv6 address and differs from the IPv4 address in it.
public struct IPAddress: Hashable, Sendable {
  /// The two families of addresses.
  public enum Family: Sendable, Hashable, CaseIterable {
    /// 32-bit addresses (RFC 791).
    case ipv4
    /// 128-bit addresses (RFC 4291).
    case ipv6
  }

  /// The upper half of an IPv6 address; 0 for IPv4.
  let high: UInt64
  /// The lower half of an IPv6 address; an IPv4 address is in its lower 32 bits.
  let low: UInt64
  /// The family that the address belongs to.
  public let family: Family

  /// The address as one number; an IPv4 address is its value.
  var value: UInt128 { UInt128(high) << 64 | UInt128(low) }

  private init(family: Family, high: UInt64, low: UInt64) {
    self.family = family
    self.high = high
    self.low = low
  }

  /// Makes an IPv4 address from its value in host order: `0x7F000001` is 127.0.0.1.
  public static func ipv4(_ value: UInt32) -> IPAddress {
    IPAddress(family: .ipv4, high: 0, low: UInt64(value))
  }

  /// Makes an IPv6 address from its two halves in host order: `high: 0, low: 1` is `::1`.
  public static func ipv6(high: UInt64, low: UInt64) -> IPAddress {
    IPAddress(family: .ipv6, high: high, low: low)
  }

  /// This machine's loopback address: 127.0.0.1, or `::1`.
  public static func loopback(_ family: Family = .ipv4) -> IPAddress {
    family == .ipv4 ? .ipv4(0x7F00_0001) : .ipv6(high: 0, low: 1)
  }

  /// Makes an address from its bytes in network order, 4 for IPv4 or 16 for IPv6.
  ///
  /// - Parameter bytes: the bytes; any other number of them gives nil.
  public init?(bytes: some Collection<UInt8>) {
    let value = bytes.prefix(16).reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
    switch bytes.count {
    case 4: self = .ipv4(UInt32(truncatingIfNeeded: value))
    case 16:
      self = .ipv6(
        high: UInt64(truncatingIfNeeded: value >> 64), low: UInt64(truncatingIfNeeded: value))
    default: return nil
    }
  }

  /// The address's bytes in network order: 4 for IPv4, 16 for IPv6.
  public var bytes: [UInt8] {
    switch family {
    case .ipv4: (0..<4).map { UInt8(truncatingIfNeeded: low >> (24 - 8 * $0)) }
    case .ipv6:
      [high, low].flatMap { half in (0..<8).map { UInt8(truncatingIfNeeded: half >> (56 - 8 * $0)) } }
    }
  }

  /// Whether this is an IPv6 address that holds an IPv4 address, `::ffff:0:0/96` (RFC 4291 §2.5.5.2).
  var isIPv4Mapped: Bool { family == .ipv6 && high == 0 && low >> 32 == 0xFFFF }

  /// The IPv4 address in an IPv4-mapped one, which reaches the same sockets; any other address as it is.
  package var unmapped: IPAddress { isIPv4Mapped ? .ipv4(UInt32(truncatingIfNeeded: low)) : self }

  /// Whether traffic to the address stays on this machine.
  ///
  /// These are 127.0.0.0/8, `::1`, and 127.0.0.0/8 in its IPv4-mapped form, which reaches the same sockets.
  public var isLoopback: Bool {
    switch family {
    case .ipv4: low >> 24 == 127
    case .ipv6: high == 0 && (low == 1 || low >> 24 == 0xFFFF_7F)
    }
  }
}

extension IPAddress: Comparable {
  /// Orders IPv4 before IPv6, and addresses of one family by value.
  public static func < (lhs: IPAddress, rhs: IPAddress) -> Bool {
    guard lhs.family == rhs.family else { return lhs.family == .ipv4 }
    return (lhs.high, lhs.low) < (rhs.high, rhs.low)
  }
}
