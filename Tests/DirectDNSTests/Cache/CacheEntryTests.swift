// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct CacheEntryTests {
  private func made(
    _ answer: Answer, asked: Double = 0, now: Double = 0, _ policy: CachePolicy = CachePolicy()
  ) -> CacheEntry? {
    CacheEntry(answer, source: 2, policy: policy, asked: Sample.at(asked), now: Sample.at(now))
  }

  @Test func `a lifetime counts from when the query was sent`() {
    let entry = made(.addresses("192.0.2.1", ttl: 60), asked: 10, now: 13)
    #expect(entry?.life == Sample.life(10, 70))
  }

  @Test(arguments: [(10.0, 20.0, 21.0), (10, 19, 20), (10, 18.5, 20), (10, 300, 301)])
  func `at least 1 s is left on arrival`(_ asked: Double, _ now: Double, _ expires: Double) {
    let entry = made(.addresses("192.0.2.1", ttl: 10), asked: asked, now: now)
    #expect(entry?.life == Sample.life(asked, expires))
  }

  @Test func `an answer of TTL 0 makes no entry, however late it comes`() {
    #expect(made(.addresses("192.0.2.1", ttl: 0), asked: 0, now: 3) == nil)
  }

  @Test func `a negative answer makes an entry when it has a lifetime`() {
    #expect(made(.negative(.nameNotFound, ttl: 30))?.life == Sample.life(0, 30))
    #expect(made(.negative(.nameNotFound, ttl: 30))?.isNegative == true)
    #expect(made(.negative(.noAddress, ttl: nil)) == nil)
  }

  @Test func `an entry keeps the addresses, the alias and the source`() {
    let entry = made(.addresses("192.0.2.1", "192.0.2.2", alias: "edge.example.net"))
    #expect(entry?.content == .addresses(Sample.addresses("192.0.2.1", "192.0.2.2")))
    #expect(entry?.canonicalName == Sample.name("edge.example.net"))
    #expect(entry?.source == 2)
    #expect(entry?.isNegative == false)
  }

  @Test func `a name is worth a place only with an entry or when it is kept alive`() throws {
    let entry = try #require(made(.negative(.noAddress)))
    #expect(CachedName().isEmpty)
    #expect(CachedName(ipv4: .unknown, ipv6: .neverAsked).isEmpty)
    #expect(CachedName(ipv4: .unknown, ipv6: .failed(until: 1)).isEmpty)
    #expect(!CachedName(ipv4: .entry(entry)).isEmpty)
    #expect(!CachedName(ipv6: .entry(entry)).isEmpty)
    #expect(!CachedName(isKeptAlive: true).isEmpty)
  }

  @Test(arguments: IPAddress.Family.allCases)
  func `each family has a slot of its own`(_ family: IPAddress.Family) throws {
    let other: IPAddress.Family = family == .ipv4 ? .ipv6 : .ipv4
    let entry = try #require(made(.negative(.noAddress)))
    var name = CachedName()
    name[family] = .entry(entry)
    #expect(name[family].entry == entry)
    #expect(name[other] == .neverAsked)
    #expect(name[other].entry == nil)
    name[family] = .unknown
    #expect(
      name
        == CachedName(
          ipv4: family == .ipv4 ? .unknown : .neverAsked, ipv6: family == .ipv6 ? .unknown : .neverAsked))
  }

  @Test func `an answer that is not kept leaves a note whether it had addresses`() {
    #expect(CachedName.Slot.unkept(.addresses("192.0.2.1", ttl: 0)) == .notKept)
    #expect(CachedName.Slot.unkept(.negative(.noAddress, ttl: nil)) == .unknown)
    #expect(CachedName(ipv4: .notKept, ipv6: .unknown).isEmpty)
  }

  @Test func `asking may bring addresses where it did, or where nobody has asked`() throws {
    #expect(CachedName.Slot.neverAsked.mayHaveAddresses && CachedName.Slot.notKept.mayHaveAddresses)
    #expect(!CachedName.Slot.unknown.mayHaveAddresses && !CachedName.Slot.failed(until: 0).mayHaveAddresses)
    #expect(!CachedName.Slot.entry(try #require(made(.negative(.nameNotFound)))).mayHaveAddresses)
    #expect(CachedName.Slot.entry(try #require(made(.addresses("192.0.2.1", ttl: 60)))).mayHaveAddresses)
  }
}
