// SPDX-License-Identifier: Apache-2.0
/// That nobody gets a connection of a pool: what the attempts came to that its requests made one after the other.
///
/// A pure value. One request at a time opens a connection for all who wait, and to a silent server each of them would
/// take the whole time to connect, while the others go on waiting.
struct PoolOutage {
  /// Milliseconds without an attempt, after which what came before says nothing any more.
  private static let gap: Int64 = 1_000

  private let since: Int64
  private let at: Int64
  private let addresses: Set<IPAddress>
  private let failure: TransferFailure

  /// Notes why a request got no connection; nil where another one may fare better.
  ///
  /// - Parameters:
  ///   - failure: why it got none.
  ///   - state: the request.
  ///   - earlier: what the attempts before came to.
  ///   - now: the present.
  init?(_ failure: TransferFailure, of state: TransferState, after earlier: PoolOutage?, at now: Int64) {
    guard failure.forbidden == nil, state.carrier == nil, !state.isWaiting else { return nil }
    switch failure.reason {
    case .connect, .tls: break
    case .timedOut where failure.timer == .connect: break
    default: return nil
    }
    let isNext = earlier.map { state.startedAt - $0.at < Self.gap } ?? false
    since = isNext ? earlier?.since ?? state.startedAt : state.startedAt
    at = now
    addresses = Set(state.terms.addresses)
    self.failure = failure
  }

  /// Why a request that has waited since then gets no connection either: all that time others tried its addresses in
  /// vain, and it was as long as it may take to connect.
  func failure(of terms: TransferTerms, waitingSince arrival: Int64, at now: Int64) -> TransferFailure? {
    guard now - at < Self.gap, now - max(since, arrival) >= terms.connectTimeout,
      terms.addresses.allSatisfy(addresses.contains)
    else { return nil }
    var failure = failure
    failure.isAnothers = true
    return failure
  }
}
