// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct SeenNamesTests {
  @Test func `each hash is new once`() {
    var seen = SeenNames()
    var model: Set<UInt64> = []
    var random = SeededGenerator(seed: 1)
    for _ in 0..<50_000 {
      // Some come again, and many want the same places.
      let hash = UInt64.random(in: 1..<40_000, using: &random) << 8
      #expect(seen.insert(hash) == model.insert(hash).inserted)
    }
    #expect(seen.count == model.count)
  }

  @Test func `a hash of nothing but zeros is a hash`() {
    var seen = SeenNames()
    #expect(seen.insert(0) && !seen.insert(0) && seen.count == 1)
  }
}
