// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct AnswerCacheTests {
  private let host = Sample.name("www.example.net")
  private var question: AddressQuestion { AddressQuestion(host, .ipv4) }
  private let error = DirectDNSError(.upstreamFailed, "no")

  private func cache(_ capacity: Int = 100, _ policy: CachePolicy = CachePolicy()) -> AnswerCache {
    let cache = AnswerCache(policy: policy, capacity: capacity)
    for name in ["one", "two"] { _ = cache.sources.code(ofProvider: name) }
    return cache
  }

  private func store(
    _ answer: Answer, _ name: String, at seconds: Double, family: IPAddress.Family = .ipv4,
    source: UInt16 = 2,
    in cache: AnswerCache
  ) {
    cache.store(
      answer, to: AddressQuestion(Sample.name(name), family), source: source, asked: Sample.at(seconds),
      now: Sample.at(seconds))
  }

  private func find(
    _ cache: AnswerCache, at seconds: Double, _ wanted: AddressFamilies = .ipv4,
    _ expired: ExpiredUse = .allowed
  ) -> AnswerCache.Found? {
    // As for the first use, which takes no turns.
    cache.find(host, wanted, expired, prefersIPv6: false, since: Sample.at(0), at: Sample.at(seconds))
  }

  /// Uses a name as a lookup does.
  @discardableResult
  private func use(_ name: String, at seconds: Double, in cache: AnswerCache) -> Resolution? {
    let now = Sample.at(seconds)
    guard let reading = cache.read(spelled: name),
      case .serve(let families, let freshness, _) = cache.verdict(reading, .ipv4, .allowed, now)
    else { return nil }
    var found = Resolution()
    let isFilled = cache.fill(
      &found, from: reading, families, freshness, prefersIPv6: false, turn: .first, at: now)
    return isFilled ? found : nil
  }

  private func names(_ cache: AnswerCache) -> [String] { cache.all().map(\.name.text).sorted() }

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
    #expect(cache.value(host)?.ipv4 == .unknown)
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

  // MARK: Failures

  @Test func `a failure never takes the place of an answer`() {
    let cache = cache()
    store(.addresses("192.0.2.1", ttl: 100), host.text, at: 0, in: cache)
    let before = cache.value(host)
    cache.remember(error, for: question, now: Sample.at(200))
    #expect(cache.value(host) == before)
    #expect(find(cache, at: 200)?.verdict == .wait(.ipv4))
  }

  @Test func `a failure of a name without answers is remembered beside the table`() {
    let cache = cache()
    cache.remember(error, for: question, now: Sample.at(0))
    #expect(cache.count == 0)
    #expect(cache.failure(of: question, at: Sample.at(1).before) != nil)
    #expect(cache.failure(of: question, at: Sample.at(1)) == nil)
    #expect(!cache.mayRefresh(question, at: Sample.at(1).before))
    #expect(cache.mayRefresh(question, at: Sample.at(1)))
  }

  @Test func `an answer ends a failure's memory`() {
    let cache = cache()
    for _ in 0..<5 { cache.remember(error, for: question, now: Sample.at(0)) }
    store(.addresses("192.0.2.1", ttl: 10), host.text, at: 0, in: cache)
    #expect(cache.failure(of: question, at: Sample.at(0)) == nil)
    #expect(cache.mayRefresh(question, at: Sample.at(0)))
  }

  @Test func `an expired answer whose refresh failed is not asked for again for 30 s`() {
    let cache = cache()
    store(.addresses("192.0.2.1", ttl: 10), host.text, at: 0, in: cache)
    #expect(cache.mayRefresh(question, at: Sample.at(100)))
    cache.remember(error, for: question, now: Sample.at(100))
    #expect(!cache.mayRefresh(question, at: Sample.at(130).before))
    #expect(cache.mayRefresh(question, at: Sample.at(130)))
    #expect(cache.mayRefresh(AddressQuestion(host, .ipv6), at: Sample.at(100)))
  }

  @Test func `one that has not expired is asked for again when the failure is forgotten`() {
    let cache = cache()
    store(.addresses("192.0.2.1", ttl: 10), host.text, at: 0, in: cache)
    cache.remember(error, for: question, now: Sample.at(8))
    #expect(!cache.mayRefresh(question, at: Sample.at(9).before))
    #expect(cache.mayRefresh(question, at: Sample.at(9)))
  }

  @Test func `the next answer ends the wait`() {
    let cache = cache()
    store(.addresses("192.0.2.1", ttl: 10), host.text, at: 0, in: cache)
    cache.remember(error, for: question, now: Sample.at(100))
    store(.addresses("192.0.2.1", ttl: 10), host.text, at: 101, in: cache)
    #expect(cache.mayRefresh(question, at: Sample.at(112)))
  }

  @Test func `a family that failed is not asked for by every lookup of the other`() {
    let cache = cache()
    store(.addresses("192.0.2.1", ttl: 100), host.text, at: 0, in: cache)
    #expect(find(cache, at: 1, .any)?.verdict == .serve(.ipv4, .fresh, refresh: true))
    cache.remember(error, for: AddressQuestion(host, .ipv6), now: Sample.at(1))
    #expect(find(cache, at: 1, .any)?.verdict == .serve(.ipv4, .fresh, refresh: false))
    #expect(find(cache, at: 80, .any)?.verdict == .serve(.ipv4, .due, refresh: true))
  }

  @Test func `of one address each, the one that failed comes last until it is forgiven`() {
    let cache = cache()
    let (four, six) = (Sample.address("192.0.2.1"), Sample.address("2001:db8::1"))
    store(.addresses("192.0.2.1", ttl: 600), host.text, at: 0, in: cache)
    cache.store(
      .addresses("2001:db8::1", ttl: 600), to: AddressQuestion(host, .ipv6), source: 1, asked: Sample.at(0),
      now: Sample.at(0))
    func order(at seconds: Double) -> [IPAddress]? {
      let found = cache.find(host, .any, .allowed, prefersIPv6: true, at: Sample.at(seconds))
      return found?.resolution.map { Array($0.addresses) }
    }
    #expect(order(at: 1) == [six, four])
    cache.ranking.report(six, .failed, at: Sample.at(2))
    #expect(order(at: 3) == [four, six])
    #expect(order(at: 32) == [six, four])
  }

  // MARK: Capacity

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
    #expect(cache.state.withLock(\.keptAlive) == 39)
    // Names that leave, stay or come: what is counted is what is there.
    cache.keepAlive(Set((20..<70).map { Sample.name("k\($0).example") }), now: Sample.at(60))
    #expect(cache.count == 40 && cache.state.withLock(\.keptAlive) == cache.all().count { $0.value.isKeptAlive })
    cache.forget(Sample.name("k30.example"), now: Sample.at(60))
    cache.keepAlive([], now: Sample.at(61))
    #expect(cache.state.withLock(\.keptAlive) == 0)
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

  // MARK: The order of addresses

  /// The addresses as the lookup that takes no lock finds them; nothing if they have to be put in order first.
  private func inOrder(_ cache: AnswerCache, at seconds: Double) -> [String]? {
    guard let reading = cache.read(host), cache.isInOrder(reading, at: Sample.at(seconds)) else { return nil }
    var addresses = AddressList()
    cache.table.append(.any, of: reading, prefersIPv6: false, turn: .first, to: &addresses)
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
  fileprivate func failure(of question: AddressQuestion, at now: ResolverInstant) -> DirectDNSError? {
    if case .failure(let error) = remembered(question, at: now) { error } else { nil }
  }

  /// The negative answer that is remembered of a question.
  fileprivate func freshNegative(
    _ question: AddressQuestion, at now: ResolverInstant
  ) -> (negative: Answer.Negative, source: UInt16)? {
    if case .negative(let negative, let source, _) = remembered(question, at: now) { (negative, source) } else { nil }
  }
}
