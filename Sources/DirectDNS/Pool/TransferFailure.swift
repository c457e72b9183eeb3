// SPDX-License-Identifier: Apache-2.0
/// Why a transfer brought no response, or only a part of it.
///
/// A class, so that what every transfer passes around, and few fail, is small.
final class TransferFailure: Error, Sendable {
  /// What is known of a failure.
  struct Facts: Sendable {
    var reason: HTTPTransportError
    /// The addresses that could not be connected to, in the order in which they failed.
    var failedAddresses: [FailedAddress] = []
    /// How far the request got.
    var delivery = Delivery.notSent
    /// Whether libcurl has sent it more than once already.
    var wasRetried = false
    /// How often libcurl has sent it again because it was refused unprocessed.
    var refusals = 0
    /// The timeout that was exceeded, if any.
    var timer: Timer?
    /// An address that was about to be dialled although the policy forbids it.
    var forbidden: IPAddress?
    /// The address of the connection that was lost.
    var address: IPAddress?
    /// The error of the request's body, if that failed.
    var bodyFailure: (any Error)?
    /// Whether it is the failure of other requests, which this one has waited for; see ``PoolOutage``.
    var isAnothers = false

    /// Whether a server may have acted on the request, or on a part of it, this time or before.
    var mayHaveReachedServer: Bool {
      switch delivery {
      case .mayHaveArrived, .inPart: true
      case .notSent, .refused: wasRetried
      }
    }
  }

  enum Timer: String, Sendable, Hashable { case connect, firstByte, idle, total }

  /// How far a request got.
  enum Delivery: Sendable, Hashable {
    case notSent
    /// HTTP/2 refused it unprocessed (RFC 9113 §8.7).
    case refused
    /// It, or a part of it, may have reached the server.
    case mayHaveArrived
    /// The server has answered with success, and a part of the body was not sent.
    case inPart
  }

  let facts: Facts

  init(_ facts: Facts) { self.facts = facts }

  /// The failure of a request that was not sent.
  convenience init(_ reason: HTTPTransportError) { self.init(Facts(reason: reason)) }

  /// The same failure but for what is changed.
  func changed(_ change: (inout Facts) -> Void) -> TransferFailure {
    var facts = facts
    change(&facts)
    return TransferFailure(facts)
  }
}
