// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct RecordOrderTests {
  @Test(arguments: [(0, 0), (1, 0), (2, 64), (64, 2), (64, 64)])
  func `a word holds how many addresses of each family take turns`(_ equals4: Int, _ equals6: Int) {
    for changesAt in [nil, Sample.at(30), Sample.at(1e9)] {
      let bits = RecordOrder.Bits(
        RecordOrder(equals4: equals4, equals6: equals6, changesAt: changesAt, revision: 7))
      #expect(bits.equals4 == equals4)
      #expect(bits.equals6 == equals6)
      #expect(!bits.isBehind4 && !bits.isBehind6)
    }
  }

  @Test(arguments: IPAddress.Family.allCases)
  func `a word holds which family goes behind the other`(_ family: IPAddress.Family) {
    let bits = RecordOrder.Bits(
      RecordOrder(equals4: 64, equals6: 64, behind: family, changesAt: Sample.at(30), revision: 7))
    #expect(bits.isBehind4 == (family == .ipv4) && bits.isBehind6 == (family == .ipv6))
    #expect(bits.equals4 == 64 && bits.equals6 == 64)
  }

  @Test(arguments: [0.0, 0.5, 30, 86_400, 2e9, -5])
  func `an order is looked at up to 66 µs before it changes, and never after`(_ seconds: Double) {
    let changesAt = Sample.at(seconds)
    let bits = RecordOrder.Bits(RecordOrder(equals4: 1, equals6: 1, changesAt: changesAt, revision: 0))
    #expect(bits.changesAt <= changesAt.nanoseconds)
    #expect(changesAt.nanoseconds - bits.changesAt < 66_000)
  }

  @Test func `an order that stays is not looked at for centuries`() {
    let bits = RecordOrder.Bits(RecordOrder(equals4: 2, equals6: 0, changesAt: nil, revision: 0))
    #expect(bits.changesAt > Sample.at(250 * 365 * 86_400).nanoseconds)
  }

  @Test func `when a record was used does not touch what had been heard of its addresses`() {
    var use = RecordUse(seconds: 5, revision: 0xffff_fffe)
    #expect(use.seconds == 5 && use.revision == 0xffff_fffe)
    use.seconds = 0xffff_ffff
    #expect(use.seconds == 0xffff_ffff && use.revision == 0xffff_fffe)
    #expect(RecordUse(bits: use.bits).revision == use.revision)
  }
}
