// SPDX-License-Identifier: Apache-2.0
import DirectDNSSQLite
import Foundation
import Testing

@testable import DirectDNS
@testable import DnsctlCommands

/// A store with an answer of every freshness and kind, as it stands at the fixture's wall clock.
private struct CacheFixture {
  let store = MemoryAnswerStore()
  var fixture = CommandFixture(zone: ["www.example.com": .addresses(["192.0.2.20", "2001:db8::20"])])

  static let now = WallInstant(milliseconds: 1_700_000_000_000)

  init() throws {
    try add("www.example.com", "192.0.2.1", "192.0.2.2", age: 0, provider: "alidns")
    try add("www.example.com", "2001:db8::1", age: 80, provider: "google", alias: "web.example.net")
    try add("grace.example.com", "192.0.2.3", age: 110, provider: "google")
    try add("stale.example.org", "192.0.2.4", age: 7300, provider: "alidns")
    try add("old.example.org", "192.0.2.5", age: 90_000, provider: "alidns")
    try add("xn--bcher-kva.example.net", age: 10, provider: "google")
  }

  func add(
    _ name: String, _ addresses: String..., age: Int, provider: String, alias: String? = nil
  ) throws {
    let list = addresses.compactMap { IPAddress($0) }
    let asked = Self.now - .seconds(age)
    store.write([
      StoredAnswer(
        AddressQuestion(try HostName(name), list.first?.family ?? .ipv4),
        list.isEmpty ? .negative(.nameNotFound) : .addresses(list), canonicalName: try alias.map { try HostName($0) },
        provider: provider, asked: asked, expires: asked + .seconds(100),
        gone: asked + .seconds(list.isEmpty ? 100 : 86_500))
    ])
  }

  /// Runs `dnsctl cache` on the store.
  func run(_ arguments: String...) async -> CommandFixture.Outcome { await run(arguments) }

  func run(_ arguments: [String]) async -> CommandFixture.Outcome {
    var fixture = fixture
    fixture.store = store
    return await fixture.run(["cache"] + arguments + ["--store", "redis://cache.example"])
  }

  func isStored(_ name: String, _ family: IPAddress.Family = .ipv4) throws -> Bool {
    !store.read([AddressQuestion(try HostName(name), family)]).isEmpty
  }
}

@Suite struct `dnsctl cache list` {
  @Test func `shows every answer with its place in life, by name`() async throws {
    let outcome = try await CacheFixture().run("list")
    #expect(
      outcome.output == """
        NAME                       TYPE  TTL    FRESHNESS  AGE    SOURCE  ADDRESSES
        grace.example.com          A     -10 s  grace      110 s  google  192.0.2.3
        old.example.org            A     -24 h  gone       25 h   alidns  192.0.2.5
        stale.example.org          A     -2 h   stale      2 h    alidns  192.0.2.4
        www.example.com            A     100 s  fresh      0 s    alidns  192.0.2.1, 192.0.2.2
        www.example.com            AAAA  20 s   due        80 s   google  2001:db8::1
        xn--bcher-kva.example.net  A     90 s   fresh      10 s   google  nxdomain

        """)
    #expect(outcome == CommandFixture.Outcome(status: 0, output: outcome.output, errors: ""))
  }

  @Test(
    arguments: [
      (["*.example.com"], ["grace.example.com", "www.example.com"]),
      (["EXAMPLE.org"], ["old.example.org", "stale.example.org"]),
      (["www", "grace"], ["grace.example.com", "www.example.com"]),
      (["bücher.example.net"], ["xn--bcher-kva.example.net"]),
      (["--freshness", "stale", "--freshness", "gone"], ["old.example.org", "stale.example.org"]),
      (["--family", "ipv6"], ["www.example.com"]), (["--freshness", "fresh", "org"], []),
      (
        ["--sort", "age"],
        ["www.example.com", "xn--bcher-kva.example.net", "grace.example.com", "stale.example.org", "old.example.org"]
      ),
      (
        ["--sort", "ttl", "--reverse"],
        ["www.example.com", "xn--bcher-kva.example.net", "grace.example.com", "stale.example.org", "old.example.org"]
      ),
      (
        ["--sort", "freshness", "--family", "ipv4"],
        ["www.example.com", "xn--bcher-kva.example.net", "grace.example.com", "stale.example.org", "old.example.org"]
      ),
      (
        ["--sort", "source", "--family", "ipv4"],
        ["old.example.org", "stale.example.org", "www.example.com", "grace.example.com", "xn--bcher-kva.example.net"]
      ),
    ] as [([String], [String])])
  func `filters and sorts, and shows names alone, each once`(arguments: [String], names: [String]) async throws {
    let outcome = try await CacheFixture().run(["list", "--format", "short"] + arguments)
    #expect(outcome.output.split(separator: "\n").map(String.init) == names)
    #expect(outcome.status == 0)
  }

  @Test func `is a line of JSON for each answer`() async throws {
    let outcome = try await CacheFixture().run("list", "--format", "json", "--family", "ipv6")
    #expect(
      outcome.output == """
        {"host":"www.example.com","type":"AAAA","addresses":["2001:db8::1"],"negative":null,"canonicalName":"web.example.net","provider":"google","asked":1699999920000,"expires":1700000020000,"gone":1700086420000,"ttl":20,"age":80,"freshness":"due"}

        """)
    let negative = try await CacheFixture().run("list", "--format", "json", "--sort", "name", "xn--")
    #expect(negative.output.contains(#""addresses":null,"negative":"nameNotFound","canonicalName":null"#))
  }

  @Test func `writes JSON as it is read, page by page, and ends when its reader has gone`() async throws {
    let folder = try TestFolder()
    let path = folder.path + "/answers.sqlite"
    var lines = AnswerFile.head
    for number in 0..<1000 {
      lines +=
        #"{"host":"host-\#(number).example","type":"A","addresses":["192.0.2.1"],"provider":"a","asked":1700000000000,"expires":1700000100000,"gone":1700086500000}"#
        + "\n"
    }
    var fixture = CommandFixture()
    fixture.input = ScriptedInput([lines])
    #expect(await fixture.run(["cache", "import", "--store", path]).output.hasPrefix("1000 stored"))
    let whole = CommandFixture()
    #expect(await whole.run(["cache", "list", "--store", path, "--format", "json"]).status == 0)
    #expect(whole.output.writes.count == 4)
    #expect(whole.output.text.split(separator: "\n").count == 1000)
    let cut = CommandFixture()
    cut.output.close(after: 1)
    #expect(await cut.run(["cache", "list", "--store", path, "--format", "json"]).status == 141)
  }

  @Test func `is coloured on a terminal alone`() async throws {
    var fixture = try CacheFixture()
    #expect(await !fixture.run("list").output.contains("\u{1b}"))
    fixture.fixture.isTerminal = true
    let coloured = await fixture.run("list").output
    #expect(coloured.contains("\u{1b}[32mfresh\u{1b}[0m") && coloured.contains("\u{1b}[33mstale\u{1b}[0m"))
  }

  @Test func `judges by the cache's times in the configuration file`() async throws {
    var fixture = try CacheFixture()
    fixture.fixture.files = ["/c.json5": "{ cache: { grace: 0, maximumStale: 100 } }"]
    let outcome = await fixture.run("list", "--config", "/c.json5", "--format", "short", "--freshness", "gone")
    #expect(outcome.output == "old.example.org\nstale.example.org\n")
  }
}

@Suite struct `dnsctl cache show` {
  @Test func `tells everything about each family`() async throws {
    let outcome = try await CacheFixture().run("show", "WWW.example.com.")
    #expect(
      outcome.output == """
        www.example.com A
          addresses  192.0.2.1, 192.0.2.2
          freshness  fresh
          source     alidns
          asked      2023-11-14T22:13:20Z (in 0 s)
          expires    2023-11-14T22:15:00Z (in 100 s)
          gone       2023-11-15T22:15:00Z (in 24 h)
        www.example.com AAAA
          addresses  2001:db8::1
          alias of   web.example.net
          freshness  due
          source     google
          asked      2023-11-14T22:12:00Z (80 s ago)
          expires    2023-11-14T22:13:40Z (in 20 s)
          gone       2023-11-15T22:13:40Z (in 24 h)

        """)
    #expect(outcome.status == 0)
  }

  @Test(arguments: [
    ("none.example.com", "dnsctl: none.example.com is not stored.\n"), ("a b", "dnsctl: \"a b\": "),
    ("192.0.2.1", "dnsctl: \"192.0.2.1\": "),
  ])
  func `says of a name that is not stored, or is none, that it is so`(name: String, error: String) async throws {
    for command in ["show", "forget"] {
      let outcome = try await CacheFixture().run(command, name, "stale.example.org")
      #expect(outcome.status == 1)
      #expect(outcome.errors.hasPrefix(error), "\(outcome.errors)")
      #expect(outcome.output.hasPrefix("stale.example.org"))
    }
  }
}

@Suite(.timeLimit(.minutes(1))) struct `dnsctl cache refresh` {
  private static let upstream = ["--provider", "google", "--no-system"]

  @Test func `asks about both families whatever is stored, and stores what is said`() async throws {
    let fixture = try CacheFixture()
    let outcome = await fixture.run(["refresh", "--format", "short", "www.example.com"] + Self.upstream)
    #expect(outcome.status == 0)
    #expect(Set(outcome.output.split(separator: "\n")) == ["192.0.2.20", "2001:db8::20"])
    #expect(fixture.fixture.transport.asked.withLock { $0 }.count == 2)
    let shown = await fixture.run("show", "--format", "json", "www.example.com")
    #expect(shown.output.contains(#""addresses":["192.0.2.20"]"#), "\(shown.output)")
    #expect(shown.output.contains(#""addresses":["2001:db8::20"]"#))
  }

  @Test func `leaves what is stored where the providers fail, with the status of resolve`() async throws {
    var fixture = try CacheFixture()
    fixture.fixture.zone = ["www.example.com": .failure(.timedOut)]
    let outcome = await fixture.run(["refresh", "www.example.com"] + Self.upstream)
    #expect(outcome.status == 2)
    #expect(outcome.output == "")
    #expect(try fixture.isStored("www.example.com") && fixture.isStored("www.example.com", .ipv6))
    #expect(await fixture.run(["refresh", "a b"] + Self.upstream).status == 1)
    #expect(await fixture.run(["refresh", "x.onion"] + Self.upstream).status == 3)
  }

  @Test func `ends with 74 where the store takes nothing`() async throws {
    let fixture = CommandFixture(zone: ["www.example.com": .addresses(["192.0.2.20"])])
    let outcome = await fixture.run(
      ["cache", "refresh", "--store", "/dev/null/answers.sqlite", "--family", "ipv4", "www.example.com"]
        + Self.upstream)
    #expect(outcome.status == 74)
    #expect(outcome.output.hasPrefix("www.example.com"))
    #expect(outcome.errors.hasSuffix("dnsctl: 1 answer was not stored.\n"), "\(outcome.errors)")
  }
}

@Suite struct `dnsctl cache forget and clear` {
  @Test func `remove both families of names, of standard input too`() async throws {
    var fixture = try CacheFixture()
    fixture.fixture.input = ScriptedInput(["www.example.com\nstale.example.org\n"])
    let outcome = await fixture.run("forget", "-")
    #expect(
      outcome
        == CommandFixture.Outcome(status: 0, output: "www.example.com  A, AAAA\nstale.example.org  A\n", errors: ""))
    #expect(try !fixture.isStored("www.example.com") && !fixture.isStored("www.example.com", .ipv6))
    #expect(try fixture.isStored("grace.example.com"))
  }

  @Test(arguments: [("y\n", true), (" YES \n", true), ("n\n", false), ("\n", false), ("", false), ("yeah\n", false)])
  func `ask a person first`(answer: String, isConfirmed: Bool) async throws {
    var fixture = try CacheFixture()
    fixture.fixture.isInputTerminal = true
    fixture.fixture.input = ScriptedInput(answer.isEmpty ? [] : [answer])
    let outcome = await fixture.run("clear")
    #expect(outcome.errors.hasPrefix("Forget 6 answers of memory? [y/N] "))
    #expect(outcome.output == (isConfirmed ? "6 answers forgotten\n" : ""))
    #expect(outcome.status == (isConfirmed ? 0 : 1))
    #expect(try fixture.isStored("www.example.com") != isConfirmed)
  }

  @Test func `ask nobody where nobody is, and do nothing without --yes`() async throws {
    let fixture = try CacheFixture()
    let outcome = await fixture.run("clear")
    #expect(outcome.status == 64)
    #expect(outcome.errors.contains("add --yes"))
    #expect(try fixture.isStored("www.example.com"))
    #expect(await fixture.run("clear", "--yes").output == "6 answers forgotten\n")
    #expect(try !fixture.isStored("www.example.com"))
  }
}

@Suite struct `dnsctl cache stats` {
  @Test func `counts by family, freshness and source`() async throws {
    let outcome = try await CacheFixture().run("stats")
    #expect(
      outcome.output == """
        store      memory
        answers    6
        families   A 5, AAAA 1
        freshness  fresh 2, due 1, grace 1, stale 1, gone 1
        negative   1
        sources    alidns 3, google 3
        oldest     2023-11-13T21:13:20Z (25 h ago)
        newest     2023-11-14T22:13:20Z (0 s ago)
        lines      397 B

        """)
    let json = try await CacheFixture().run("stats", "--format", "json").output
    #expect(
      json == """
        {"store":"memory","path":null,"answers":6,"families":{"A":5,"AAAA":1},"freshness":{"fresh":2,"due":1,"grace":1,"stale":1,"gone":1},"negative":1,"sources":{"alidns":3,"google":3},"oldest":1699910000000,"newest":1700000000000,"lineBytes":397,"fileBytes":null}

        """)
  }
}

@Suite struct `The store of dnsctl cache` {
  private static let commands = [
    ["list"], ["show", "a.example"], ["forget", "a.example"], ["clear", "--yes"], ["export"], ["stats"],
  ]

  @Test(arguments: commands)
  func `is not made by looking into it`(command: [String]) async throws {
    let folder = try TestFolder()
    let path = folder.path + "/answers.sqlite"
    let outcome = await CommandFixture().run(["cache"] + command + ["--store", path])
    #expect(outcome.status == 74)
    #expect(outcome.errors == "dnsctl: There is no store at \(path). Check the path.\n")
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test func `is the one in the cache folder unless one is named, and empty as long as it is not there`() async throws {
    let folder = try TestFolder()
    let environment = ["XDG_CACHE_HOME": folder.path]
    #expect(
      await CommandFixture(environment: environment).run(["cache", "list"]) == .init(status: 0, output: "", errors: ""))
    let empty = await CommandFixture(environment: environment).run(["cache", "stats", "--json"])
    #expect(
      empty.output.hasPrefix(#"{"store":"sqlite","path":"\#(folder.path)/directdns/answers.sqlite","answers":0,"#))
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/directdns"))
    let fixture = CommandFixture(zone: ["www.example.com": .addresses(["192.0.2.1"])], environment: environment)
    _ = await fixture.resolve(["--provider", "google", "--store", "sqlite", "--family", "ipv4", "www.example.com"])
    let list = await CommandFixture(environment: environment).run(["cache", "list", "--format", "short"])
    #expect(list.output == "www.example.com\n")
    let stats = await CommandFixture(environment: environment).run(["cache", "stats"])
    #expect(stats.output.contains("store      sqlite \(folder.path)/directdns/answers.sqlite\n"))
    #expect(stats.output.contains("\nfile       "))
  }

  @Test(
    arguments: [(["--store", "memory"], 64, "--store: "), ([], 78, "DIRECTDNS_STORE: ")] as [([String], Int32, String)])
  func `cannot be memory`(arguments: [String], status: Int32, origin: String) async {
    let outcome = await CommandFixture(environment: ["DIRECTDNS_STORE": "memory"]).run(["cache", "list"] + arguments)
    #expect(outcome.status == status)
    #expect(outcome.errors.hasPrefix("dnsctl: \(origin)A store in memory ends with its process"), "\(outcome.errors)")
  }

  @Test(arguments: commands)
  func `is left as it is where it is not a database`(command: [String]) async throws {
    let folder = try TestFolder()
    let path = folder.path + "/notes.txt"
    try "not yours".write(toFile: path, atomically: false, encoding: .utf8)
    for _ in 0..<2 {
      let outcome = await CommandFixture().run(["cache"] + command + ["--store", path])
      #expect(outcome.status == 74)
      #expect(outcome.errors == "dnsctl: The store \"\(path)\" is not a database. Choose another path.\n")
    }
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "not yours")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["notes.txt"])
  }

  @Test func `that fails ends a command with 74`() async throws {
    let folder = try TestFolder()
    let path = folder.path + "/answers.sqlite"
    try "another program's".write(toFile: folder.path + "/x", atomically: false, encoding: .utf8)
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    for command in Self.commands {
      let outcome = await CommandFixture().run(["cache"] + command + ["--store", path])
      #expect(outcome.status == 74, "\(command)")
      #expect(
        outcome.errors.contains("is not a file that can be a database. Choose another path."), "\(outcome.errors)")
    }
  }
}

@Suite struct `dnsctl cache import` {
  @Test(arguments: [(50_000, true), (64 << 20, false)])
  func `says when the store is too small for all that was imported`(_ size: Int, _ isFull: Bool) async throws {
    let folder = try TestFolder()
    var lines = AnswerFile.head
    for number in 0..<1000 {
      lines +=
        #"{"host":"host-\#(number).example","type":"A","addresses":["192.0.2.1"],"provider":"a","asked":1700000000000,"expires":1700000100000,"gone":170008\#(6500 + number)000}"#
        + "\n"
    }
    var fixture = CommandFixture()
    fixture.input = ScriptedInput([lines])
    fixture.store = SQLiteAnswerStore(SQLiteStoreConfiguration(path: folder.path + "/a.sqlite", maximumBytes: size))
    let outcome = await fixture.run(["cache", "import", "--store", "redis://cache.example"])
    var left = 0
    for number in 0..<1000 {
      left += try await fixture.store?.read([AddressQuestion(HostName("host-\(number).example"), .ipv4)]).count ?? 0
    }
    #expect((left < 1000) == isFull)
    let room = isFull ? ", \(1000 - left) without room" : ""
    #expect(outcome.output == "\(left) stored, 0 kept as newer or the same, 0 gone\(room)\n")
    #expect(outcome.errors.contains("The store is full") == isFull)
    #expect(outcome.status == (isFull ? 74 : 0))
  }
}
