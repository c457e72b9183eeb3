// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DnsctlCommands

@Suite("The rest of a file that is continued")
struct RemainderCheckTests {
  /// What comes of ten bytes, and its end.
  @Test(
    arguments: [
      ([10, nil], nil), ([4, 0, 6, nil], nil), ([nil], true), ([4, nil], true), ([11], false), ([10, 1], false),
      ([.max], false),
    ] as [([Int?], Bool?)])
  func `it is as long as announced, and no longer`(counts: [Int?], isShort: Bool?) {
    var check = RemainderCheck(10)
    var fault: RemainderCheck.Fault?
    do throws(RemainderCheck.Fault) { for count in counts { try check.take(count) } } catch { fault = error }
    #expect(fault == isShort.map { RemainderCheck.Fault(length: 10, isShort: $0) })
  }

  @Test func `nothing may be missing`() throws {
    var check = RemainderCheck(0)
    try check.take(nil)
  }
}
