// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct AnswerCacheTests {
  let host = Sample.name("www.example.net")
  var question: AddressQuestion { AddressQuestion(host, .ipv4) }
  let error = DirectDNSError(.upstreamFailed, "no")

  func cache(_ capacity: Int = 100, _ policy: CachePolicy = CachePolicy()) -> AnswerCache {
    let cache = AnswerCache(policy: policy, capacity: capacity)
    for name in ["one", "two"] { _ = cache.sources.code(ofProvider: name) }
    return cache
  }

  func store(
    _ answer: Answer, _ name: String, at seconds: Double, family: IPAddress.Family = .ipv4,
    source: UInt16 = 2,
    in cache: AnswerCache
  ) {
    cache.store(
      answer, to: AddressQuestion(Sample.name(name), family), source: source, asked: Sample.at(seconds),
      now: Sample.at(seconds))
  }

  func find(
    _ cache: AnswerCache, at seconds: Double, _ wanted: AddressFamilies = .ipv4,
    _ expired: ExpiredUse = .allowed
  ) -> AnswerCache.Found? {
    // As for the first use, which takes no turns.
    cache.find(host, wanted, expired, prefersIPv6: false, since: Sample.at(0), at: Sample.at(seconds))
  }

  /// Uses a name as a lookup does.
  @discardableResult
  func use(_ name: String, at seconds: Double, in cache: AnswerCache) -> Resolution? {
    let now = Sample.at(seconds)
    guard let reading = cache.read(spelled: name),
      case .serve(let families, let freshness, _) = cache.verdict(reading, .ipv4, .allowed, now)
    else { return nil }
    var found = Resolution()
    let isFilled = cache.fill(
      &found, from: reading, families, freshness, prefersIPv6: false, turn: .first, at: now)
    return isFilled ? found : nil
  }

  func names(_ cache: AnswerCache) -> [String] { cache.all().map(\.name.text).sorted() }

  // MARK: Answers

  @Test func `an answer is found with its age, its lifetime and its source`() throws {
    let cache = cache()
    cache.store(
      .addresses("192.0.2.1", "192.0.2.2", ttl: 100, alias: "edge.example.net"), to: question, source: 3,
      asked: Sample.at(10), now: Sample.at(12))
    let found = try #require(find(cache, at: 20))
    #expect(found.verdict == .serve(.ipv4, .fresh, refresh: false))
    let resolution = try #require(found.resolution)
    #expect(Array(resolution.addresses) == Sample.addresses("192.0.2.1", "192.0.2.2"))
    #expect(resolution.canonicalName == Sample.name("edge.example.net"))
    #expect(resolution.source == .provider("two"))
    #expect(resolution.age == .seconds(10))
    #expect(resolution.timeToLive == .seconds(90))
    #expect(resolution.expiredFor == nil)
  }

  @Test(arguments: [
    (AddressFamilies.ipv4, false, "four.example.net", "one"), (.ipv4, true, "four.example.net", "one"),
    (.ipv6, false, "six.example.net", "two"), (.ipv6, true, "six.example.net", "two"),
    (.any, false, "four.example.net", "one"), (.any, true, "six.example.net", "two"),
  ])
  func `the alias and the source are those of the addresses, the preferred family's first`(
    _ wanted: AddressFamilies, _ prefersIPv6: Bool, _ alias: String, _ source: String
  ) throws {
    let cache = cache()
    store(.addresses("192.0.2.1", ttl: 100, alias: "four.example.net"), host.text, at: 0, source: 2, in: cache)
    store(
      .addresses("2001:db8::1", ttl: 100, alias: "six.example.net"), host.text, at: 0, family: .ipv6, source: 3,
      in: cache)
    let found = cache.find(host, wanted, .allowed, prefersIPv6: prefersIPv6, since: Sample.at(0), at: Sample.at(1))
    let resolution = try #require(found?.resolution)
    #expect(resolution.canonicalName == Sample.name(alias) && resolution.source == .provider(source))
  }

  @Test func `an alias of one family alone is told where that family is handed out`() throws {
    let cache = cache()
    store(.addresses("192.0.2.1", ttl: 100), host.text, at: 0, in: cache)
    store(.addresses("2001:db8::1", ttl: 100, alias: "six.example.net"), host.text, at: 0, family: .ipv6, in: cache)
    #expect(try #require(find(cache, at: 1)?.resolution).canonicalName == nil)
    for wanted in [AddressFamilies.ipv6, .any] {
      #expect(try #require(find(cache, at: 1, wanted)?.resolution).canonicalName == Sample.name("six.example.net"))
    }
  }

  @Test func `an alias that both families share is that of each`() throws {
    let cache = cache()
    store(.addresses("192.0.2.1", ttl: 100, alias: "both.example.net"), host.text, at: 0, in: cache)
    store(.addresses("2001:db8::1", ttl: 100, alias: "both.example.net"), host.text, at: 0, family: .ipv6, in: cache)
    for wanted in [AddressFamilies.ipv4, .ipv6, .any] {
      #expect(try #require(find(cache, at: 1, wanted)?.resolution).canonicalName == Sample.name("both.example.net"))
    }
  }

  @Test func `of two families the older one gives the age, and the shorter one the lifetime`() throws {
    let cache = cache()
    store(.addresses("192.0.2.1", ttl: 100), host.text, at: 10, in: cache)
    store(.addresses("2001:db8::1", ttl: 40), host.text, at: 20, family: .ipv6, in: cache)
    let resolution = try #require(find(cache, at: 30, .any)?.resolution)
    #expect(resolution.age == .seconds(20))
    #expect(resolution.timeToLive == .seconds(30))
    #expect(Array(resolution.addresses) == Sample.addresses("192.0.2.1", "2001:db8::1"))
  }

  @Test func `a stale answer says for how long it has been expired, and lives for 30 s`() throws {
    let cache = cache()
    store(.addresses("192.0.2.1", ttl: 100), host.text, at: 0, in: cache)
    let found = try #require(find(cache, at: 250))
    #expect(found.verdict == .wait(.ipv4))
    #expect(found.resolution?.freshness == .stale)
    #expect(found.resolution?.expiredFor == .seconds(150))
    #expect(found.resolution?.timeToLive == .seconds(30))
    #expect(found.resolution?.age == .seconds(250))
  }

  @Test func `a miss and a negative answer come without addresses`() {
    let cache = cache()
    #expect(find(cache, at: 0) == nil)
    store(.negative(.nameNotFound, ttl: 10), host.text, at: 0, in: cache)
    #expect(find(cache, at: 3)?.verdict == .negative(.nameNotFound, left: 7_000_000_000))
    #expect(find(cache, at: 3)?.resolution == nil)
    #expect(find(cache, at: 10)?.verdict == .miss)
  }

  @Test func `a negative answer takes the place of a stale one`() {
    let cache = cache()
    store(.addresses("192.0.2.1", ttl: 100), host.text, at: 0, in: cache)
    store(.negative(.noAddress, ttl: 10), host.text, at: 200, in: cache)
    #expect(find(cache, at: 201)?.verdict == .negative(.noAddress, left: 9_000_000_000))
  }

  @Test(arguments: [Answer.addresses("192.0.2.9", ttl: 0), .negative(.nameNotFound, ttl: nil)])
  func `an answer that is not kept takes the place of the one before`(_ answer: Answer) {
    let cache = cache()
    store(.addresses("192.0.2.1", ttl: 100), host.text, at: 0, in: cache)
    store(.addresses("2001:db8::1", ttl: 100), host.text, at: 0, family: .ipv6, in: cache)
    store(answer, host.text, at: 1, in: cache)
    #expect(cache.value(host)?.ipv4 == .unkept(answer))
    #expect(cache.value(host)?.ipv6.entry != nil)
    store(answer, host.text, at: 1, family: .ipv6, in: cache)
    #expect(cache.value(host) == nil)
    #expect(cache.count == 0)
  }

  @Test func `a negative answer that is fresh is told with its source`() {
    let cache = cache()
    #expect(cache.freshNegative(question, at: Sample.at(0)) == nil)
    store(.negative(.noAddress, ttl: 10), host.text, at: 0, source: 3, in: cache)
    #expect(cache.freshNegative(question, at: Sample.at(10).before)?.negative == .noAddress)
    #expect(cache.freshNegative(question, at: Sample.at(10).before)?.source == 3)
    #expect(cache.freshNegative(question, at: Sample.at(10)) == nil)
    store(.addresses("192.0.2.1"), host.text, at: 0, in: cache)
    #expect(cache.freshNegative(question, at: Sample.at(1)) == nil)
  }

  @Test func `a provider's entry is one, be it expired, and the system's is none`() {
    let cache = cache()
    #expect(!cache.hasProviderEntry(question, at: Sample.at(0)))
    store(.addresses("192.0.2.1"), host.text, at: 0, source: 0, in: cache)
    #expect(!cache.hasProviderEntry(question, at: Sample.at(0)))
    store(.addresses("192.0.2.1", ttl: 60), host.text, at: 0, source: 2, in: cache)
    #expect(cache.hasProviderEntry(question, at: Sample.at(61)))
    // What nobody may use any more keeps nothing out.
    store(.negative(.nameNotFound, ttl: 60), host.text, at: 0, source: 2, in: cache)
    #expect(cache.hasProviderEntry(question, at: Sample.at(59)))
    #expect(!cache.hasProviderEntry(question, at: Sample.at(61)))
  }

  // MARK: Forgetting

  @Test func `a forgotten name is unknown, with its failures and waits`() {
    let cache = cache()
    store(.addresses("192.0.2.1", ttl: 10), host.text, at: 0, in: cache)
    store(.addresses("192.0.2.1"), "other.example", at: 0, in: cache)
    cache.remember(error, for: question, now: Sample.at(100))
    cache.forget(host, now: Sample.at(100))
    #expect(cache.value(host) == nil)
    #expect(names(cache) == ["other.example"])
    #expect(cache.failure(of: question, at: Sample.at(100)) == nil)
    #expect(cache.mayRefresh(question, at: Sample.at(100)))
  }

  @Test func `a forgotten name stays kept alive if it was`() {
    let cache = cache()
    cache.keepAlive([host], now: Sample.at(0))
    store(.addresses("192.0.2.1"), host.text, at: 0, in: cache)
    cache.forget(host, now: Sample.at(1))
    #expect(cache.value(host) == CachedName(isKeptAlive: true))
  }

  @Test func `a change of network makes answers due, and drops failures and waits alone`() {
    let cache = cache()
    store(.addresses("192.0.2.1", ttl: 100), host.text, at: 0, in: cache)
    cache.remember(error, for: question, now: Sample.at(1))
    #expect(find(cache, at: 2)?.verdict == .serve(.ipv4, .fresh, refresh: false))
    cache.networkDidChange(now: Sample.at(2))
    #expect(find(cache, at: 2)?.verdict == .serve(.ipv4, .due, refresh: true))
    #expect(cache.failure(of: question, at: Sample.at(2)) == nil)
    #expect(cache.mayRefresh(question, at: Sample.at(2)))
    #expect(cache.count == 1)
    store(.addresses("192.0.2.1", ttl: 100), host.text, at: 3, in: cache)
    #expect(find(cache, at: 3)?.verdict == .serve(.ipv4, .fresh, refresh: false))
  }

  @Test func `an evicted name takes its wait along`() {
    let cache = cache(1)
    store(.addresses("192.0.2.1", ttl: 10), host.text, at: 0, in: cache)
    cache.remember(error, for: question, now: Sample.at(100))
    store(.addresses("192.0.2.1"), "other.example", at: 101, in: cache)
    #expect(cache.value(host) == nil)
    #expect(cache.mayRefresh(question, at: Sample.at(102)))
  }
}

extension AnswerCache {
  /// The failure that is remembered of a question.
  func failure(of question: AddressQuestion, at now: ResolverInstant) -> DirectDNSError? {
    if case .failure(let error) = remembered(question, at: now) { error } else { nil }
  }

  /// The negative answer that is remembered of a question.
  func freshNegative(
    _ question: AddressQuestion, at now: ResolverInstant
  ) -> (negative: Answer.Negative, source: UInt16)? {
    guard case .success(let entry) = remembered(question, at: now), case .negative(let negative) = entry.content
    else { return nil }
    return (negative, entry.source)
  }
}
