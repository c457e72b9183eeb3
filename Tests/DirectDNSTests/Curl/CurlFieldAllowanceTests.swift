// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct CurlFieldAllowanceTests {
  @Test func `each line counts 32 bytes more than it has`() {
    var allowance = CurlFieldAllowance(100)
    let answers = [18, 18, 0, 0].map { allowance.take($0) }
    #expect(answers == [true, true, false, false])
    #expect(allowance.isExceeded && allowance.isUsed)
  }

  @Test func `lines without a byte are bounded too`() {
    var allowance = CurlFieldAllowance(65_536)
    var count = 0
    while allowance.take(0) { count += 1 }
    #expect(count == 2048)
  }

  @Test func `what is exactly the limit is taken, and nothing behind what is more`() {
    var allowance = CurlFieldAllowance(64)
    #expect(!allowance.isUsed)
    let isWholeTaken = allowance.take(32)
    #expect(isWholeTaken && !allowance.isExceeded)
    let answers = [1, 0].map { allowance.take($0) }
    #expect(answers == [false, false])
  }
}
