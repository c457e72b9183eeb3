import Testing

@testable import DirectDNS

struct ResolutionTests {
  private func resolution(_ freshness: Resolution.Freshness, left: Int64) -> Resolution {
    Resolution(
      addresses: [.ipv4(1)], canonicalName: nil, freshness: freshness, source: .provider("one"),
      ageNanoseconds: 5_000_000_000, timeToLiveNanoseconds: left)
  }

  @Test(arguments: [Resolution.Freshness.fresh, .due])
  func `within its lifetime an answer tells what is left of it`(_ freshness: Resolution.Freshness) {
    let found = resolution(freshness, left: 7_000_000_000)
    #expect(found.timeToLive == .seconds(7))
    #expect(found.expiredFor == nil)
    #expect(found.age == .seconds(5))
  }

  @Test(arguments: [Resolution.Freshness.grace, .stale])
  func `an expired answer may be kept for 30 s, and tells how long ago it expired`(_ freshness: Resolution.Freshness) {
    let found = resolution(freshness, left: -9_000_000_000)
    #expect(found.timeToLive == .seconds(30))
    #expect(found.expiredFor == .seconds(9))
  }

  @Test func `an answer with TTL 0 is fresh and may not be kept`() {
    #expect(resolution(.fresh, left: 0).timeToLive == .zero)
    #expect(resolution(.fresh, left: 0).expiredFor == nil)
  }

  @Test func `an answer that does not expire has no time to live`() {
    #expect(resolution(.fresh, left: .max).timeToLive == nil)
  }

  @Test func `the fresher one is the smaller one`() {
    #expect(Resolution.Freshness.allCases.shuffled().sorted() == [.fresh, .due, .grace, .stale])
  }

  @Test func `a source tells its kind, and its provider where it is one`() {
    let sources: [Resolution.Source] = [.provider("one"), .system, .literal, .pin, .local, .store]
    #expect(sources.map(\.kind) == ["provider", "system", "literal", "pin", "local", "store"])
    #expect(sources.map(\.provider) == ["one", nil, nil, nil, nil, nil])
  }
}
