// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct AnswerTableMemoryTests {
  @Test func `memory that a process may not have is told beforehand`() {
    #expect(AnswerTable.fits(capacity: 10_000))
    // 2^47 bytes and more: no address space is as large.
    #expect(!AnswerTable.fits(capacity: 1 << 40))
  }
}
