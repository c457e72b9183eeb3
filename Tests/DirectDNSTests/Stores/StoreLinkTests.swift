// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

@Suite(.timeLimit(.minutes(1)))
struct StoreLinkTests {
  let clock = ManualClock()
  let store: ScriptedStore
  let link: StoreLink
  private let question = AddressQuestion(Sample.name("www.example.net"), .ipv4)

  init() {
    clock.advance(by: .seconds(1000))
    store = ScriptedStore(clock: clock)
    link = StoreLink(store, policy: CachePolicy(), clock: clock, limit: .milliseconds(50)) { _ in }
  }

  private func entry(_ content: Answer.Content = .addresses([.ipv4(1)])) -> CacheEntry {
    CacheEntry(
      content: content, canonicalName: Sample.name("end.example"), source: 2, life: Sample.life(990, 1090))
  }

  @Test func `an entry comes back with its life, from the store`() async {
    link.write(entry(), to: question, provider: "one", lease: nil)
    _ = await link.flush(until: clock.now + .seconds(2))
    clock.advance(by: .seconds(20))
    var expected = entry()
    expected.source = SourceNames.store
    #expect(await link.read(question).found == expected)
  }

  @Test func `what is written has wall-clock instants, and is gone when nobody may use it any more`() async throws {
    link.write(entry(), to: question, provider: "one", lease: nil)
    _ = await link.flush(until: clock.now + .seconds(2))
    let answer = try #require(store.memory.read([question]).first)
    #expect(answer.asked == clock.wallNow - .seconds(10))
    #expect(answer.expires == clock.wallNow + .seconds(90))
    #expect(answer.gone == answer.expires + CachePolicy().maximumStale)
    #expect(answer.provider == "one")
    link.write(entry(.negative(.noAddress)), to: question, provider: "one", lease: nil)
    _ = await link.flush(until: clock.now + .seconds(2))
    #expect(store.memory.read([question]).first?.gone == clock.wallNow + .seconds(90))
  }

  @Test func `what the store has yet to hear counts already`() async {
    store.hang(.writing)
    link.write(entry(), to: question, provider: "one", lease: nil)
    #expect(await link.read(question).found?.life == Sample.life(990, 1090))
    link.forget(question)
    #expect(await link.read(question).isNothing)
    #expect(store.reads == 0)
    store.hang()
  }

  @Test func `a lease ends once the answer is written, and not before`() async throws {
    guard case .taken(let lease) = await link.takeLease(on: question, for: .seconds(6)) else {
      Issue.record("no lease")
      return
    }
    #expect(await link.takeLease(on: question, for: .seconds(6)) == .held)
    link.write(entry(), to: question, provider: "one", lease: lease)
    await store.wait(for: .endLease(question))
    let order = store.calls.filter { $0 == .write([question]) || $0 == .endLease(question) }
    #expect(order == [.write([question]), .endLease(question)])
  }

  @Test func `a lease that comes too late is given back`() async {
    store.hang(.leasing)
    let take = Task.immediate { [link, question] in await link.takeLease(on: question, for: .seconds(6)) }
    await clock.waitForSleepers()
    clock.advance(by: .milliseconds(50))
    #expect(await take.value == .unavailable)
    store.hang()
    await store.wait(for: .endLease(question))
  }

  @Test func `a store that never ends a lease has the next answers written all the same`() async throws {
    let lease = try await lease()
    store.hang(.leasing)
    link.write(entry(), to: question, provider: "one", lease: lease)
    await store.wait(for: .endLease(question))
    let other = AddressQuestion(Sample.name("other.example.net"), .ipv4)
    link.write(entry(), to: other, provider: "one", lease: nil)
    await store.wait(for: .write([other]))
    store.hang()
  }

  private func lease() async throws -> StoreLease {
    guard case .taken(let lease) = await link.takeLease(on: question, for: .seconds(6)) else {
      throw DirectDNSError(.storeFailed, "no lease")
    }
    return lease
  }

  /// The process may end then: nobody else could take the lease until it expires.
  @Test func `a flush waits for the leases that are being ended`() async throws {
    let lease = try await lease()
    store.hang(.leasing)
    link.endSoon(lease)
    let flush = Task.immediate { [link, clock] in await link.flush(until: clock.now + .seconds(2)) }
    await clock.waitForSleepers()
    store.hang()
    _ = await flush.value
    #expect(store.memory.takeLease(on: question, holder: "next", for: .seconds(6)))
  }

  @Test(arguments: [true, false])
  func `a cancellation before or during a flush ends neither writing nor the wait for leases`(
    isBefore: Bool
  ) async throws {
    let lease = try await lease()
    store.hang(.leasing)
    link.write(entry(), to: question, provider: "one", lease: lease)
    let flush = Task.immediate { [link, clock] in
      if isBefore { unsafe withUnsafeCurrentTask { unsafe $0?.cancel() } }
      return await link.flush(until: clock.now + .seconds(2))
    }
    flush.cancel()
    await store.wait(for: .endLease(question))
    store.hang()
    #expect(await flush.value.unwritten == 0)
    #expect(store.memory.takeLease(on: question, holder: "next", for: .seconds(6)))
  }

  @Test func `a flush waits for leases no longer than a lookup does`() async throws {
    let lease = try await lease()
    let begun = clock.now
    store.hang(.leasing)
    link.endSoon(lease)
    let flush = Task.immediate { [link, clock] in await link.flush(until: clock.now + .seconds(2)) }
    #expect(await clock.advanceToSleeper(within: .milliseconds(50)))
    #expect(await flush.value.unwritten == 0)
    #expect(clock.now - begun == .milliseconds(50))
    store.hang()
  }

  @Test func `a server that takes no lease, as a replica does, is read all the same`() async throws {
    store.memory.write([AnswerStoreContract.answer(question, "192.0.2.1")])
    store.fail(only: .leasing)
    for _ in 0..<3 { #expect(await link.takeLease(on: question, for: .seconds(6)) == .unavailable) }
    #expect(await link.read(question).found != nil)
    // It is asked for a lease once in a while.
    #expect(store.calls.count { $0 == .takeLease(question) } == 1)
    store.fail(false)
    clock.advance(by: .seconds(1))
    guard case .taken = await link.takeLease(on: question, for: .seconds(6)) else {
      Issue.record("no lease")
      return
    }
  }

  @Test func `a store without leases has none to give`() async {
    struct Plain: AnswerStore {
      var name: String { "plain" }
      func read(_ questions: [AddressQuestion]) -> [StoredAnswer] { [] }
      func write(_ answers: [StoredAnswer]) {}
      func remove(_ questions: [AddressQuestion]) {}
      func removeAll() {}
      func visit(_ visit: @Sendable ([StoredAnswer]) async -> Bool) {}
    }
    let link = StoreLink(Plain(), policy: CachePolicy(), clock: clock, limit: .milliseconds(50)) { _ in }
    #expect(!link.hasLeases)
    #expect(await link.takeLease(on: question, for: .seconds(6)) == .unavailable)
  }
}

extension StoreLink {
  /// What is said first.
  fileprivate func read(_ question: AddressQuestion) async -> StoreReading<CacheEntry> {
    let first = Promise<StoreReading<CacheEntry>>()
    read(question) { first.fulfil($0) }
    return await first.value()
  }
}
