// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct CookieStoreRepairTests {
  private let address = Sample.address("192.0.2.1")
  private let host = Sample.name("www.a.example")
  private var store = CookieStore(configuration: CookieJarConfiguration())

  private mutating func add(_ field: String, from url: String, after seconds: Int64 = 0) {
    let now = Sample.now + seconds
    if let cookie = Sample.cookie(field, from: url, at: now) { store.insert(cookie, at: now) }
  }

  private mutating func header(_ url: String) -> String? { store.header(for: Sample.request(url), at: Sample.now) }

  @Test mutating func `cookies of an address move to the one host it stood for`() {
    add("a=1; path=/x; max-age=60; httponly", from: "http://192.0.2.1/")
    add("b=2", from: "https://192.0.2.1:8443/")
    add("c=3", from: "http://192.0.2.2/")
    let report = store.repair(address, candidates: [host], at: Sample.now)
    #expect(report.moved.map(\.name) == ["a", "b"])
    #expect(report.superseded == [])
    #expect(report.held == [])
    #expect(report.moved.allSatisfy { $0.isHostOnly && $0.domain == .name(host) })
    #expect(report.moved.first?.path == "/x")
    #expect(report.moved.first?.expires == Sample.now + 60)
    #expect(header("http://www.a.example/x") == "a=1; b=2")
    #expect(header("http://x.www.a.example/") == nil)
    #expect(header("http://192.0.2.1/x") == nil)
    #expect(header("http://192.0.2.2/") == "c=3")
  }

  @Test mutating func `what moves takes the place of the host's cookie of that name and path, and of no other`() {
    for field in ["a=old", "a=x; path=/x", "b=own", "c=x; path=/x"] { add(field, from: "http://www.a.example/") }
    add("a=1", from: "http://192.0.2.1/", after: 1)
    let report = store.repair(address, candidates: [host], at: Sample.now + 1)
    #expect(report.superseded.map(\.value) == ["old"])
    #expect(header("http://www.a.example/x")?.split(separator: "; ").sorted() == ["a=1", "a=x", "b=own", "c=x"])
  }

  @Test mutating func `an IPv6 address is found, and means itself alone`() {
    add("a=1", from: "http://[2001:db8::1]/")
    add("b=2", from: "http://[::ffff:192.0.2.1]/")
    #expect(store.repair(Sample.address("2001:DB8:0::1"), candidates: [host], at: Sample.now).moved.count == 1)
    #expect(store.repair(address, candidates: [host], at: Sample.now) == CookieRepair())
  }

  @Test mutating func `with two candidates cookies stay, are never sent, and are reported`() {
    add("a=1", from: "http://192.0.2.1/")
    let other = Sample.name("b.example")
    let report = store.repair(address, candidates: [host, other], at: Sample.now)
    #expect(report.moved == [])
    #expect(report.held.map(\.name) == ["a"])
    #expect(report.held.allSatisfy { $0.isHeld && $0.domain == .address(address) })
    for url in ["http://192.0.2.1/", "http://www.a.example/", "http://b.example/"] { #expect(header(url) == nil) }
    #expect(store.cookies(at: Sample.now).map(\.name) == ["a"])
    // A server that sets it anew has it again; what was held is replaced.
    add("a=2", from: "http://192.0.2.1/")
    #expect(header("http://192.0.2.1/") == "a=2")
  }

  @Test mutating func `what is held can still be given to its host`() {
    add("a=1", from: "http://192.0.2.1/")
    _ = store.repair(address, candidates: [host, Sample.name("b.example")], at: Sample.now)
    #expect(store.repair(address, candidates: [host], at: Sample.now).moved.map(\.isHeld) == [false])
    #expect(header("http://www.a.example/") == "a=1")
  }

  @Test mutating func `without a candidate nothing changes`() {
    add("a=1", from: "http://192.0.2.1/")
    #expect(store.repair(address, candidates: [], at: Sample.now) == CookieRepair())
    #expect(header("http://192.0.2.1/") == "a=1")
  }

  @Test(arguments: [(0, 0, "own"), (0, 1, "own"), (1, 0, "stray")] as [(Int64, Int64, String)])
  mutating func `the host's own cookie wins unless it is older`(_ stray: Int64, _ own: Int64, _ winner: String) {
    add("a=stray", from: "http://192.0.2.1/", after: stray)
    add("a=own", from: "http://www.a.example/", after: own)
    let report = store.repair(address, candidates: [host], at: Sample.now)
    #expect(header("http://www.a.example/") == "a=\(winner)")
    #expect(report.moved.count == (winner == "stray" ? 1 : 0))
    #expect(report.superseded.map(\.value) == [winner == "stray" ? "own" : "stray"])
    #expect(store.count == 1)
  }

  @Test mutating func `what counts is when the value came, not when the cookie first did`() {
    add("a=old", from: "http://www.a.example/")
    add("a=stray", from: "http://192.0.2.1/", after: 5)
    add("a=new", from: "http://www.a.example/", after: 9)
    _ = store.repair(address, candidates: [host], at: Sample.now + 9)
    #expect(header("http://www.a.example/") == "a=new")
  }

  @Test mutating func `the host's cookie for its whole domain is its own, one of a domain above is not`() {
    add("a=1; domain=www.a.example", from: "http://www.a.example/")
    add("b=1; domain=a.example", from: "http://www.a.example/")
    add("a=2", from: "http://192.0.2.1/")
    add("b=2", from: "http://192.0.2.1/")
    _ = store.repair(address, candidates: [host], at: Sample.now)
    #expect(header("http://www.a.example/") == "a=1; b=1; b=2")
  }

  @Test mutating func `a Secure cookie is not replaced by one that is not, however old it is`() {
    add("a=own; secure", from: "https://www.a.example/")
    add("a=stray", from: "http://192.0.2.1/", after: 9)
    let report = store.repair(address, candidates: [host], at: Sample.now + 9)
    #expect(report.moved == [])
    #expect(header("https://www.a.example/") == "a=own")
  }

  @Test mutating func `expired cookies neither move nor win`() {
    add("a=own; max-age=5", from: "http://www.a.example/", after: 1)
    add("a=stray", from: "http://192.0.2.1/")
    add("b=stray; max-age=5", from: "http://192.0.2.1/")
    let report = store.repair(address, candidates: [host], at: Sample.now + 6)
    #expect(report.moved.map(\.name) == ["a"])
    #expect(report.superseded == [])
  }
}
