// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// What one source said of a name's addresses of one family.
struct SourceAnswer: Sendable, Hashable {
  enum Content: Sendable, Hashable {
    case addresses([IPAddress])
    case nameNotFound
    case noAddress
    /// No address, and no word on whether the name exists: not every format has one.
    case nothing
    /// It said nothing that counts.
    case failed(String)
  }

  /// The provider's name, or `system`.
  var source: String
  var content: Content
  /// Seconds that the addresses may be used.
  var ttl: Int64?
  /// Whether it says that it has validated them by DNSSEC; nil where it does not tell.
  var isAuthenticated: Bool?
  var elapsed: Duration

  /// The addresses; none of anything else.
  var addresses: [IPAddress] { if case .addresses(let addresses) = content { addresses } else { [] } }

  /// Whether it says that the name exists; nil where it does not tell.
  var nameExists: Bool? {
    switch content {
    case .addresses, .noAddress: true
    case .nameNotFound: false
    case .nothing, .failed: nil
    }
  }

  var hasFailed: Bool { if case .failed = content { true } else { false } }

  /// What is said in place of addresses.
  var negative: String? {
    switch content {
    case .addresses: nil
    case .nameNotFound: "the name does not exist"
    case .noAddress: "no address"
    case .nothing: "no address, or no such name"
    case .failed(let reason): reason
    }
  }
}
