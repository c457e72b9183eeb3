// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNSProxy

struct PendingWritesTests {
  @Test func `it is full at the limit until the write is out that filled it`() {
    var writes = PendingWrites()
    /// How many of so many writes were to be told about.
    func write(_ count: Int) -> Int { (0..<count).count { _ in writes.wrote() } }
    #expect(write(PendingWrites.limit - 1) == 0)
    #expect(!writes.isFull)
    #expect(write(1) == 1)
    #expect(writes.isFull)
    // The rest of what was read already: it counts for the next time.
    #expect(write(PendingWrites.limit) == 0)
    writes.wentOut()
    #expect(!writes.isFull)
    #expect(write(1) == 1)
    #expect(writes.isFull)
  }
}
