// SPDX-License-Identifier: Apache-2.0
/// Why a transfer brought no response, or not all of it.
struct TransferFailure: Error, Sendable {
  let reason: TransferError
  /// The addresses that failed, in the order of failing.
  let attempts: [FailedAddress]
  /// Whether something of the request may have reached the server.
  let mayHaveArrived: Bool
  /// Whether HTTP/2 refused the request unprocessed (RFC 9113 §8.7).
  let wasRefused: Bool
  /// Whether it has been sent twice already.
  let wasRetried: Bool
  /// The time that was exceeded, where one was.
  let timer: Timer?
  /// An address that the policy forbade when it was about to be dialled.
  let forbidden: IPAddress?
  /// The address of the connection that was lost.
  let address: IPAddress?
  /// What the request's body failed with.
  var bodyFailure: (any Error)?

  enum Timer: String, Sendable, Hashable { case connect, firstByte, whole }

  init(
    _ reason: TransferError, attempts: [FailedAddress] = [], mayHaveArrived: Bool = false,
    wasRefused: Bool = false, wasRetried: Bool = false, timer: Timer? = nil, forbidden: IPAddress? = nil,
    address: IPAddress? = nil, bodyFailure: (any Error)? = nil
  ) {
    self.reason = reason
    self.attempts = attempts
    self.mayHaveArrived = mayHaveArrived
    self.wasRefused = wasRefused
    self.wasRetried = wasRetried
    self.timer = timer
    self.forbidden = forbidden
    self.address = address
    self.bodyFailure = bodyFailure
  }
}

/// An address that could not be connected to.
struct FailedAddress: Sendable, Hashable {
  let address: IPAddress
  let reason: TransferError
}
