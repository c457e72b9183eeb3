// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSFoundation
import Foundation
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite("Cookies of Foundation")
struct HTTPCookieStorageTests {
  private let clock = FixedClock(secondsSince1970: 1_800_000_000)
  private let address = IPAddress.ipv4(0xCB00_7107)
  private let storage: HTTPCookieStorage

  init() throws {
    // Each ephemeral configuration has a storage of its own.
    storage = try #require(URLSessionConfiguration.ephemeral.httpCookieStorage)
  }

  private func file(
    _ name: String, _ value: String, domain: String, path: String = "/", age: Double? = nil, secure: Bool = false
  ) throws {
    var properties: [HTTPCookiePropertyKey: Any] = [.name: name, .value: value, .domain: domain, .path: path]
    properties[.expires] = Date(timeIntervalSince1970: Double(clock.secondsSince1970) + 3_600)
    if secure { properties[.secure] = "TRUE" }
    if let age {
      let created = Date(timeIntervalSince1970: Double(clock.secondsSince1970) - age)
      properties[HTTPCookiePropertyKey("Created")] = NSNumber(value: created.timeIntervalSinceReferenceDate)
    }
    storage.setCookie(try #require(HTTPCookie(properties: properties)))
  }

  private var filed: [String] {
    (storage.cookies ?? []).map { "\($0.domain)\($0.path) \($0.name)=\($0.value)" }.sorted()
  }

  // MARK: Bridging

  @Test func `a jar takes a storage's cookies`() throws {
    try file("a", "1", domain: "www.example.com")
    try file("b", "2", domain: ".example.com", path: "/x", secure: true)
    try file("c", "3", domain: "203.0.113.7")
    let jar = CookieJar(clock: clock)
    #expect(jar.store(contentsOf: storage, clock: clock).isEmpty)
    let cookies = Dictionary(uniqueKeysWithValues: jar.cookies.map { ($0.name, $0) })
    #expect(cookies["a"]?.isHostOnly == true)
    #expect(cookies["a"]?.expires?.secondsSince1970 == clock.secondsSince1970 + 3_600)
    #expect(cookies["b"]?.isHostOnly == false)
    #expect(cookies["b"]?.isSecure == true)
    #expect(cookies["b"]?.path == "/x")
    #expect(cookies["c"]?.domain == .address(address))
    #expect(jar.cookieHeader(for: try WebURL("https://www.example.com/x")) == "b=2; a=1")
  }

  @Test func `a storage takes a jar's cookies`() throws {
    let jar = CookieJar(clock: clock)
    let url = try WebURL("https://www.example.com/x")
    jar.store(
      setCookie: ["a=1; Max-Age=60", "b=2; Domain=example.com; Path=/x; Secure; HttpOnly", "c=3"], for: url)
    storage.setCookies(of: jar)
    #expect(filed == [".example.com/x b=2", "www.example.com/ a=1", "www.example.com/ c=3"])
    let cookies = storage.cookies ?? []
    #expect(cookies.first { $0.name == "a" }?.expiresDate?.timeIntervalSince1970 == 1_800_000_060)
    #expect(cookies.first { $0.name == "b" }?.isSecure == true)
    #expect(cookies.first { $0.name == "c" }?.isSessionOnly == true)
  }

  @Test func `a jar's cookies come back from a storage as they were`() throws {
    let jar = CookieJar(clock: clock)
    jar.store(
      setCookie: ["a=1; Max-Age=60", "b=2; Domain=example.com; Secure", "c=3"],
      for: try WebURL("https://www.example.com/x"))
    storage.setCookies(of: jar)
    let copy = CookieJar(clock: clock)
    copy.store(contentsOf: storage, clock: clock)
    #expect(Set(copy.cookies.map(line)) == Set(jar.cookies.map(line)))
  }

  private func line(_ cookie: Cookie) -> String {
    "\(cookie) \(cookie.value) \(cookie.isHostOnly) \(cookie.isSecure) \(String(describing: cookie.expires))"
  }

  // MARK: Repairing

  @Test func `cookies that were filed under an address move to the host`() throws {
    try file("a", "1", domain: "203.0.113.7")
    try file("b", "2", domain: "203.0.113.7", path: "/x", secure: true)
    try file("c", "3", domain: "203.0.113.8")
    let report = storage.repair(from: address, to: try HostName("www.example.com"), clock: clock)
    #expect(report.moved.map(\.name).sorted() == ["a", "b"])
    #expect(filed == ["203.0.113.8/ c=3", "www.example.com/ a=1", "www.example.com/x b=2"])
    #expect(storage.cookies?.first { $0.name == "b" }?.isSecure == true)
  }

  @Test func `with two candidates nothing moves, and it is said`() throws {
    try file("a", "1", domain: "203.0.113.7")
    let report = storage.repair(
      from: address, to: [try HostName("www.example.com"), try HostName("www.example.net")], clock: clock)
    #expect(report.held.map(\.name) == ["a"])
    #expect(report.moved.isEmpty)
    #expect(filed == ["203.0.113.7/ a=1"])
  }

  @Test func `without a candidate nothing changes`() throws {
    try file("a", "1", domain: "203.0.113.7")
    #expect(storage.repair(from: address, to: [HostName](), clock: clock) == CookieRepair())
    #expect(filed == ["203.0.113.7/ a=1"])
  }

  #if canImport(FoundationNetworking)
    // There Foundation says itself when a cookie came, and that is now for both.
    private static let ages = [(10.0, 20.0, "own"), (20.0, 10.0, "own")]
  #else
    private static let ages = [(10.0, 20.0, "own"), (20.0, 10.0, "stray")]
  #endif

  @Test(arguments: ages)
  func `of two with one name the host's own stays unless it is older`(
    _ ownAge: Double, _ strayAge: Double, _ value: String
  ) throws {
    try file("a", "own", domain: "www.example.com", age: ownAge)
    try file("a", "stray", domain: "203.0.113.7", age: strayAge)
    let report = storage.repair(from: address, to: try HostName("www.example.com"), clock: clock)
    #expect(report.superseded.count == 1)
    #expect(filed == ["www.example.com/ a=\(value)"])
  }
}
