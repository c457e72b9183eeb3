// SPDX-License-Identifier: Apache-2.0
/// Why no request gets a connection to a server: the failure of those that tried, one after the other.
///
/// A pure value. Where one request opens a connection for all, the others wait for it. If the server is silent, each
/// would in turn take its whole time to connect; with this, those that have waited as long as that fail at once.
struct PoolOutage {
  /// After so many milliseconds without an attempt, earlier failures do not count any more.
  private static let gap: Int64 = 1_000

  private let since: Int64
  private let failedAt: Int64
  private let addresses: Set<IPAddress>
  private let failure: TransferFailure

  /// Notes that a request got no connection; nil if another request may well get one.
  ///
  /// - Parameters:
  ///   - failure: why it got none.
  ///   - state: the request's state.
  ///   - earlier: the outage so far, if there is one.
  ///   - now: the present.
  init?(_ failure: TransferFailure, of state: TransferState, after earlier: PoolOutage?, at now: Int64) {
    guard failure.facts.forbidden == nil, state.carrier == nil, !state.isWaiting else { return nil }
    switch failure.facts.reason {
    case .connect, .tls: break
    case .timedOut where failure.facts.timer == .connect: break
    default: return nil
    }
    let isNext = earlier.map { state.startedAt - $0.failedAt < Self.gap } ?? false
    since = isNext ? earlier?.since ?? state.startedAt : state.startedAt
    failedAt = now
    addresses = Set(state.terms.addresses)
    self.failure = failure
  }

  /// The failure of a request that has waited; nil if it may still get a connection.
  ///
  /// It fails if others have tried its addresses in vain for as long as it may itself take to connect.
  func failure(of terms: TransferTerms, waitingSince arrival: Int64, at now: Int64) -> TransferFailure? {
    guard now - failedAt < Self.gap, now - max(since, arrival) >= terms.connectTimeout,
      terms.addresses.allSatisfy(addresses.contains)
    else { return nil }
    return failure.changed { facts in
      facts.isAnothers = true
      // The other one may have been sent before.
      (facts.wasRetried, facts.refusals) = (false, 0)
    }
  }
}
