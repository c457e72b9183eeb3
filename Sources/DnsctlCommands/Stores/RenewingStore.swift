// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// A store that is written and never read, so that lookups always ask the providers.
///
/// Stored answers stay until new ones replace them.
struct RenewingStore: AnswerStore {
  let base: any AnswerStore

  var name: String { base.name }

  func read(_ questions: [AddressQuestion]) async throws(DirectDNSError) -> [StoredAnswer] { [] }

  func write(_ answers: [StoredAnswer]) async throws(DirectDNSError) { try await base.write(answers) }

  func writeNewer(_ answers: [StoredAnswer]) async throws(DirectDNSError) -> Int { try await base.writeNewer(answers) }

  var evicted: Int { base.evicted }

  func checkpoint() async { await base.checkpoint() }

  func remove(_ questions: [AddressQuestion]) async throws(DirectDNSError) { try await base.remove(questions) }

  func removeOlder(_ questions: [AddressQuestion: WallInstant]) async throws(DirectDNSError) {
    try await base.removeOlder(questions)
  }

  func removeAll() async throws(DirectDNSError) { try await base.removeAll() }

  func visit(_ visit: @Sendable ([StoredAnswer]) async -> Bool) async throws(DirectDNSError) {
    try await base.visit(visit)
  }
}
