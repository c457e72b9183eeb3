// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSTesting
import Testing

/// That it holds for our own stores is said where these are tested.
@Suite(.timeLimit(.minutes(1)))
struct FleetStoreContractTests {
  /// A store whose visits show leases, too.
  private struct LeaseShowingStore: FleetAnswerStore {
    private let memory = MemoryAnswerStore()
    private let leases = MemoryAnswerStore()

    var name: String { memory.name }

    func read(_ questions: [AddressQuestion]) async throws(DirectDNSError) -> [StoredAnswer] { memory.read(questions) }

    func write(_ answers: [StoredAnswer]) async throws(DirectDNSError) { memory.write(answers) }

    func remove(_ questions: [AddressQuestion]) async throws(DirectDNSError) { memory.remove(questions) }

    func removeAll() async throws(DirectDNSError) { memory.removeAll() }

    func visit(_ visit: @Sendable ([StoredAnswer]) async -> Bool) async throws(DirectDNSError) {
      await memory.visit(visit)
      await leases.visit(visit)
    }

    func takeLease(on question: AddressQuestion, holder: String, for duration: Duration) async throws(DirectDNSError)
      -> Bool
    {
      let now = SystemClock().wallNow
      leases.write([
        StoredAnswer(
          question, .negative(.noAddress), provider: holder, asked: now, expires: now + duration, gone: now + duration)
      ])
      return memory.takeLease(on: question, holder: holder, for: duration)
    }

    func endLease(on question: AddressQuestion, holder: String) async throws(DirectDNSError) {
      memory.endLease(on: question, holder: holder)
    }
  }

  @Test func `a store whose visits show leases breaks the promise that these are no answers`() async throws {
    var broken: [String] = []
    for promise in FleetStoreContract.all {
      do { try await promise.check(LeaseShowingStore()) } catch is AnswerStoreContract.Violation {
        broken.append(promise.description)
      }
    }
    #expect(broken == ["leases on other questions are other leases, and are no answers"])
  }
}
