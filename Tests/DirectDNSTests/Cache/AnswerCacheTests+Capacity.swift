// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

/// What is evicted when there is no room.
extension AnswerCacheTests {
  @Test func `the name whose last use is longest ago goes first`() {
    let cache = cache(3)
    for (index, name) in ["a.example", "b.example", "c.example"].enumerated() {
      store(.addresses("192.0.2.1"), name, at: Double(index), in: cache)
    }
    #expect(use("A.example.", at: 5, in: cache) != nil)
    store(.addresses("192.0.2.1"), "d.example", at: 6, in: cache)
    #expect(names(cache) == ["a.example", "c.example", "d.example"])
    store(.addresses("192.0.2.1"), "e.example", at: 7, in: cache)
    #expect(names(cache) == ["a.example", "d.example", "e.example"])
  }

  @Test func `a name that can serve nobody goes before all others`() {
    let cache = cache(3, CachePolicy(maximumStale: .seconds(100)))
    store(.addresses("192.0.2.1", ttl: 300), "old.example", at: 0, in: cache)
    store(.addresses("192.0.2.1", ttl: 10), "gone.example", at: 1, in: cache)
    store(.negative(.nameNotFound, ttl: 10), "never.example", at: 2, in: cache)
    use("gone.example", at: 20, in: cache)
    store(.addresses("192.0.2.1"), "x.example", at: 200, in: cache)
    #expect(names(cache) == ["gone.example", "old.example", "x.example"])
    store(.addresses("192.0.2.1"), "y.example", at: 200, in: cache)
    #expect(names(cache) == ["old.example", "x.example", "y.example"])
  }

  @Test func `a family that still serves keeps its name useful`() {
    let cache = cache(2, CachePolicy(maximumStale: .seconds(10)))
    store(.addresses("192.0.2.1", ttl: 10), "both.example", at: 0, in: cache)
    store(.addresses("2001:db8::1", ttl: 3600), "both.example", at: 0, family: .ipv6, in: cache)
    store(.addresses("192.0.2.1", ttl: 10), "one.example", at: 1, in: cache)
    store(.addresses("192.0.2.1"), "x.example", at: 100, in: cache)
    #expect(names(cache) == ["both.example", "x.example"])
  }

  @Test func `a new answer to a name that is there evicts nobody`() {
    let cache = cache(2)
    store(.addresses("192.0.2.1"), "a.example", at: 0, in: cache)
    store(.addresses("192.0.2.1"), "b.example", at: 0, in: cache)
    store(.addresses("192.0.2.2"), "a.example", at: 1, in: cache)
    store(.addresses("2001:db8::1"), "a.example", at: 1, family: .ipv6, in: cache)
    #expect(names(cache) == ["a.example", "b.example"])
  }

  @Test func `storing says how many names had to go`() {
    let cache = cache(1)
    let other = AddressQuestion(Sample.name("b.example"), .ipv4)
    #expect(
      cache.store(.addresses("192.0.2.1"), to: question, source: 2, asked: Sample.at(0), now: Sample.at(0))
        == 0)
    #expect(
      cache.store(.addresses("192.0.2.1"), to: other, source: 2, asked: Sample.at(0), now: Sample.at(0)) == 1)
    #expect(
      cache.store(
        .addresses("192.0.2.1", ttl: 0), to: question, source: 2, asked: Sample.at(0), now: Sample.at(0)) == 0
    )
  }

  @Test func `names that are kept alive stay, whoever else goes`() {
    let cache = cache(20)
    let kept = (0..<5).map { Sample.name("kept\($0).example") }
    cache.keepAlive(Set(kept), now: Sample.at(0))
    for name in kept { store(.addresses("192.0.2.1", ttl: 10), name.text, at: 0, in: cache) }
    for number in 0..<300 {
      store(.addresses("192.0.2.1"), "n\(number).example", at: 1000 + Double(number), in: cache)
    }
    #expect(cache.count == 20)
    for name in kept { #expect(cache.value(name)?.ipv4.entry != nil) }
  }

  @Test func `names that are no longer kept alive can go, and leave at once if nothing is known of them`() {
    let cache = cache(2)
    cache.keepAlive([Sample.name("a.example"), Sample.name("empty.example")], now: Sample.at(0))
    store(.addresses("192.0.2.1"), "a.example", at: 0, in: cache)
    #expect(names(cache) == ["a.example", "empty.example"])
    cache.keepAlive([], now: Sample.at(1))
    #expect(names(cache) == ["a.example"])
    store(.addresses("192.0.2.1"), "b.example", at: 2, in: cache)
    store(.addresses("192.0.2.1"), "c.example", at: 3, in: cache)
    #expect(names(cache) == ["b.example", "c.example"])
  }

  @Test func `more kept-alive names than there is room for do not break the bound`() {
    let cache = cache(4)
    cache.keepAlive(Set((0..<10).map { Sample.name("k\($0).example") }), now: Sample.at(0))
    #expect(cache.count == 4)
    store(.addresses("192.0.2.1"), "x.example", at: 1, in: cache)
    #expect(cache.count == 4)
    #expect(names(cache).contains("x.example"))
  }

  @Test func `the last name that is not kept alive is found among those that are, and then any goes`() {
    let cache = cache(40)
    let kept = Set((0..<39).map { Sample.name("k\($0).example") })
    cache.keepAlive(kept, now: Sample.at(0))
    for number in 0..<50 { store(.addresses("192.0.2.1"), "n\(number).example", at: Double(number), in: cache) }
    #expect(Set(names(cache)) == Set(kept.map(\.text) + ["n49.example"]))
    #expect(cache.state.withLock(\.keptCount) == 39)
    // Names that leave, stay or come: what is counted is what is there.
    cache.keepAlive(Set((20..<70).map { Sample.name("k\($0).example") }), now: Sample.at(60))
    #expect(cache.count == 40 && cache.state.withLock(\.keptCount) == cache.all().count { $0.value.isKeptAlive })
    cache.forget(Sample.name("k30.example"), now: Sample.at(60))
    cache.keepAlive([], now: Sample.at(61))
    #expect(cache.state.withLock(\.keptCount) == 0)
  }

  @Test(arguments: [(1000, 10), (Sanitizer.volume(of: 5000, atLeast: 900), 1)])
  func `names that are kept alive stay also where they are nearly all`(_ capacity: Int, _ others: Int) {
    let cache = cache(capacity)
    let count = capacity - others
    let kept = (0..<count).map { Sample.name("k\($0).example") }
    cache.keepAlive(Set(kept), now: Sample.at(0))
    for name in kept { store(.addresses("192.0.2.1"), name.text, at: 0, in: cache) }
    for number in 0..<200 { store(.addresses("192.0.2.1"), "n\(number).example", at: Double(number), in: cache) }
    #expect(cache.all().count { $0.value.isKeptAlive } == count && cache.count == capacity)
  }

  @Test func `a name that is kept alive is so again after it had to go, and finds the one place that is another's`() {
    let cache = cache(600)
    let kept = Set((0..<600).map { Sample.name("k\($0).example") })
    cache.keepAlive(kept, now: Sample.at(0))
    store(.addresses("192.0.2.1"), "x.example", at: 1, in: cache)
    let gone = kept.filter { cache.value($0) == nil }
    #expect(gone.count == 1 && cache.state.withLock(\.keptCount) == 599)
    for name in gone { store(.addresses("192.0.2.1"), name.text, at: 2, in: cache) }
    #expect(Set(names(cache)) == Set(kept.map(\.text)))
    #expect(cache.all().allSatisfy(\.value.isKeptAlive) && cache.state.withLock(\.keptCount) == 600)
  }

  @Test(.timeLimit(.minutes(1)))
  func `names beyond the room for them cost no look through all the others`() {
    // To look through 20 000 for each of 20 000 takes minutes.
    let cache = cache(20_000)
    cache.keepAlive(Set((0..<40_000).map { Sample.name("k\($0).example") }), now: Sample.at(0))
    #expect(cache.count == 20_000)
  }

  @Test func `a flood of names stays within the capacity, and each is found while it is there`() {
    let cache = cache(64)
    for number in 0..<2000 {
      store(.addresses("192.0.2.1"), "n\(number).example", at: Double(number), in: cache)
      #expect(use("n\(number).example", at: Double(number), in: cache) != nil)
    }
    #expect(cache.count == 64)
    // Sixteen are looked at each time: what was used last is never among those that go.
    #expect(names(cache).contains("n1999.example"))
    for name in names(cache) { #expect(use(name, at: 2000, in: cache) != nil) }
  }

  @Test func `a capacity of less than one is one`() {
    let cache = cache(0)
    store(.addresses("192.0.2.1"), host.text, at: 0, in: cache)
    #expect(cache.count == 1)
  }

  @Test func `memory for ten thousand names is less than 300 bytes each`() {
    let cache = cache(10_000)
    for number in 0..<10_000 { store(.addresses("192.0.2.1"), "n\(number).example.net", at: 0, in: cache) }
    #expect(cache.count == 10_000)
    #expect(cache.byteCount < 300 * 10_000)
  }
}
