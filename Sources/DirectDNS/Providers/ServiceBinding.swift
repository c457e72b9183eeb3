// SPDX-License-Identifier: Apache-2.0
/// A service binding: where and how an https origin can be reached (RFC 9460).
///
/// Kept as data.
public struct ServiceBinding: Hashable, Sendable {
  /// 0 is an alias; otherwise the smaller one is preferred.
  public var priority: UInt16
  /// The name that serves; the root stands for the record's owner.
  public var target: DNSName
  /// The parameters by key, as they came.
  public var parameters: [UInt16: [UInt8]]

  /// Creates a binding.
  public init(priority: UInt16, target: DNSName, parameters: [UInt16: [UInt8]] = [:]) {
    self.priority = priority
    self.target = target
    self.parameters = parameters
  }

  /// The application protocols, such as `h2` and `h3` (key 1).
  ///
  /// A malformed list is empty.
  public var alpn: [String] {
    guard let value = parameters[1] else { return [] }
    var protocols: [String] = []
    var index = 0
    while index < value.count {
      let end = index + 1 + Int(value[index])
      guard end <= value.count else { return [] }
      protocols.append(String(decoding: value[(index + 1)..<end], as: UTF8.self))
      index = end
    }
    return protocols
  }

  /// The port, where it is not the scheme's own (key 3).
  public var port: UInt16? {
    guard let value = parameters[3], value.count == 2 else { return nil }
    return UInt16(value[0]) << 8 | UInt16(value[1])
  }

  /// Addresses to begin with while A and AAAA are on their way (keys 4 and 6).
  public var hints: [IPAddress] { addresses(key: 4, size: 4) + addresses(key: 6, size: 16) }

  private func addresses(key: UInt16, size: Int) -> [IPAddress] {
    guard let value = parameters[key], value.count.isMultiple(of: size) else { return [] }
    return stride(from: 0, to: value.count, by: size).compactMap {
      IPAddress(bytes: value[$0..<($0 + size)])
    }
  }
}
