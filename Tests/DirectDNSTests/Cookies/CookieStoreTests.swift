// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct CookieStoreTests {
  private var store = CookieStore(configuration: CookieJarConfiguration())

  /// Takes a field as a response's; the reason when it is rejected.
  @discardableResult
  private mutating func set(
    _ field: String, from url: String = "https://www.a.example/", at now: CookieTime = Sample.now
  ) throws(CookieRejection) -> Cookie {
    let request = Sample.request(url)
    let cookie = try Cookie(SetCookie(field), in: request, now: now)
    try store.receive(cookie, in: request, at: now)
    return cookie
  }

  private mutating func header(_ url: String = "https://www.a.example/", at now: CookieTime = Sample.now) -> String? {
    store.header(for: Sample.request(url), at: now)
  }

  @Test mutating func `longer paths come first, then what came first, of whatever domain`() throws {
    try set("a=1; path=/")
    try set("b=2; path=/x; domain=a.example")
    try set("c=3; path=/")
    try set("d=4; path=/; domain=a.example")
    try set("e=5; path=/x/y")
    #expect(header("https://www.a.example/x/y") == "e=5; b=2; a=1; c=3; d=4")
    #expect(header("https://b.a.example/x") == "b=2; d=4")
    #expect(header("https://b.example/x") == nil)
  }

  @Test mutating func `a newer value keeps the place and the time of creation`() throws {
    try set("a=1")
    try set("b=2")
    try set("a=3", at: Sample.now + 5)
    #expect(header() == "a=3; b=2")
    #expect(store.cookies(at: Sample.now).first?.creation == Sample.now)
    #expect(store.count == 2)
  }

  @Test mutating func `cookies of other paths, domains and reach stand beside each other`() throws {
    try set("a=1; path=/")
    try set("a=2; path=/x")
    try set("a=3; path=/; domain=www.a.example")
    try set("a=4; path=/; domain=a.example")
    try set("A=5; path=/")
    #expect(header("https://www.a.example/x") == "a=2; a=1; a=3; a=4; A=5")
  }

  @Test mutating func `a cookie that has expired takes away the one it replaces`() throws {
    try set("a=1")
    try set("b=2")
    try set("a=; max-age=0")
    #expect(header() == "b=2")
    try set("c=; max-age=-1")
    #expect(store.count == 1)
    try set("b=; max-age=0")
    #expect(store.table.isEmpty)
    #expect(store.families.isEmpty)
  }

  @Test mutating func `a cookie ends when its time is over`() throws {
    try set("a=1; max-age=10")
    #expect(header(at: Sample.now + 9) == "a=1")
    #expect(header(at: Sample.now + 10) == nil)
    #expect(store.cookies(at: Sample.now + 10) == [])
  }

  @Test mutating func `a jar may keep cookies for less than 400 days, and never for more`() throws {
    for (age, kept) in [(Duration.seconds(60), Int64(60)), (.seconds(500 * 86_400), 400 * 86_400)] {
      store = CookieStore(configuration: CookieJarConfiguration(maximumAge: age))
      try set("a=1; max-age=99999999")
      #expect(store.cookies(at: Sample.now).first?.expires == Sample.now + kept)
    }
  }

  @Test mutating func `sending a cookie counts as use`() throws {
    try set("a=1")
    try set("b=2; path=/x")
    _ = header(at: Sample.now + 7)
    #expect(store.cookies(at: Sample.now).map(\.lastAccess) == [Sample.now + 7, Sample.now])
  }

  // MARK: What an insecure connection may not do

  @Test(arguments: [
    ("https://www.a.example/", "a=1; secure", "http://www.a.example/", "a=2"),
    ("https://www.a.example/", "a=1; secure", "http://www.a.example/x/y", "a=2"),
    ("https://www.a.example/", "a=1; secure; domain=a.example", "http://www.a.example/", "a=2"),
    ("https://www.a.example/", "a=1; secure", "http://a.example/", "a=2; domain=a.example"),
    ("https://www.a.example/login", "a=1; secure; path=/login", "http://www.a.example/", "a=2; path=/login/en"),
  ])
  mutating func `an insecure connection does not overlay a Secure cookie of the same name`(
    _ url: String, _ field: String, _ insecureURL: String, _ insecure: String
  ) throws {
    try set(field, from: url)
    let filled = self
    #expect(throws: CookieRejection.overlaysSecure) {
      var copy = filled
      try copy.set(insecure, from: insecureURL)
    }
    try set(insecure, from: insecureURL.replacing("http:", with: "https:"))
  }

  @Test(arguments: [
    ("a=1", "http://www.a.example/", "a=2", ["a=2"]),
    ("a=1; secure", "http://www.a.example/", "b=2", ["a=1 secure", "b=2"]),
    ("a=1; secure", "http://w.a.example/", "a=2", ["a=1 secure", "a=2"]),
    ("a=1; secure; path=/login", "http://www.a.example/", "a=2; path=/", ["a=1 secure", "a=2"]),
    ("a=1; secure; path=/login", "http://www.a.example/", "a=2; path=/loginx", ["a=1 secure", "a=2"]),
  ])
  mutating func `an insecure connection sets what leaves Secure cookies alone`(
    _ field: String, _ insecureURL: String, _ insecure: String, _ cookies: [String]
  ) throws {
    try set(field)
    try set(insecure, from: insecureURL)
    let found = store.cookies(at: Sample.now).map { "\($0.name)=\($0.value)\($0.isSecure ? " secure" : "")" }
    #expect(found.sorted() == cookies)
  }

  @Test mutating func `a Secure cookie that has expired protects nothing`() throws {
    try set("a=1; secure; max-age=5")
    try set("a=2", from: "http://www.a.example/", at: Sample.now + 5)
    #expect(header(at: Sample.now + 5) == "a=2")
  }

  // MARK: Going

  @Test mutating func `what is removed leaves no empty domain behind`() throws {
    try set("a=1")
    try set("b=2; domain=a.example")
    try set("c=3", from: "https://b.example/")
    #expect(store.removeAll { $0.cookie.name != "c" } == 2)
    #expect(store.cookies(at: Sample.now).map(\.name) == ["c"])
    #expect(store.table.count == 1)
    #expect(store.families.count == 1)
    #expect(store.count == 1)
  }

  @Test(arguments: 0..<8 as Range<UInt64>)
  mutating func `the store holds what a plain list of cookies would`(_ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var list: [Cookie] = []
    var now = Sample.now
    let hosts = ["a.example", "www.a.example", "x.www.a.example", "b.example", "192.0.2.1", "localhost"]
    for _ in 0..<400 {
      now = now + Int64.random(in: 0...2, using: &random)
      let url = "https://\(hosts.randomElement(using: &random) ?? "")/x/y"
      let path = random.text(of: ["; path=/", "; path=/x", "; path=/z"], upTo: 1)
      let domain = random.text(of: ["; domain=a.example", "; domain=www.a.example"], upTo: 1)
      let age = random.text(of: ["; max-age=0", "; max-age=9"], upTo: 1)
      let field =
        "\(Int.random(in: 0...2, using: &random))=\(Int.random(in: 0...9, using: &random))\(path)\(domain)\(age)"
      if var cookie = try? set(field, from: url, at: now) {
        if let index = list.firstIndex(where: { cookie.replaces($0) && !$0.isExpired(at: now) }) {
          cookie.creation = list[index].creation
          list[index] = cookie
        } else {
          list.removeAll { cookie.replaces($0) }
          list.append(cookie)
        }
        list.removeAll { $0.replaces(cookie) && $0.isExpired(at: now) }
      }
      let request = Sample.request(url)
      let expected = list.enumerated().filter { $0.element.isSent(with: request, at: now) }
        .sorted { ($1.element.path.count, $0.offset) < ($0.element.path.count, $1.offset) }
        .map { "\($0.element.name)=\($0.element.value)" }
      #expect((store.header(for: request, at: now) ?? "") == expected.joined(separator: "; "))
    }
  }
}

struct CookieHeaderTests {
  private func value(_ fields: String..., limit: Int = 8_190) -> String? {
    CookieHeader.value(of: fields.compactMap { Sample.cookie($0) }, limit: limit)
  }

  @Test func `pairs stand in the order given; one without a name is its value alone`() {
    #expect(value("b=1", "a=\"2\"", "c=", "d") == "b=1; a=\"2\"; c=; d")
    #expect(value() == nil)
  }

  @Test func `a line has at most so many bytes, and a cookie that no longer fits is left out`() {
    // "Cookie: a=1; b=22; c=3" has 22 bytes.
    #expect(value("a=1", "b=22", "c=3", limit: 22) == "a=1; b=22; c=3")
    for none in [0, -1, Int.min] { #expect(value("a=1", limit: none) == nil) }
    #expect(value("a=1", "b=22", "c=3", limit: 21) == "a=1; b=22")
    #expect(value("a=1", "b=22", "c=3", limit: 16) == "a=1; c=3")
    #expect(value("a=1", limit: 10) == nil)
  }

  @Test func `bytes are counted, not characters`() {
    #expect(value("é=é", limit: 13) == "é=é")
    #expect(value("é=é", limit: 12) == nil)
  }
}
