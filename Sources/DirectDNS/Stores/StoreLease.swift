// SPDX-License-Identifier: Apache-2.0
/// The right to ask a question for all processes that share a store.
struct StoreLease: Sendable, Hashable {
  var question: AddressQuestion
  var holder: String

  /// The result of trying to take a lease.
  enum State: Sendable, Hashable {
    case taken(StoreLease)
    /// Another process has it.
    case held
    /// The store has no leases, or cannot say at the moment.
    case unavailable
  }
}
