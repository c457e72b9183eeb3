import Testing

@testable import DirectDNS

struct SlabTests {
  @Test func `a value is found under its number, and changed in place`() {
    var slab = Slab<[Int]>()
    let (a, b) = (slab.insert([1]), slab.insert([2]))
    slab[a]?.append(3)
    #expect(slab[a] == [1, 3] && slab[b] == [2] && slab.count == 2 && slab.ids == [a, b])
  }

  @Test func `a number is good for its value alone, also when another has taken its place`() {
    var slab = Slab<Int>()
    let first = slab.insert(1)
    slab.remove(first)
    slab.remove(first)
    let second = slab.insert(2)
    slab[first] = 9
    #expect(second.index == first.index && second != first)
    #expect(slab[first] == nil && slab[second] == 2 && slab.count == 1)
    #expect(slab[.none] == nil && Slab<Int>()[.none] == nil)
  }
}
