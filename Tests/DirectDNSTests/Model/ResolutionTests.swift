// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct ResolutionTests {
  private func resolution(
    _ freshness: Resolution.Freshness, age: Duration = .zero, left: Duration
  ) -> Resolution {
    Resolution(
      addresses: [.ipv4(1)], canonicalName: nil, freshness: freshness, source: .system,
      ageNanoseconds: age.wholeNanoseconds, timeToLiveNanoseconds: left.wholeNanoseconds)
  }

  @Test(arguments: [Resolution.Freshness.fresh, .due])
  func `an answer within its lifetime may be used for what is left of it`(_ freshness: Resolution.Freshness) {
    let answer = resolution(freshness, age: .seconds(10), left: .seconds(50))
    #expect(answer.age == .seconds(10))
    #expect(answer.timeToLive == .seconds(50))
    #expect(answer.expiredFor == nil)
  }

  @Test(arguments: [Resolution.Freshness.grace, .stale])
  func `an expired answer reports 30 s, and how long ago it expired`(_ freshness: Resolution.Freshness) {
    let answer = resolution(freshness, age: .seconds(400), left: .seconds(-100))
    #expect(answer.age == .seconds(400))
    #expect(answer.timeToLive == .seconds(30))
    #expect(answer.expiredFor == .seconds(100))
  }

  @Test func `an answer may have expired as long ago as its numbers go`() {
    let answer = Resolution(addresses: [.ipv4(1)], freshness: .stale, source: .store, timeLeft: .seconds(Int64.min))
    #expect(answer.expiredFor == Duration.zero - .nanoseconds(Int64.min))
    #expect(answer.timeToLive == .seconds(30))
  }

  @Test func `an answer that does not expire has no time to live`() {
    let answer = Resolution(
      addresses: [.ipv4(1)], canonicalName: nil, freshness: .fresh, source: .pin, ageNanoseconds: 0,
      timeToLiveNanoseconds: .max)
    #expect(answer.timeToLive == nil)
    #expect(answer.expiredFor == nil)
  }

  @Test func `an answer that was used up on arrival has nothing left`() {
    #expect(resolution(.fresh, left: .zero).timeToLive == .zero)
    #expect(resolution(.due, left: .seconds(-1)).timeToLive == .zero)
  }

  @Test func `freshness is ordered from fresh to stale`() {
    #expect(Resolution.Freshness.allCases.sorted() == [.fresh, .due, .grace, .stale])
    #expect(Resolution.Freshness.allCases.shuffled().max() == .stale)
    #expect(Resolution.Freshness.allCases.map(\.rawValue) == ["fresh", "due", "grace", "stale"])
  }

  @Test(
    arguments: [
      (Resolution.Source.provider("alidns"), "provider", "alidns"), (.system, "system", nil),
      (.literal, "literal", nil), (.pin, "pin", nil), (.local, "local", nil), (.store, "store", nil),
    ] as [(Resolution.Source, String, String?)])
  func `a source has a kind, and a name where a provider answered`(
    _ source: Resolution.Source, _ kind: String, _ provider: String?
  ) {
    #expect(source.kind == kind)
    #expect(source.provider == provider)
  }

  @Test func `a resolution can be made, and is printed as its addresses, source and freshness`() throws {
    let answer = Resolution(
      addresses: [try #require(IPAddress("192.0.2.1")), try #require(IPAddress("2001:db8::1"))], freshness: .stale,
      source: .provider("ali\u{1b}dns"), age: .seconds(400), timeLeft: .seconds(-100))
    #expect("\(answer)" == "192.0.2.1, 2001:db8::1 (ali\\u{1B}dns, stale)")
    #expect(answer.age == .seconds(400) && answer.expiredFor == .seconds(100))
    #expect(Resolution(addresses: [.ipv4(1)], source: .pin).timeToLive == nil)
    #expect(Resolution(addresses: [.ipv4(1)], source: .store, timeLeft: .seconds(7)).timeToLive == .seconds(7))
  }

  @Test func `a resolution is small enough to be copied in place`() {
    // What is larger than 128 bytes is copied by a call of memcpy, several times for each cached lookup.
    #expect(MemoryLayout<Resolution?>.size <= 128)
  }
}
