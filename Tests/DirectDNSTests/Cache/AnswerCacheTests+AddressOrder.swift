// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

/// The order in which addresses are handed out.
extension AnswerCacheTests {
  /// The addresses as the lookup that takes no lock finds them; nothing if they have to be put in order first.
  private func inOrder(_ cache: AnswerCache, at seconds: Double, prefersIPv6: Bool = false) -> [String]? {
    guard let reading = cache.read(host), cache.isInOrder(reading, at: Sample.at(seconds)) else { return nil }
    var addresses = AddressList()
    cache.table.append(.any, of: reading, prefersIPv6: prefersIPv6, turn: .first, to: &addresses)
    return addresses.map(\.description)
  }

  private func reorder(_ cache: AnswerCache, at seconds: Double) {
    if let reading = cache.read(host) { _ = cache.reordered(reading, at: Sample.at(seconds)) }
  }

  @Test func `an answer is written in the order of what is known by then`() {
    let cache = cache()
    cache.ranking.report(Sample.address("192.0.2.1"), .failed, at: Sample.at(0))
    store(.addresses("192.0.2.1", "192.0.2.2"), host.text, at: 1, in: cache)
    #expect(inOrder(cache, at: 2) == ["192.0.2.2", "192.0.2.1"])
  }

  @Test func `a report puts the addresses in another order once, whoever reads them first`() {
    for settles in [true, false] {
      let cache = cache()
      store(.addresses("192.0.2.1", "192.0.2.2"), host.text, at: 0, in: cache)
      store(.addresses("2001:db8::1", "2001:db8::2"), host.text, at: 0, family: .ipv6, in: cache)
      let all = ["192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8::2"]
      #expect(inOrder(cache, at: 1) == all)
      cache.ranking.report(Sample.address("2001:db8::1"), .failed, at: Sample.at(1))
      #expect(inOrder(cache, at: 1) == nil)
      if settles { _ = find(cache, at: 1) } else { reorder(cache, at: 1) }
      #expect(inOrder(cache, at: 1) == ["192.0.2.1", "192.0.2.2", "2001:db8::2", "2001:db8::1"])
      // Of an address that the name does not have.
      cache.ranking.report(Sample.address("198.51.100.77"), .failed, at: Sample.at(1))
      #expect(inOrder(cache, at: 1) != nil)
    }
  }

  @Test func `a failed address is forgiven in time, without anybody reporting`() {
    let cache = cache()
    store(.addresses("192.0.2.1", "192.0.2.2"), host.text, at: 0, in: cache)
    cache.ranking.report(Sample.address("192.0.2.1"), .failed, at: Sample.at(1))
    reorder(cache, at: 1)
    #expect(inOrder(cache, at: 30.99) == ["192.0.2.2", "192.0.2.1"])
    #expect(inOrder(cache, at: 31) == nil)
    reorder(cache, at: 31)
    let reading = cache.read(host)
    #expect(reading?.order.equals4 == 2)
    #expect(inOrder(cache, at: 1e6) != nil)
  }

  @Test func `a family goes behind the other while all of it has failed or lost a race, without anybody reporting`() {
    for outcome in [ConnectionOutcome.failed, .slower(than: .milliseconds(251))] {
      let cache = cache()
      store(.addresses("192.0.2.1"), host.text, at: 0, in: cache)
      store(.addresses("2001:db8::1"), host.text, at: 0, family: .ipv6, in: cache)
      #expect(inOrder(cache, at: 1, prefersIPv6: true) == ["2001:db8::1", "192.0.2.1"])
      cache.ranking.report(Sample.address("192.0.2.1"), .connected(in: .milliseconds(1)), at: Sample.at(1))
      cache.ranking.report(Sample.address("2001:db8::1"), outcome, at: Sample.at(1))
      reorder(cache, at: 1)
      let until: Double = outcome == .failed ? 31 : 301
      #expect(inOrder(cache, at: until - 0.01, prefersIPv6: true) == ["192.0.2.1", "2001:db8::1"])
      #expect(inOrder(cache, at: until, prefersIPv6: true) == nil)
      reorder(cache, at: until)
      #expect(inOrder(cache, at: until, prefersIPv6: true) == ["2001:db8::1", "192.0.2.1"])
    }
  }

  @Test func `a change of network forgets the order`() {
    let cache = cache()
    store(.addresses("192.0.2.1", "192.0.2.2"), host.text, at: 0, in: cache)
    cache.ranking.report(Sample.address("192.0.2.1"), .connected(in: .seconds(1)), at: Sample.at(1))
    cache.ranking.report(Sample.address("192.0.2.2"), .connected(in: .zero), at: Sample.at(1))
    reorder(cache, at: 1)
    #expect(cache.read(host)?.order.equals4 == 1)
    cache.ranking.networkDidChange()
    #expect(inOrder(cache, at: 2) == nil)
    reorder(cache, at: 2)
    #expect(cache.read(host)?.order.equals4 == 2)
  }

  @Test func `using a name does not hide what was heard of its addresses`() throws {
    let cache = cache()
    store(.addresses("192.0.2.1", "192.0.2.2"), host.text, at: 0, in: cache)
    cache.ranking.report(Sample.address("192.0.2.1"), .failed, at: Sample.at(1))
    // Notes the time of its use, in the word that says what had been heard.
    #expect(use(host.text, at: 5, in: cache) != nil)
    #expect(inOrder(cache, at: 5) == nil)
    reorder(cache, at: 5)
    #expect(inOrder(cache, at: 5) == ["192.0.2.2", "192.0.2.1"])
    #expect(use(host.text, at: 7, in: cache) != nil)
    #expect(inOrder(cache, at: 7) == ["192.0.2.2", "192.0.2.1"])
  }

  @Test func `a single address is always in order`() {
    let cache = cache()
    store(.addresses("192.0.2.1"), host.text, at: 0, in: cache)
    cache.ranking.report(Sample.address("192.0.2.1"), .failed, at: Sample.at(1))
    #expect(inOrder(cache, at: 1) == ["192.0.2.1"])
  }
}
