// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

@Suite(.timeLimit(.minutes(1)))
struct StoreWriterTests {
  let clock = ManualClock()
  let store: ScriptedStore
  let writer: StoreWriter
  private let events = Watched<[String]>([])

  init() {
    store = ScriptedStore(clock: clock)
    writer = StoreWriter(store, clock: clock) { [events] event in
      events.change { events in
        switch event {
        case .failed: events.append("failed")
        case .recovered: events.append("recovered")
        case .dropped: events.append("dropped")
        }
      }
    }
  }

  private func question(_ name: String) -> AddressQuestion { AddressQuestion(Sample.name(name), .ipv4) }

  private func add(_ names: String...) {
    for name in names { writer.add(.keep(AnswerStoreContract.answer(question(name), "192.0.2.1")), to: question(name)) }
  }

  private func flush(_ limit: Duration = .seconds(2)) async -> Int {
    await writer.flush(until: clock.now + limit).unwritten
  }

  @Test func `what is added is written, and removed where it is to be forgotten`() async {
    add("a", "b")
    #expect(await flush() == 0)
    writer.add(.forget(clock.wallNow), to: question("a"))
    #expect(await flush() == 0)
    #expect(store.memory.read([question("a"), question("b")]).map(\.question) == [question("b")])
  }

  @Test func `no call writes more than 256 answers`() async {
    store.hang(.writing)
    for number in 0..<600 { add("host-\(number)") }
    store.hang()
    #expect(await flush() == 0)
    let sizes = store.calls.map { if case .write(let questions) = $0 { questions.count } else { 0 } }
    #expect(sizes.reduce(0, +) == 600)
    #expect(sizes.max() == 256)
  }

  @Test func `what has waited through a failure takes the place of no newer answer`() async {
    let old = AnswerStoreContract.answer(question("a"), "192.0.2.1")
    var newer = AnswerStoreContract.answer(question("a"), "192.0.2.2")
    newer.asked = old.asked + .seconds(1)
    store.fail()
    writer.add(.keep(old), to: question("a"))
    await events.wait { $0 == ["failed"] }
    store.memory.write([newer])
    store.fail(false)
    #expect(await flush() == 0)
    #expect(store.memory.read([question("a")]) == [newer])
    // What is learnt from then on is the newest.
    writer.add(.keep(old), to: question("a"))
    #expect(await flush() == 0)
    #expect(store.memory.read([question("a")]) == [old])
  }

  @Test(arguments: [(-1, 0), (0, 0), (1, 1)])
  func `what has waited to be forgotten is forgotten, unless there is a newer answer`(_ seconds: Int, _ left: Int) async
  {
    var known = AnswerStoreContract.answer(question("a"), "192.0.2.1")
    known.asked = clock.wallNow + .seconds(seconds)
    store.fail()
    writer.add(.forget(clock.wallNow), to: question("a"))
    await events.wait { $0 == ["failed"] }
    store.memory.write([known])
    store.fail(false)
    #expect(await flush() == 0)
    #expect(store.memory.read([question("a")]).count == left)
  }

  @Test func `a store that writing alone puts right is written to before it is read`() async {
    let writer = StoreWriter(DamagedStore(base: store), clock: clock) { _ in }
    store.fail(only: .reading, .writing)
    writer.add(.keep(AnswerStoreContract.answer(question("a"), "192.0.2.1")), to: question("a"))
    writer.add(.forget(clock.wallNow), to: question("b"))
    #expect(await writer.flush(until: clock.now + .seconds(2)).unwritten == 2)
    // What is to be forgotten is read now, since it may be newer.
    store.fail(only: .reading)
    #expect(await writer.flush(until: clock.now + .seconds(2)).unwritten == 0)
    #expect(store.memory.read([question("a")]).count == 1)
  }

  /// A store that cannot be read before something was written.
  private struct DamagedStore: AnswerStore {
    let base: ScriptedStore
    var name: String { base.name }

    func read(_ questions: [AddressQuestion]) async throws(DirectDNSError) -> [StoredAnswer] {
      try await base.read(questions)
    }

    func write(_ answers: [StoredAnswer]) async throws(DirectDNSError) {
      try await base.write(answers)
      base.fail(false)
    }

    func writeNewer(_ answers: [StoredAnswer]) async throws(DirectDNSError) -> Int {
      try await write(answers)
      return answers.count
    }

    func remove(_ questions: [AddressQuestion]) async throws(DirectDNSError) { try await base.remove(questions) }

    func removeAll() async throws(DirectDNSError) { try await base.removeAll() }

    func visit(_ visit: @Sendable ([StoredAnswer]) async -> Bool) async throws(DirectDNSError) {
      try await base.visit(visit)
    }
  }

  @Test func `what could not be written is tried again by itself`() async {
    store.fail()
    add("a")
    await events.wait { $0 == ["failed"] }
    await clock.waitForSleepers()
    add("b")
    store.fail(false)
    clock.advance(by: .seconds(1))
    await events.wait { $0 == ["failed", "recovered"] }
    #expect(await flush() == 0)
    #expect(store.memory.read([question("a"), question("b")]).count == 2)
  }

  @Test func `a flush tries at once, and says what was not written and why`() async {
    store.fail()
    add("a", "b")
    await events.wait { $0 == ["failed"] }
    let told = await writer.flush(until: clock.now + .seconds(2))
    #expect(told.unwritten == 2)
    #expect(told.reason?.code == .storeFailed)
    store.fail(false)
    #expect(await flush() == 0)
  }

  @Test func `a flush tries once more from the moment on that a write counts as failed`() async {
    store.fail()
    let unwritten = Watched<Int?>(nil)
    let answer = AnswerStoreContract.answer(question("a"), "192.0.2.1")
    writer.add(.keep(answer), to: question("a")) { [store, writer, clock] in
      store.fail(false)
      let flushed = await writer.flush(until: clock.now + .seconds(2))
      unwritten.change { $0 = flushed.unwritten }
    }
    await unwritten.wait { $0 != nil }
    #expect(unwritten.value == 0)
    #expect(store.memory.read([question("a")]) == [answer])
  }

  @Test func `a write that never returns counts as failed after a minute, and is tried again`() async {
    store.hang(.writing)
    add("a")
    await clock.waitForSleepers()
    clock.advance(by: .seconds(59))
    #expect(events.read(\.self).isEmpty)
    clock.advance(by: .seconds(1))
    await events.wait { $0 == ["failed"] }
    store.hang()
    // The first one comes through, late.
    #expect(await ProcessState.eventually { !store.memory.read([question("a")]).isEmpty })
    await clock.waitForSleepers()
    clock.advance(by: .seconds(1))
    await events.wait { $0 == ["failed", "recovered"] }
    #expect(store.calls == [.write([question("a")]), .read([question("a")])])
  }

  @Test func `one that is dropped while its store is not used leaves nothing asleep`() async {
    store.fail()
    do {
      let writer = StoreWriter(store, clock: clock) { _ in }
      for number in 0..<3 {
        writer.add(.forget(clock.wallNow), to: question("host-\(number)"))
        _ = await writer.flush(until: clock.now + .seconds(2))
      }
      await clock.waitForSleepers()
    }
    #expect(await clock.waitForNoSleepers())
  }

  @Test func `a flush waits no longer than it may`() async {
    store.hang(.writing)
    add("a")
    let begun = clock.now
    let flushed = Task.immediate { await flush(.seconds(2)) }
    await clock.waitForSleepers()
    clock.advance(by: .seconds(2))
    #expect(await flushed.value == 1)
    #expect(clock.now - begun == .seconds(2))
    store.hang()
  }

  @Test func `what there is no room for is told of and counted`() async {
    store.hang(.writing)
    for number in 0..<(StoreWriter.capacity + StoreWriter.batch + 5) { add("host-\(number)") }
    #expect(events.value.contains("dropped"))
    // Nobody waits for what will never be written.
    let done = Watched(false)
    writer.add(.forget(clock.wallNow), to: question("one-too-many")) { done.change { $0 = true } }
    #expect(await done.wait { $0 })
    store.hang()
    #expect(await flush() > 0)
    // What was dropped is no news any more.
    #expect(await flush() == 0)
  }

  @Test func `what is to be done afterwards is done when it was written, and when it could not be`() async {
    let done = Watched(0)
    writer.add(.forget(clock.wallNow), to: question("a")) { done.change { $0 += 1 } }
    #expect(await done.wait { $0 == 1 })
    store.fail()
    writer.add(.forget(clock.wallNow), to: question("a")) { done.change { $0 += 1 } }
    #expect(await done.wait { $0 == 2 })
    // The store is not used for now: nobody waits for its next try.
    writer.add(.forget(clock.wallNow), to: question("b")) { done.change { $0 += 1 } }
    #expect(await done.wait { $0 == 3 })
  }
}
