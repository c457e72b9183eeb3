// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

/// Failures that are remembered.
extension AnswerCacheTests {
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

  @Test func `it is asked for again when its failure is forgotten, however long the other family lives`() {
    let cache = cache()
    store(.addresses("2001:db8::1", ttl: 3600), host.text, at: 0, family: .ipv6, in: cache)
    var now = Sample.at(1)
    func refreshes(_ now: ResolverInstant) -> Bool {
      cache.find(host, .any, .allowed, prefersIPv6: false, at: now)?.verdict
        == .serve(.ipv6, .fresh, refresh: true)
    }
    for seconds in [1, 2, 4, 8, 16, 30, 30] {
      cache.remember(error, for: question, now: now)
      #expect(!refreshes(now))
      now = now + .seconds(seconds)
      #expect(!refreshes(now.before) && refreshes(now))
      #expect(cache.mayRefresh(question, at: now))
    }
    store(.addresses("192.0.2.1", ttl: 3600), host.text, at: 100, in: cache)
    #expect(find(cache, at: 101, .any)?.verdict == .serve(.any, .fresh, refresh: false))
  }

  @Test func `so it is where it had failed before the other family was there`() {
    let cache = cache()
    cache.remember(error, for: question, now: Sample.at(0))
    store(.addresses("2001:db8::1", ttl: 3600), host.text, at: 0.5, family: .ipv6, in: cache)
    cache.noteAsked(question, now: Sample.at(0.5))
    #expect(find(cache, at: 0.9, .any)?.verdict == .serve(.ipv6, .fresh, refresh: false))
    #expect(find(cache, at: 1, .any)?.verdict == .serve(.ipv6, .fresh, refresh: true))
  }

  @Test func `where failures are not remembered, it is asked for by the next lookup of the other`() {
    let cache = cache(3, CachePolicy(minimumFailureTTL: .zero))
    store(.addresses("192.0.2.1", ttl: 100), host.text, at: 0, in: cache)
    cache.remember(error, for: AddressQuestion(host, .ipv6), now: Sample.at(1))
    #expect(find(cache, at: 1, .any)?.verdict == .serve(.ipv4, .fresh, refresh: true))
  }

  @Test func `one whose answer was not kept is asked for with the other family alone`() {
    let cache = cache()
    store(.addresses("2001:db8::1", ttl: 3600), host.text, at: 0, family: .ipv6, in: cache)
    cache.remember(error, for: question, now: Sample.at(0))
    store(.negative(.noAddress, ttl: nil), host.text, at: 1, in: cache)
    #expect(cache.value(host)?.ipv4 == .unknown)
    cache.noteAsked(question, now: Sample.at(2))
    #expect(find(cache, at: 2000, .any)?.verdict == .serve(.ipv6, .fresh, refresh: false))
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

  @Test(arguments: ["nothing", "an answer of its server", "an answer of another server", "a reload", "a new network"])
  func `the pause of a family that failed beside the other ends in the name's record, too`(_ event: String) {
    let cache = cache()
    store(.addresses("2001:db8::1", ttl: 3600), host.text, at: 0, family: .ipv6, in: cache)
    // For 1 s, then 2 s, and then 4 s.
    for seconds in [1.0, 2, 4] { cache.remember(error, for: question, by: [.provider(1)], now: Sample.at(seconds)) }
    let now = Sample.at(6)
    var end = now
    switch event {
    case "an answer of its server": #expect(cache.answered(by: .provider(1), at: now) == 1)
    case "a reload": cache.forgetFailures(now: now)
    case "a new network": cache.networkDidChange(now: now)
    default:
      _ = cache.answered(by: .provider(2), at: now)
      end = Sample.at(8)
    }
    #expect(cache.value(host)?.ipv4 == .failed(until: end.nanoseconds))
    let found = cache.find(host, .any, .allowed, prefersIPv6: false, at: now)
    #expect(found?.verdict == .serve(.ipv6, event == "a new network" ? .due : .fresh, refresh: end == now))
  }

  @Test func `a pause that ends leaves nothing in the record of a name whose family has not failed`() {
    let cache = cache()
    cache.remember(error, for: question, by: [.provider(1)], now: Sample.at(1))
    store(.addresses("2001:db8::1", ttl: 3600), host.text, at: 1, family: .ipv6, in: cache)
    let before = cache.value(host)
    cache.forgetFailures(now: Sample.at(1))
    #expect(cache.value(host) == before && before?.ipv4 == .neverAsked)
  }
}
