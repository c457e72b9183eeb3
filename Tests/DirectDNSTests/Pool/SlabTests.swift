// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct SlabTests {
  @Test func `a value is found under its number, and changed in place`() {
    var slab = Slab<[Int]>()
    let (a, b) = (slab.insert([1]), slab.insert([2]))
    #expect(slab.change(a) { $0.append(3) } != nil)
    #expect(slab.read(a) { $0.count } == 2)
    #expect(slab[a] == [1, 3] && slab[b] == [2] && slab.count == 2 && slab.ids == [a, b])
  }

  @Test func `a number is good for its value alone, also when another has taken its place`() {
    var slab = Slab<Int>()
    let first = slab.insert(1)
    #expect(slab.remove(first) == 1)
    #expect(slab.remove(first) == nil)
    let second = slab.insert(2)
    #expect(slab.change(first) { $0 = 9 } == nil && slab.read(first) { $0 + 0 } == nil && !slab.has(first))
    #expect(second.index == first.index && second != first)
    #expect(slab[first] == nil && slab[second] == 2 && slab.count == 1)
    #expect(slab[.none] == nil && Slab<Int>()[.none] == nil && Slab<Int>().read(.none) { $0 + 0 } == nil)
  }
}
