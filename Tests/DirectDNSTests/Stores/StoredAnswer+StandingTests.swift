// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

@Suite struct `A stored answer's standing` {
  private let now = WallInstant(milliseconds: 1_700_000_000_000)

  private func answer(
    askedAgo: Duration, ttl: Duration = .seconds(100), _ content: Answer.Content = .addresses([.ipv4(1)])
  ) -> StoredAnswer {
    let asked = now - askedAgo
    return StoredAnswer(
      AddressQuestion(Sample.name("www.example.com"), .ipv4), content, provider: "alidns", asked: asked,
      expires: asked + ttl, gone: asked + ttl + .seconds(86_400))
  }

  @Test(
    arguments: [
      (0, .fresh), (74, .fresh), (75, .due), (99, .due), (100, .grace), (130, .grace), (131, .stale),
      (86_500, .stale), (86_501, nil),
    ] as [(Int, Resolution.Freshness?)])
  func `is what a lookup would make of it`(seconds: Int, freshness: Resolution.Freshness?) {
    let standing = answer(askedAgo: .seconds(seconds)).standing(at: now)
    #expect(standing.freshness == freshness)
    #expect(standing.age == .seconds(seconds))
    #expect(standing.timeLeft == .seconds(100 - seconds))
  }

  @Test(arguments: [(0, Resolution.Freshness.fresh), (99, .fresh), (100, nil)])
  func `of a negative one is fresh, or it is gone`(seconds: Int, freshness: Resolution.Freshness?) {
    #expect(answer(askedAgo: .seconds(seconds), .negative(.nameNotFound)).standing(at: now).freshness == freshness)
  }

  @Test func `goes by the reader's own policy`() {
    let standing = answer(askedAgo: .seconds(50), ttl: .seconds(1_000_000)).standing(
      at: now, policy: CachePolicy(maximumTTL: .seconds(60)))
    #expect(standing.freshness == .due)
    #expect(standing.timeLeft == .seconds(10))
  }

  @Test func `of one from the future is stale, and not older than now`() {
    let standing = answer(askedAgo: .seconds(-3600)).standing(at: now)
    #expect(standing.freshness == .stale)
    #expect(standing.age == .zero)
    #expect(standing.timeLeft < .zero)
  }

  @Test func `of one from the beginning of time is gone`() {
    let asked = WallInstant(milliseconds: .min + 1)
    let answer = StoredAnswer(
      AddressQuestion(Sample.name("www.example.com"), .ipv4), .addresses([.ipv4(1)]), provider: "alidns",
      asked: asked, expires: asked, gone: asked)
    #expect(answer.standing(at: now).freshness == nil)
    #expect(answer.standing(at: WallInstant(milliseconds: .max)).freshness == nil)
  }
}
