// SPDX-License-Identifier: Apache-2.0
/// The families of addresses that a caller wants.
public struct AddressFamilies: OptionSet, Hashable, Sendable, CustomStringConvertible {
  /// The set's bits.
  public let rawValue: UInt8

  /// A set of those bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The set of one family.
  @inline(__always)
  public init(_ family: IPAddress.Family) { self = family == .ipv4 ? .ipv4 : .ipv6 }

  /// IPv4 addresses.
  public static let ipv4 = AddressFamilies(rawValue: 1)
  /// IPv6 addresses.
  public static let ipv6 = AddressFamilies(rawValue: 2)
  /// Both families.
  public static let any: AddressFamilies = [.ipv4, .ipv6]

  /// Whether the set has a family.
  @inline(__always)
  public func contains(_ family: IPAddress.Family) -> Bool {
    contains(family == .ipv4 ? AddressFamilies.ipv4 : .ipv6)
  }

  /// The families in the set, IPv6 first.
  public var members: [IPAddress.Family] {
    // Constants, which cost no allocation.
    switch (contains(.ipv6), contains(.ipv4)) {
    case (true, true): Self.both
    case (true, false): Self.onlyIPv6
    case (false, true): Self.onlyIPv4
    case (false, false): []
    }
  }

  /// Those of the families that meet a condition.
  func filter(_ holds: (IPAddress.Family) -> Bool) -> AddressFamilies {
    members.reduce(into: []) { if holds($1) { $0.insert(AddressFamilies($1)) } }
  }

  private static let both: [IPAddress.Family] = [.ipv6, .ipv4]
  private static let onlyIPv6: [IPAddress.Family] = [.ipv6]
  private static let onlyIPv4: [IPAddress.Family] = [.ipv4]

  /// `any`, `ipv4`, `ipv6` or `none`.
  public var description: String {
    switch self {
    case .any: "any"
    case .ipv4: "ipv4"
    case .ipv6: "ipv6"
    default: "none"
    }
  }
}
