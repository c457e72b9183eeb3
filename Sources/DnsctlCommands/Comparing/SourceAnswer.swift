// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// One source's answer about a name's addresses of one family.
struct SourceAnswer: Sendable, Hashable {
  enum Content: Sendable, Hashable {
    case addresses([IPAddress])
    case nameNotFound
    case noAddress
    /// No address; not every format says whether the name exists.
    case nothing
    /// There is no usable answer.
    case failed(String)
  }

  /// The provider's name, or `system`.
  var source: String
  var content: Content
  /// The seconds for which the addresses may be used.
  var ttl: Int64?
  /// Whether it says that it has validated them by DNSSEC; nil if it does not say.
  var isAuthenticated: Bool?
  var elapsed: Duration

  /// The addresses; empty if there are none.
  var addresses: [IPAddress] { if case .addresses(let addresses) = content { addresses } else { [] } }

  /// Whether it says that the name exists; nil if it does not say.
  var nameExists: Bool? {
    switch content {
    case .addresses, .noAddress: true
    case .nameNotFound: false
    case .nothing, .failed: nil
    }
  }

  var hasFailed: Bool { if case .failed = content { true } else { false } }

  /// The text in place of addresses.
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
