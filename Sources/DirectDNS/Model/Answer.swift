// SPDX-License-Identifier: Apache-2.0
/// What a provider said about one name and one family: addresses, or that there are none.
public struct Answer: Hashable, Sendable {
  /// The two kinds of answer.
  public enum Content: Hashable, Sendable {
    /// Addresses of the family that was asked for, at least one.
    case addresses([IPAddress])
    /// A negative answer.
    case negative(Negative)

    /// Whether it is negative, or has at least one address and only of that family; a caller's own answer may not.
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

  /// The most addresses that are kept of one reply: more than any client tries, and a limit for malicious replies.
  public static let addressLimit = 64

  /// What the provider said.
  public var content: Content
  /// For how many seconds it may be used; nil for a negative answer whose reply gave no lifetime.
  ///
  /// For addresses: the minimum over the CNAME chain and the address set, at most the reply's `max-age`, less its
  /// `Age`, but 1 at least unless that minimum is 0. 0 means that it is only for the lookups that wait for it.
  public var ttl: UInt32?
  /// The end of the CNAME chain, if the name is an alias.
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

extension [IPAddress] {
  /// Appends an address that is not there yet, if there is room for one more.
  mutating func keep(_ address: IPAddress) {
    if count < Answer.addressLimit, !contains(address) { append(address) }
  }
}
