// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct SeededGeneratorTests {
  // Reference: prng.di.unimi.it/splitmix64.c
  @Test func `it makes the numbers of SplitMix64`() {
    var zero = SeededGenerator(seed: 0)
    #expect(
      (0..<3).map { _ in zero.next() } == [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f])
    var other = SeededGenerator(seed: 1_234_567)
    #expect((0..<2).map { _ in other.next() } == [6_457_827_717_110_365_317, 3_203_168_211_198_807_973])
  }
}
