// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct AddressRankingTests {
  private let a = Sample.address("192.0.2.1")
  private let b = Sample.address("192.0.2.2")
  private let c = Sample.address("192.0.2.3")

  @Test func `a family that failed as a whole goes last, for as long as it is pushed back`() {
    let ranking = AddressRanking()
    let first = Sample.addresses("2001:db8::1", "2001:db8::2")
    for address in first { ranking.report(address, .failed, at: Sample.at(0)) }
    func order(at seconds: Double) -> [IPAddress] {
      var addresses = AddressList(first + [a])
      ranking.order(&addresses, firstCount: 2, takesTurns: false, at: Sample.at(seconds))
      return Array(addresses)
    }
    #expect(order(at: 29) == [a] + first)
    #expect(order(at: 30) == first + [a])
    ranking.report(first[1], .failed, at: Sample.at(31))
    ranking.report(first[0], .failed, at: Sample.at(32))
    ranking.report(a, .failed, at: Sample.at(32))
    #expect(order(at: 33) == [first[1], first[0], a])
  }

  @Test func `a family that lost a race goes last until that is forgotten`() {
    let ranking = AddressRanking()
    let six = Sample.address("2001:db8::1")
    ranking.report(six, .slower(than: .milliseconds(251)), at: Sample.at(0))
    ranking.report(a, .connected(in: .milliseconds(1)), at: Sample.at(0))
    for (seconds, expected) in [(1.0, [a, six]), (299, [a, six]), (300, [six, a])] {
      var addresses = AddressList([six, a])
      ranking.order(&addresses, firstCount: 1, at: Sample.at(seconds))
      #expect(Array(addresses) == expected)
    }
  }

  @Test func `the preferred family stays first while one of its addresses is as good as the best`() {
    let ranking = AddressRanking()
    let first = Sample.addresses("2001:db8::1", "2001:db8::2")
    ranking.report(first[0], .failed, at: Sample.at(0))
    ranking.report(a, .connected(in: .milliseconds(1)), at: Sample.at(0))
    var addresses = AddressList(first + [a, b])
    ranking.order(&addresses, firstCount: 2, at: Sample.at(1))
    #expect(Array(addresses.prefix(2)) == [first[1], first[0]])
    #expect(Set(addresses.dropFirst(2)) == [a, b])
  }

  @Test func `turns change with time, so that a fleet spreads over all addresses`() {
    let ranking = AddressRanking()
    var firsts: [IPAddress: Int] = [:]
    for step in 0..<300 {
      var addresses = AddressList([a, b, c])
      ranking.order(&addresses, firstCount: 3, at: Sample.at(Double(step)))
      firsts[addresses[0], default: 0] += 1
    }
    #expect(firsts.count == 3)
    for count in firsts.values { #expect(count > 50) }
  }

  @Test func `without turns those in a tie keep their order, and a failed one goes last all the same`() {
    let ranking = AddressRanking()
    ranking.report(a, .failed, at: Sample.at(0))
    for step in 0..<20 {
      var addresses = AddressList([a, b, c])
      ranking.order(&addresses, firstCount: 3, takesTurns: false, at: Sample.at(Double(step)))
      #expect(addresses == [b, c, a])
    }
  }

  @Test func `a single address is left alone`() {
    let ranking = AddressRanking()
    ranking.report(a, .failed, at: Sample.at(0))
    var addresses: AddressList = [a]
    ranking.order(&addresses, firstCount: 1, at: Sample.at(0))
    #expect(addresses == [a])
  }

  @Test func `a change of network forgets what was reported`() {
    let ranking = AddressRanking()
    ranking.report(a, .failed, at: Sample.at(0))
    ranking.networkDidChange()
    let firsts = (0..<100).map { step in
      var addresses = AddressList([a, b])
      ranking.order(&addresses, firstCount: 2, at: Sample.at(Double(step) * 0.01))
      return addresses[0]
    }
    #expect(firsts.contains(a))
  }

  @Test func `many addresses are remembered, and the one unheard of for longest goes`() {
    let ranking = AddressRanking()
    ranking.report(a, .failed, at: Sample.at(0))
    ranking.report(b, .failed, at: Sample.at(1))
    for number in 0..<AddressRanking.capacity - 1 {
      ranking.report(.ipv4(0x0A00_0000 + UInt32(number)), .connected(in: .milliseconds(1)), at: Sample.at(2))
    }
    var addresses: AddressList = [a, b]
    ranking.order(&addresses, firstCount: 2, at: Sample.at(3))
    // Only of the second one it is still known that it failed.
    #expect(addresses == [a, b])
  }

  @Test func `of those that were heard of again and again only the last time counts`() {
    let ranking = AddressRanking()
    ranking.report(b, .failed, at: Sample.at(0))
    for step in 0..<AddressRanking.capacity * 2 {
      ranking.report(a, .connected(in: .milliseconds(1)), at: Sample.at(Double(step) * 0.001))
    }
    ranking.report(a, .failed, at: Sample.at(20))
    for number in 0..<AddressRanking.capacity - 1 {
      ranking.report(.ipv4(0x0A00_0000 + UInt32(number)), .connected(in: .milliseconds(1)), at: Sample.at(20))
    }
    var addresses: AddressList = [a, b]
    ranking.order(&addresses, firstCount: 2, at: Sample.at(21))
    #expect(addresses == [b, a])
  }

  // MARK: Revisions

  @Test func `every report of an address is revision, and no report of nearly all others`() {
    let ranking = AddressRanking()
    let six = Sample.address("2001:db8::1")
    let before = (ranking.revision(of: [a, b]), ranking.revision(of: [six]))
    for step in 1...3 as ClosedRange<UInt32> {
      ranking.report(b, .connected(in: .milliseconds(1)), at: Sample.at(0))
      #expect(ranking.revision(of: [a, b]) == before.0 + step)
      #expect(ranking.revision(of: [b]) == step)
    }
    ranking.report(six, .failed, at: Sample.at(0))
    #expect(ranking.revision(of: [six]) == before.1 + 1)
    let others = (0..<1000).filter { ranking.revision(of: [.ipv4(0x0A00_0000 + UInt32($0))]) != 0 }
    #expect(others.count < 20)
  }

  @Test func `a change of network, and that an address is forgotten, are revision`() {
    let ranking = AddressRanking()
    let before = ranking.revision(of: [a, b])
    ranking.networkDidChange()
    #expect(ranking.revision(of: [a, b]) == before + 2)
    ranking.report(a, .failed, at: Sample.at(0))
    for number in 0..<AddressRanking.capacity - 1 {
      ranking.report(.ipv4(0x0A00_0000 + UInt32(number)), .connected(in: .milliseconds(1)), at: Sample.at(2))
    }
    let known = ranking.revision(of: [a])
    ranking.report(b, .failed, at: Sample.at(3))
    #expect(ranking.revision(of: [a]) > known)
  }
}
