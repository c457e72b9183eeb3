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

  private func begin(_ names: String...) -> [Task<StoredAnswer?, Never>] {
    names.map { name in Task.immediate { [reader] in await reader.read(question(name)) } }
  }

  @Test func `an answer is read`() async {
    let answer = AnswerStoreContract.answer(question(), "192.0.2.1")
    store.memory.write([answer])
    #expect(await reader.read(question()) == answer)
    #expect(await reader.read(question("other.example.net")) == nil)
  }

  @Test func `reads that come while one is under way go out together`() async {
    store.hang(.reading)
    let reads = begin("a", "b", "c", "b")
    store.hang()
    for read in reads { #expect(await read.value == nil) }
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

  @Test func `a store that is late keeps nobody waiting, neither those who came first nor those behind them`() async {
    store.hang(.reading)
    let reads = begin("a", "b", "c")
    await clock.waitForSleepers()
    clock.advance(by: .milliseconds(50))
    for read in reads { #expect(await read.value == nil) }
    #expect(events.value == ["failed"])
    #expect(store.reads == 1)
    // From now on it is not even asked.
    #expect(await reader.read(question("d")) == nil)
    #expect(store.reads == 1)
  }

  @Test func `a store that failed is tried after a second, and nobody waits for that`() async {
    store.fail()
    #expect(await reader.read(question()) == nil)
    store.hang(.reading)
    clock.advance(by: .seconds(1))
    #expect(await reader.read(question()) == nil)
    await store.wait(forReads: 2)
    store.fail(false)
    store.hang()
    await events.wait { $0 == ["failed", "recovered"] }
    let answer = AnswerStoreContract.answer(question(), "192.0.2.1")
    store.memory.write([answer])
    #expect(await reader.read(question()) == answer)
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
