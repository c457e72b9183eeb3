// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct CookieStoreLimitsTests {
  private func store(inAll: Int = 3_000, perDomain: Int = 180) -> CookieStore {
    CookieStore(configuration: CookieJarConfiguration(maximumCookies: inAll, maximumCookiesPerDomain: perDomain))
  }

  private func names(_ store: CookieStore, at now: CookieTime = Sample.now) -> [String] {
    store.cookies(at: now).map(\.name)
  }

  private func add(
    _ fields: String..., from url: String = "https://www.a.example/", to store: inout CookieStore,
    at now: CookieTime = Sample.now
  ) {
    for field in fields { if let cookie = Sample.cookie(field, from: url, at: now) { store.insert(cookie, at: now) } }
  }

  @Test func `the limits are those of the documentation`() {
    let limits = CookieJarConfiguration()
    #expect(limits.maximumCookies == 3_000)
    #expect(limits.maximumCookiesPerDomain == 180)
    #expect(limits.maximumAge == .seconds(34_560_000))
    #expect(limits.maximumHeaderBytes == 8_190)
  }

  @Test func `the cookie that was used longest ago goes first`() {
    var store = store(perDomain: 3)
    add("a=1; path=/a", "b=2; path=/b", "c=3; path=/c", to: &store)
    _ = store.header(for: Sample.request("https://www.a.example/a"), at: Sample.now)
    add("d=4", to: &store)
    #expect(names(store) == ["a", "c", "d"])
  }

  @Test func `the hosts of a registrable domain share its limit`() {
    var store = store(perDomain: 2)
    add("a=1", to: &store)
    add("b=2; domain=a.example", to: &store)
    add("c=3", from: "https://x.y.a.example/", to: &store)
    add("d=4", from: "https://b.example/", to: &store)
    add("e=5", from: "http://192.0.2.1/", to: &store)
    #expect(names(store) == ["b", "c", "d", "e"])
  }

  @Test func `hosts under one public suffix do not`() {
    var store = store(perDomain: 1)
    for host in ["a.co.uk", "b.co.uk", "co.uk", "192.168.0.1", "10.0.0.1", "localhost"] {
      add("a=1", from: "https://\(host)/", to: &store)
    }
    #expect(store.count == 6)
  }

  @Test func `expired cookies go before any that are used`() {
    var store = store(perDomain: 3)
    add("a=1", "b=2; max-age=5", "c=3", to: &store)
    add("d=4", to: &store, at: Sample.now + 5)
    #expect(names(store, at: Sample.now + 5) == ["a", "c", "d"])
    var small = self.store(inAll: 2)
    add("a=1", "b=2; max-age=5", to: &small)
    add("c=3", from: "https://b.example/", to: &small, at: Sample.now + 5)
    #expect(names(small, at: Sample.now + 5) == ["a", "c"])
  }

  @Test func `a site with too many loses insecure cookies before Secure ones`() {
    var store = store(perDomain: 2)
    add("a=1; secure", "b=2", "c=3", to: &store)
    #expect(names(store) == ["a", "c"])
    add("d=4; secure", "e=5; secure", to: &store)
    #expect(names(store) == ["d", "e"])
  }

  @Test func `in all the cookie of whatever site that was used longest ago goes`() {
    var store = store(inAll: 3)
    for host in ["a", "b", "c"] { add("\(host)=1; secure", from: "https://\(host).example/", to: &store) }
    _ = store.header(for: Sample.request("https://a.example/"), at: Sample.now)
    add("d=1", from: "https://d.example/", to: &store)
    #expect(names(store) == ["a", "c", "d"])
    #expect(store.table.count == 3)
  }

  @Test func `a new value of a cookie pushes nothing out`() {
    var store = store(inAll: 2, perDomain: 2)
    add("a=1", "b=2", "a=3", "b=4", to: &store)
    #expect(names(store) == ["a", "b"])
  }

  @Test func `use is ordered within a second, and when the clock goes back`() {
    var store = store(perDomain: 2)
    add("a=1", to: &store, at: Sample.now)
    add("b=2", to: &store, at: Sample.now + -3_600)
    add("c=3", to: &store, at: Sample.now)
    #expect(names(store) == ["b", "c"])
  }

  @Test func `a flood of one site leaves the others their cookies`() {
    var store = store()
    add("a=1", from: "https://b.example/", to: &store)
    let count = Sanitizer.volume(of: 4_000)
    for index in 0..<count { add("x\(index)=1", from: "https://h\(index).a.example/", to: &store) }
    #expect(store.count == 181)
    #expect(names(store).first == "a")
  }

  @Test func `a limit of nothing keeps nothing`() {
    var store = store(inAll: 0)
    add("a=1", to: &store)
    #expect(store.count == 0)
  }
}
