// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import Testing

@testable import DirectDNS

@Suite(.timeLimit(.minutes(1)))
struct MemoryAnswerStoreTests {
  @Test(arguments: AnswerStoreContract.all)
  func `the contract of all stores holds`(_ promise: AnswerStoreContract) async throws {
    try await promise.check(MemoryAnswerStore())
  }

  @Test(arguments: FleetStoreContract.all)
  func `the contract of stores with leases holds`(_ promise: FleetStoreContract) async throws {
    try await promise.check(MemoryAnswerStore())
  }

  @Test func `a full store keeps what lasts longest`() {
    let clock = ManualClock()
    let store = MemoryAnswerStore(capacity: 10, clock: clock)
    let answers = (0..<20).map { number in
      StoredAnswer(
        AddressQuestion(Sample.name("host-\(number).example"), .ipv4), .negative(.noAddress), provider: "one",
        asked: clock.wallNow, expires: clock.wallNow, gone: clock.wallNow + .seconds(number + 1))
    }
    for answer in answers { store.write([answer]) }
    let kept = store.read(answers.map(\.question))
    #expect(kept.count <= 10 && kept.count >= 8)
    #expect(kept.contains(answers[19]))
    #expect(!kept.contains(answers[0]))
    #expect(store.evicted == 20 - kept.count)
  }

  @Test func `a full store lets go first what a clock that is years ahead has stamped`() {
    let clock = ManualClock()
    let store = MemoryAnswerStore(capacity: 10, clock: clock)
    func answer(_ number: Int, at asked: WallInstant) -> StoredAnswer {
      StoredAnswer(
        AddressQuestion(Sample.name("host-\(number).example"), .ipv4), .negative(.noAddress), provider: "one",
        asked: asked, expires: asked, gone: asked + .seconds(number + 1))
    }
    let ahead = (0..<10).map { answer($0, at: clock.wallNow + .seconds(315_360_000)) }
    store.write(ahead)
    let answers = (10..<19).map { answer($0, at: clock.wallNow) }
    for answer in answers { store.write([answer]) }
    #expect(store.read(answers.map(\.question)).count == 9)
    #expect(!store.read(ahead.map(\.question)).contains(ahead[0]))
  }

  @Test func `what was asked for before the store was made counts as nobody's loss`() {
    let clock = ManualClock()
    let store = MemoryAnswerStore(capacity: 1, clock: clock)
    for number in 0..<20 {
      store.write([
        StoredAnswer(
          AddressQuestion(Sample.name("host-\(number).example"), .ipv4), .negative(.noAddress), provider: "one",
          asked: clock.wallNow - .seconds(1), expires: clock.wallNow, gone: clock.wallNow + .seconds(number + 1))
      ])
    }
    #expect(store.evicted == 0)
  }
}
