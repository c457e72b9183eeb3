// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct KeepAliveNamesTests {
  @Test func `those that failed are known by themselves`() {
    var names = KeepAliveNames(seed: 1)
    let (one, two) = (Sample.name("one.example"), Sample.name("two.example"))
    names[one] = KeepAliveNames.State()
    names[two] = KeepAliveNames.State()
    names[two]?[.ipv6].failures = 1
    #expect(names.names == [one, two] && names.failing == [two])
    names[two]?[.ipv6].failures = 0
    names[one]?[.ipv4].failures = 2
    #expect(names.failing == [one])
    names[one] = nil
    #expect(names.names == [two] && names.failing.isEmpty)
  }

  @Test func `jitter is from -1 to 1, and the same for the same seed`() {
    var (first, second, third) = (KeepAliveNames(seed: 3), KeepAliveNames(seed: 3), KeepAliveNames(seed: 4))
    let jitters = (0..<100).map { _ in first.jitter() }
    #expect(jitters.allSatisfy { (-1...1).contains($0) } && Set(jitters).count > 90)
    #expect(jitters == (0..<100).map { _ in second.jitter() })
    #expect(jitters != (0..<100).map { _ in third.jitter() })
  }
}

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
