// SPDX-License-Identifier: Apache-2.0
/// How many queries were sent to one source, and how many of them brought no answer.
struct QueryTally: Sendable, Hashable {
  private(set) var queries = 0
  private(set) var failed = 0

  /// Notes a query that has ended; one that was given up counts as sent and not as failed.
  mutating func note(_ result: Result<Answer, ProviderFailure>) {
    queries += 1
    if case .failure(let failure) = result, failure.kind != .cancelled { failed += 1 }
  }

  /// What was added since; providers that took others' places have counted anew.
  static func - (now: QueryTally, then: QueryTally) -> QueryTally {
    var rest = QueryTally()
    rest.queries = max(0, now.queries - then.queries)
    rest.failed = max(0, now.failed - then.failed)
    return rest
  }
}
