// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

@Suite struct StoredAnswerTextTests {
  static let question = AddressQuestion(Sample.name("www.example.net"), .ipv4)

  private func answer(_ content: Answer.Content, alias: String? = nil, provider: String = "one") -> StoredAnswer {
    StoredAnswer(
      Self.question, content, canonicalName: alias.map(Sample.name), provider: provider,
      asked: WallInstant(milliseconds: 1), expires: WallInstant(milliseconds: 2), gone: WallInstant(milliseconds: 3))
  }

  @Test func `an answer is a line that people can read`() {
    let addresses = Answer.Content.addresses(Sample.addresses("192.0.2.1", "192.0.2.2"))
    #expect(answer(addresses).text == "1 1 2 3 one - 192.0.2.1,192.0.2.2")
    #expect(answer(.negative(.nameNotFound)).text == "1 1 2 3 one - nxdomain")
    #expect(answer(.negative(.noAddress), alias: "end.example").text == "1 1 2 3 one end.example nodata")
  }

  @Test func `a line reads as what was written`() {
    for sample in AnswerStoreContract.samples {
      #expect(StoredAnswer(text: sample.text, to: sample.question) == sample)
    }
  }

  @Test(arguments: [("my provider", "my_provider"), ("a\nb\u{1b}", "a_b_"), ("", "_"), ("bücher", "b_cher")])
  func `a provider's name is one word`(_ name: String, _ word: String) {
    let sample = answer(.negative(.noAddress), provider: name)
    #expect(StoredAnswer(text: sample.text, to: Self.question)?.provider == word)
  }

  @Test(arguments: [
    "", "1", "2 1 2 3 one - 192.0.2.1", "1 1 2 3 one - ", "1 1 2 3 one - 192.0.2.1 more", "1 1 2 3 one -",
    "1 x 2 3 one - 192.0.2.1", "1 2 1 3 one - 192.0.2.1", "1 1 3 2 one - 192.0.2.1", "1 1 2 3  - 192.0.2.1",
    "1 1 2 3 one a..b 192.0.2.1", "1 1 2 3 one - 192.0.2.1,", "1 1 2 3 one - 2001:db8::1",
    "1 1 2 3 one - 192.0.2.1,2001:db8::1", "1 1 2 3 one - 127.1", "1 99999999999999999999 2 3 one - nodata",
    "\u{0}\u{0}\u{0}",
  ])
  func `a damaged line, or one of another version, is no answer`(_ text: String) {
    #expect(StoredAnswer(text: text, to: Self.question) == nil)
  }

  @Test func `a line with more addresses than anyone keeps is no answer`() {
    let addresses = (0..<65).map { "192.0.2.\($0)" }.joined(separator: ",")
    #expect(StoredAnswer(text: "1 1 2 3 one - \(addresses)", to: Self.question) == nil)
  }
}

@Suite struct `A stored answer's state` {
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
    let state = answer(askedAgo: .seconds(seconds)).state(at: now)
    #expect(state.freshness == freshness)
    #expect(state.age == .seconds(seconds))
    #expect(state.timeLeft == .seconds(100 - seconds))
  }

  @Test(arguments: [(0, Resolution.Freshness.fresh), (99, .fresh), (100, nil)])
  func `of a negative one is fresh, or it is gone`(seconds: Int, freshness: Resolution.Freshness?) {
    #expect(answer(askedAgo: .seconds(seconds), .negative(.nameNotFound)).state(at: now).freshness == freshness)
  }

  @Test func `goes by the reader's own policy`() {
    let state = answer(askedAgo: .seconds(50), ttl: .seconds(1_000_000)).state(
      at: now, policy: CachePolicy(maximumTTL: .seconds(60)))
    #expect(state.freshness == .due)
    #expect(state.timeLeft == .seconds(10))
  }

  @Test(arguments: [(3600, .stale), (86_400, .stale), (86_401, nil)] as [(Int, Resolution.Freshness?)])
  func `of one from the future is stale, and as old as it is ahead`(ahead: Int, freshness: Resolution.Freshness?) {
    let state = answer(askedAgo: .seconds(-ahead)).state(at: now)
    #expect(state.freshness == freshness)
    #expect(state.age == .seconds(ahead))
    #expect(state.timeLeft == .seconds(-ahead))
  }

  @Test(
    arguments: [
      (1, 0, false), (0, 0, false), (0, 1, true), (0, -1, false), (-1, 0, true), (-2, -1, false), (-2, 0, false),
      (0, -2, true), (-3, -2, true), (-2, -3, false),
    ])
  func `is newer than another's if it was asked for later, unless it alone is from the future`(
    ago: Int, otherAgo: Int, isNewer: Bool
  ) {
    let (one, other) = (answer(askedAgo: .seconds(ago)), answer(askedAgo: .seconds(otherAgo)))
    #expect(one.isNewer(than: other, at: now) == isNewer)
  }

  @Test func `of one from the beginning of time is gone`() {
    let asked = WallInstant(milliseconds: .min + 1)
    let answer = StoredAnswer(
      AddressQuestion(Sample.name("www.example.com"), .ipv4), .addresses([.ipv4(1)]), provider: "alidns",
      asked: asked, expires: asked, gone: asked)
    #expect(answer.state(at: now).freshness == nil)
    #expect(answer.state(at: WallInstant(milliseconds: .max)).freshness == nil)
  }
}
