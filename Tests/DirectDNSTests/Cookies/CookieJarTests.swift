// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import Testing

@testable import DirectDNS

struct CookieJarTests {
  private let clock = ManualClock()
  private let jar: CookieJar
  private let url = Sample.url("https://www.a.example/")

  init() { jar = CookieJar(clock: clock) }

  @Test func `what a response sets the next request carries`() {
    jar.store(setCookie: "a=1", for: url)
    #expect(jar.cookieHeader(for: url) == "a=1")
    #expect(jar.cookieHeader(for: Sample.url("https://b.example/")) == nil)
  }

  @Test func `each field gives its cookie or its reason`() {
    let results = jar.store(setCookie: ["a=1", "b=2; domain=b.example", "c=; max-age=0"], for: url)
    #expect(results.map { (try? $0.get())?.name } == ["a", nil, "c"])
    #expect(results[1] == .failure(.foreignDomain("b.example")))
    #expect(jar.cookies.map(\.name) == ["a"])
    #expect(jar.store(setCookie: "d=1", for: Sample.url("http://a..example/")).failure != nil)
  }

  @Test func `time passes by the clock`() {
    jar.store(setCookie: "a=1; max-age=60", for: url)
    clock.advance(by: .seconds(59))
    #expect(jar.cookieHeader(for: url) == "a=1")
    clock.advance(by: .seconds(1))
    #expect(jar.cookieHeader(for: url) == nil)
    #expect(jar.cookies == [])
    #expect(jar.removeExpired() == 1)
    #expect(jar.removeExpired() == 0)
  }

  @Test func `a request to an address carries the cookies of its Host field`() {
    let literal = Sample.url("https://192.0.2.1/")
    jar.store(setCookie: "a=1", for: literal, hostField: "www.a.example")
    jar.store(setCookie: "b=2", for: url)
    jar.store(setCookie: "c=3", for: literal)
    #expect(jar.cookieHeader(for: literal, hostField: "www.a.example") == "a=1; b=2")
    #expect(jar.cookieHeader(for: url) == "a=1; b=2")
    #expect(jar.cookieHeader(for: literal) == "c=3")
    #expect(jar.cookieHeader(for: literal, hostField: "no host") == nil)
  }

  @Test func `a Host field draws no other site's cookies for a URL with a name`() {
    jar.store(setCookie: "a=1", for: url)
    let other = Sample.url("https://evil.example/")
    #expect(jar.cookieHeader(for: other, hostField: "www.a.example") == nil)
    jar.store(setCookie: "b=2", for: other, hostField: "www.a.example")
    #expect(jar.cookieHeader(for: url) == "a=1")
  }

  @Test func `a filter holds cookies back, which then count as unused`() {
    jar.store(setCookie: ["a=1", "b=2", "c=3"], for: url)
    clock.advance(by: .seconds(5))
    #expect(jar.cookieHeader(for: url) { $0.name != "b" } == "a=1; c=3")
    #expect(jar.cookieHeader(for: url) { _ in false } == nil)
    #expect(jar.cookies(for: url) { $0.lastAccess == Sample.now }.map(\.name) == ["b"])
  }

  @Test func `a filter may use the jar`() {
    jar.store(setCookie: ["a=1", "b=2"], for: url)
    #expect(jar.cookieHeader(for: url) { $0.name == jar.cookies.first?.name } == "a=1")
  }

  @Test func `looking does not count as use`() {
    jar.store(setCookie: ["a=1; path=/x", "b=2"], for: url)
    clock.advance(by: .seconds(5))
    #expect(jar.cookies(for: url).map(\.name) == ["b"])
    #expect(jar.cookies.map(\.lastAccess) == [Sample.now, Sample.now])
  }

  @Test func `clearing for a URL takes what it would carry, no more`() {
    jar.store(setCookie: ["a=1", "b=2; domain=a.example", "c=3; path=/x", "d=4; secure"], for: url)
    jar.store(setCookie: "e=5", for: Sample.url("https://a.example/"))
    jar.removeAll(for: Sample.url("http://www.a.example/"))
    #expect(jar.cookies.map(\.name) == ["c", "d", "e"])
    jar.removeAll(for: Sample.url("https://192.0.2.1/x"), hostField: "www.a.example")
    #expect(jar.cookies.map(\.name) == ["e"])
    jar.removeAll()
    #expect(jar.cookies == [])
  }

  @Test func `clearing for an address takes what is held there`() {
    let literal = Sample.url("http://192.0.2.1/")
    jar.store(setCookie: "a=1", for: literal)
    let hosts = [Sample.name("a.example"), Sample.name("b.example")]
    #expect(jar.repair(from: Sample.address("192.0.2.1"), to: hosts).held.count == 1)
    #expect(jar.cookies(for: literal) == [])
    jar.removeAll(for: literal)
    #expect(jar.cookies == [])
  }

  @Test func `session cookies go with the session`() {
    jar.store(setCookie: ["a=1", "b=2; max-age=60"], for: url)
    jar.removeSessionCookies()
    #expect(jar.cookies.map(\.name) == ["b"])
  }

  @Test func `a jar that was filled by address is repaired`() {
    jar.store(setCookie: "a=1", for: Sample.url("http://192.0.2.1/"))
    let host = Sample.name("www.a.example")
    #expect(jar.repair(from: Sample.address("192.0.2.1"), to: host).moved.count == 1)
    #expect(jar.repair(from: Sample.address("192.0.2.1"), to: [host, host]) == CookieRepair())
    #expect(jar.cookieHeader(for: url) == "a=1")
  }

  @Test func `a header keeps to its limit`() {
    let jar = CookieJar(CookieJarConfiguration(maximumHeaderBytes: 16), clock: clock)
    jar.store(setCookie: ["a=1", "b=22", "c=3"], for: url)
    #expect(jar.cookieHeader(for: url) == "a=1; c=3")
    let full = CookieJar(clock: clock)
    for index in 0..<4 { full.store(setCookie: "\(index)=" + String(repeating: "x", count: 2_721), for: url) }
    // Three of 2 723 bytes, two separators and the field's name make 8 181.
    #expect(full.cookieHeader(for: url)?.utf8.count == 8_173)
  }

  @Test func `curl's order can be had`() {
    let fields = ["a=1; domain=a.example", "b=2", "c=3", "long=4", "d=5; path=/x"]
    let page = Sample.url("http://www.a.example/x/y")
    for (order, header) in [
      (CookieJarConfiguration.Order.oldestFirst, "d=5; a=1; b=2; c=3; long=4"), (.curl, "d=5; long=4; c=3; b=2; a=1"),
    ] {
      let jar = CookieJar(CookieJarConfiguration(order: order), clock: clock)
      jar.store(setCookie: fields.map { $0.contains("path") ? $0 : $0 + "; path=/" }, for: page)
      #expect(jar.cookieHeader(for: page) == header)
    }
  }

  @Test func `cookies are taken from elsewhere, and replace their like`() throws {
    jar.store(setCookie: "a=1", for: url)
    jar.store([Sample.cookie("a=2"), Sample.cookie("b=3; max-age=0"), Sample.cookie("c=4")].compactMap(\.self))
    #expect(jar.cookieHeader(for: url) == "a=2; c=4")
  }

  @Test func `many tasks share a jar`() async {
    let jar = CookieJar(
      CookieJarConfiguration(maximumCookies: 50, maximumCookiesPerDomain: 20), clock: clock)
    await withDiscardingTaskGroup { group in
      for task in 0..<8 {
        group.addTask {
          for step in 0..<200 {
            let url = Sample.url("https://h\(step % 3).a\(task % 4).example/")
            jar.store(setCookie: "c\(step)=\(task)", for: url)
            _ = jar.cookieHeader(for: url) { $0.value == "\(task)" }
            if step % 50 == 0 { jar.removeAll(for: url) }
            if step % 70 == 0 { jar.repair(from: Sample.address("192.0.2.1"), to: Sample.name("a.example")) }
          }
        }
      }
    }
    #expect(jar.cookies.count <= 50)
    #expect(!jar.cookies.isEmpty)
  }

  @Test func `the machine's clock is the one by default`() {
    let jar = CookieJar()
    let result = jar.store(setCookie: "a=1; expires=Thu, 01 Jan 2099 00:00:00 GMT", for: url)
    #expect(((try? result.get())?.creation.secondsSince1970 ?? 0) > 1_700_000_000)
  }
}
