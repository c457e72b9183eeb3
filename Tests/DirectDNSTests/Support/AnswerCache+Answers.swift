// SPDX-License-Identifier: Apache-2.0
@testable import DirectDNS

extension AnswerCache {
  /// Keeps an answer in place of what was known of that family.
  ///
  /// - Returns: the number of names that had to go.
  @discardableResult
  func store(
    _ answer: Answer, to question: AddressQuestion, source: UInt16, asked: ResolverInstant, now: ResolverInstant
  ) -> Int {
    let policy = state.withLock { $0.failures.policy }
    return store(
      CacheEntry(answer, source: source, policy: policy, asked: asked, now: now), inAnswerTo: question,
      unkept: .unkept(answer), now: now)
  }
}
