// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct SuspensionTests {
  @Test func `time that the machine was suspended counts, 50 ms after it woke at the latest`() {
    let suspension = Suspension()
    var (suspended, looks) = (Int64(7), 0)
    func total(at now: Int64) -> Int64 {
      suspension.total(
        at: now,
        elapsed: {
          looks += 1
          return now + suspended
        }, awake: { now })
    }
    #expect(total(at: 1_000) == 7)
    suspended = 3_600_000_000_007
    #expect(total(at: 1_000 + Suspension.interval - 1) == 7)
    #expect(total(at: 1_000 + Suspension.interval) == 3_600_000_000_007)
    #expect(looks == 2)
  }

  @Test func `it never becomes less, however badly the clocks are read`() {
    let suspension = Suspension()
    #expect(suspension.total(at: 0, elapsed: { 100 }, awake: { 0 }) == 100)
    let later = Suspension.interval
    #expect(suspension.total(at: later, elapsed: { later + 100 }, awake: { later + 10 }) == 100)
  }
}
