// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

@Suite(.timeLimit(.minutes(1)))
struct StoreReaderTests {
  let clock = ManualClock()
  let store: ScriptedStore
  let reader: StoreReader
  private let events = Watched<[String]>([])

  init() {
    store = ScriptedStore(clock: clock)
    reader = StoreReader(store, clock: clock, limit: .milliseconds(50)) { [events] event in
      events.change { events in
        switch event {
        case .failed: events.append("failed")
        case .recovered: events.append("recovered")
        case .dropped: events.append("dropped")
        }
      }
    }
  }

  private func question(_ name: String = "www.example.net") -> AddressQuestion {
    AddressQuestion(Sample.name(name), .ipv4)
  }

  private func begin(_ names: String...) -> [Task<StoreReading<StoredAnswer>, Never>] {
    names.map { name in Task.immediate { [reader] in await reader.read(question(name)) } }
  }

  @Test func `an answer is read`() async {
    let answer = AnswerStoreContract.answer(question(), "192.0.2.1")
    store.memory.write([answer])
    #expect(await reader.read(question()).found == answer)
    #expect(await reader.read(question("other.example.net")).isNothing)
  }

  @Test func `reads that come while one is under way go out together`() async {
    store.hang(.reading)
    let reads = begin("a", "b", "c", "b")
    store.hang()
    for read in reads { #expect(await read.value.isNothing) }
    let sizes = store.calls.map { if case .read(let questions) = $0 { questions.count } else { 0 } }
    #expect(sizes == [1, 2])
  }

  @Test func `no call asks more than 256 questions`() async {
    store.hang(.reading)
    let reads = (0...600).map { number in Task.immediate { await reader.read(question("host-\(number)")) } }
    store.hang()
    for read in reads { _ = await read.value }
    let sizes = store.calls.map { if case .read(let questions) = $0 { questions.count } else { 0 } }
    #expect(sizes == [1, 256, 256, 88])
  }

  @Test func `behind a call that is late the next one goes out, until the store is late for the third time`() async {
    store.hang(.reading)
    var reads = begin("a", "b", "c")
    for (call, next) in [(1, "d"), (2, "e"), (3, "f")] {
      await store.wait(forReads: call)
      reads += begin(next)
      clock.advance(by: .milliseconds(50))
    }
    for read in reads.prefix(5) { #expect(await read.value.isLate) }
    for read in reads.dropFirst(5) { #expect(await read.value.isUnavailable) }
    let sizes = store.calls.map { if case .read(let questions) = $0 { questions.count } else { 0 } }
    #expect(sizes == [1, 3, 1])
    #expect(events.value == ["failed"])
    // From now on it is not even asked.
    #expect(await reader.read(question("g")).isUnavailable)
    #expect(store.reads == 3)
    store.hang()
  }

  @Test func `what a store has for those behind a call that is late may still come in time`() async {
    let answer = AnswerStoreContract.answer(question("b"), "192.0.2.1")
    store.memory.write([answer])
    store.hang(.reading)
    let reads = begin("a", "b")
    await store.wait(forReads: 1)
    clock.advance(by: .milliseconds(50))
    #expect(await reads[0].value.isLate)
    await store.wait(forReads: 2)
    store.hang()
    #expect(await reads[1].value.found == answer)
  }

  @Test func `what a store has comes after all, and a call that has taken 5 s is cancelled`() async {
    let answer = AnswerStoreContract.answer(question(), "192.0.2.1")
    store.memory.write([answer])
    for isCancelled in [false, true] {
      store.hang(.reading)
      let told = Watched<[StoreReading<StoredAnswer>]>([])
      reader.read(question()) { reading in told.change { $0.append(reading) } }
      await clock.waitForSleepers()
      clock.advance(by: .milliseconds(50))
      await told.wait { $0.count == 1 }
      #expect(told.value[0].isLate)
      await clock.waitForSleepers()
      // A call of this store goes on when it is cancelled.
      if isCancelled { clock.advance(by: StoreReader.longestCall - .milliseconds(50)) } else { store.hang() }
      await told.wait { $0.count == 2 }
      #expect(told.value[1].found == answer)
      #expect(await clock.waitForNoSleepers())
    }
    store.hang()
  }

  @Test func `a store that failed is tried after a second, and nobody waits for that`() async {
    store.fail()
    #expect(await reader.read(question()).isUnavailable)
    store.hang(.reading)
    clock.advance(by: .seconds(1))
    #expect(await reader.read(question()).isUnavailable)
    await store.wait(forReads: 2)
    store.fail(false)
    store.hang()
    await events.wait { $0 == ["failed", "recovered"] }
    let answer = AnswerStoreContract.answer(question(), "192.0.2.1")
    store.memory.write([answer])
    #expect(await reader.read(question()).found == answer)
  }

  @Test func `a store is tried by a question, since some answer a read of nothing that can read no answer`() async {
    store.fail()
    #expect(await reader.read(question("a")).isUnavailable)
    clock.advance(by: .seconds(1))
    #expect(await reader.read(question("b")).isUnavailable)
    await store.wait(for: .read([question("b")]))
  }

  @Test func `leases that are late are not waited for after the third, and answers are read all the same`() async {
    let held = Watched(false)
    func lease() -> Task<Bool?, Never> {
      Task.immediate { [reader] in
        await reader.lease(late: { _ in }) {
          await held.wait { $0 }
          return true
        }
      }
    }
    for _ in 1...3 {
      let lease = lease()
      await clock.waitForSleepers()
      clock.advance(by: .milliseconds(50))
      #expect(await lease.value == nil)
    }
    // Nothing is waited for any more: no time passes.
    #expect(await lease().value == nil)
    let answer = AnswerStoreContract.answer(question(), "192.0.2.1")
    store.memory.write([answer])
    #expect(await reader.read(question()).found == answer)
    #expect(events.value.isEmpty)
    held.change { $0 = true }
  }

  @Test func `a store that goes on failing is told of once`() async {
    store.fail()
    for _ in 0..<10 {
      _ = await reader.read(question())
      clock.advance(by: .seconds(31))
    }
    #expect(events.value == ["failed"])
  }
}

extension StoreReader {
  /// What is said first.
  func read(_ question: AddressQuestion) async -> StoreReading<StoredAnswer> {
    let first = Promise<StoreReading<StoredAnswer>>()
    read(question) { first.fulfil($0) }
    return await first.value()
  }
}

extension StoreReading {
  var found: Value? { if case .found(let value) = self { value } else { nil } }
  var isNothing: Bool { if case .nothing = self { true } else { false } }
  var isLate: Bool { if case .late = self { true } else { false } }
  var isUnavailable: Bool { if case .unavailable = self { true } else { false } }
}
