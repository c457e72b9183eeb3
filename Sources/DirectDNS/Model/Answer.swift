// SPDX-License-Identifier: Apache-2.0
/// What a provider said about one name and one family: addresses, or that there are none.
public struct Answer: Hashable, Sendable {
  /// The two kinds of answer.
  public enum Content: Hashable, Sendable {
    /// Addresses of the family that was asked for, at least one.
    case addresses([IPAddress])
    /// A negative answer.
    case negative(Negative)

    /// Whether it has addresses of that family alone, and at least one, or none: what callers bring need not.
    func fits(_ family: IPAddress.Family) -> Bool {
      guard case .addresses(let addresses) = self else { return true }
      return !addresses.isEmpty && addresses.allSatisfy { $0.family == family }
    }
  }

  /// The two kinds of negative answer (RFC 2308).
  public enum Negative: Hashable, Sendable {
    /// The name does not exist (NXDOMAIN).
    case nameNotFound
    /// The name has no address of that family (NODATA).
    case noAddress
  }

  /// The most addresses that are kept of one reply: more than any client tries, and a bound for lies.
  public static let addressLimit = 64

  /// What was said.
  public var content: Content
  /// For how many seconds it may be used; nil for a negative answer whose reply told no lifetime.
  ///
  /// For addresses: the minimum over the CNAME chain and the address set, less the reply's `Age`, and not beyond its
  /// `max-age`. 0 means that it serves those who wait for it and no one else.
  public var ttl: UInt32?
  /// The end of the CNAME chain, where the name is an alias.
  public var canonicalName: HostName?

  /// Creates an answer.
  public init(_ content: Content, ttl: UInt32?, canonicalName: HostName? = nil) {
    self.content = content
    self.ttl = ttl
    self.canonicalName = canonicalName
  }

  /// The addresses; empty for a negative answer.
  public var addresses: [IPAddress] {
    if case .addresses(let addresses) = content { addresses } else { [] }
  }
}
