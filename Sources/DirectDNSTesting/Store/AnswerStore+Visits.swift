// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

extension AnswerStore {
  /// All answers, as a visit shows them.
  func allAnswers() async throws(DirectDNSError) -> [StoredAnswer] {
    let seen = Watched<[StoredAnswer]>([])
    try await visit { page in
      seen.change { $0 += page }
      return true
    }
    return seen.value
  }

  /// Visits all answers, and has something happen to the store once the first page has come.
  ///
  /// - Returns: how many pages came, and why the visit failed; nil where it did not.
  /// - Throws: what `happening` throws.
  func visitPages(
    afterFirst happening: @Sendable () async throws -> Void
  ) async throws -> (count: Int, failure: DirectDNSError?) {
    let (count, thrown) = (Watched(0), Watched<(any Error)?>(nil))
    var failure: DirectDNSError?
    do throws(DirectDNSError) {
      try await visit { _ in
        let isFirst = count.change { count in
          count += 1
          return count == 1
        }
        guard isFirst else { return true }
        do { try await happening() } catch { thrown.change { $0 = error } }
        return true
      }
    } catch {
      failure = error
    }
    if let error = thrown.value { throw error }
    return (count.value, failure)
  }
}
