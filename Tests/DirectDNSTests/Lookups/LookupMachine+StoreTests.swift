// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct StoredUseTests {
  private let known = Sample.life(0, 100)

  @Test(arguments: [
    (CachePhase.fresh, StoredUse.answer, StoredUse.answer), (.due, .makeshift, .newer),
    (.grace, .makeshift, .newer), (.stale, .makeshift, .newer), (.gone, .nothing, .nothing),
  ])
  func `a younger answer is worth what its phase says`(_ phase: CachePhase, _ alone: StoredUse, _ younger: StoredUse) {
    #expect(StoredUse(phase: phase, askedAt: 1, isNegative: false, known: nil) == alone)
    #expect(StoredUse(phase: phase, askedAt: 1, isNegative: false, known: known) == younger)
  }

  @Test(arguments: [CachePhase.fresh, .due, .grace, .stale, .gone])
  func `the cache's own answer, or an older one, is nothing new`(_ phase: CachePhase) {
    #expect(StoredUse(phase: phase, askedAt: 0, isNegative: false, known: known) == .nothing)
    #expect(StoredUse(phase: phase, askedAt: -1, isNegative: false, known: known) == .nothing)
  }

  @Test func `a negative answer is worth something while it is fresh alone`() {
    #expect(StoredUse(phase: .fresh, askedAt: 1, isNegative: true, known: nil) == .answer)
    #expect(StoredUse(phase: .due, askedAt: 1, isNegative: true, known: nil) == .nothing)
  }
}
