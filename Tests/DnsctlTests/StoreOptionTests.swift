// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import Testing

@testable import DirectDNS
@testable import DirectDNSConfiguration
@testable import DnsctlCommands

@Suite struct `A store's place` {
  @Test(
    arguments: [
      ("memory", .memory), ("sqlite", .file(nil)), ("SQLite", .file(nil)), ("sqlite:a.db", .file("a.db")),
      ("sqlite:answers", .file("answers")), ("./answers", .file("./answers")), ("a.db", .file("a.db")),
      ("/var/cache/a:b", .file("/var/cache/a:b")), ("redis://cache", .server("redis://cache")),
      ("valkey://:pw@[::1]:7000/3", .server("valkey://:pw@[::1]:7000/3")),
      ("redis+unix:///run/redis.sock", .server("redis+unix:///run/redis.sock")),
      // Its store knows better why not.
      ("rediss://cache", .server("rediss://cache")),
    ] as [(String, StorePlace)])
  func `is read from what people write`(text: String, place: StorePlace) throws {
    #expect(try StorePlace(text) == place)
  }

  @Test(arguments: [
    ("", "\"\" is not a store. Write memory, sqlite, sqlite:PATH, a path, or redis://HOST."),
    ("memroy", "\"memroy\" is not a store."), ("memory:x", "\"memory:x\" is not a store."),
    ("sqlite:", "names no file"),
    ("/var/cache/", "names no file"), ("sqlite::memory:", "names no file"),
    ("sqlite:file:a.db", "has a URI"), ("file:a.db", "has a URI"), ("sqlite:~/a.db", "has a ~"),
    ("mysql://:pw@cache", "\"mysql://\" is not the URL of a store"),
    ("file:///a.db", "\"file://\" is not the URL of a store"),
    ("redis:cache.example", "write redis://HOST"), ("@/run/secrets/store", "on the command line alone"),
  ])
  func `that is none is refused, with what to write and without a password`(text: String, part: String) {
    let fault = #expect(throws: ConfigurationFault.self) { try StorePlace(text) }
    #expect(fault?.message.contains(part) == true, "\(fault?.message ?? "")")
    #expect(fault?.message.contains("pw") != true)
  }

  @Test func `without a name is not taken for a file`() {
    let fault = #expect(throws: ConfigurationFault.self) { try StorePlace("") }
    #expect(fault?.message.contains("A file of that name") == false)
  }

  @Test(arguments: ["", "home/me"]) func `has no folder under a home that is not an absolute path`(_ home: String) {
    let setting = StoreSetting(place: .file(nil), origin: "--store")
    let error = #expect(throws: CommandError.self) { try setting.path(["HOME": home]) }
    #expect(error?.message.contains("HOME is not an absolute path. Name a file") == true)
  }

  @Test(
    arguments: [
      (["XDG_CACHE_HOME": "/x", "HOME": "/h"], "/x/directdns/answers.sqlite"),
      (["XDG_CACHE_HOME": "x", "HOME": "/h"], "/h/.cache/directdns/answers.sqlite"),
      (["HOME": "/h"], "/h/.cache/directdns/answers.sqlite"), ([:], nil),
    ] as [([String: String], String?)])
  func `without a path is in the user's cache folder`(environment: [String: String], path: String?) throws {
    let setting = StoreSetting(place: .file(nil), origin: "--store")
    guard let path else {
      let error = #expect(throws: CommandError.self) { try setting.path(environment) }
      #expect(error?.message.contains("HOME is not set") == true)
      return
    }
    #expect(try setting.path(environment) == path)
  }

  @Test(arguments: ["nowhere", "rediss://:pw@cache?x", "redis://:pw@cache/x", "gopher://:pw@cache"])
  func `that cannot be used ends a command with 64, naming the option and no secret`(text: String) async {
    for command in [["resolve", "a.example"], ["rewrite", "http://a.example/"], ["fetch", "http://a.example/"]] {
      let outcome = await CommandFixture().run(command + ["--store", text])
      #expect(outcome.status == 64)
      #expect(outcome.errors.hasPrefix("dnsctl: --store: "), "\(outcome.errors)")
      #expect(outcome.errors.hasSuffix("See dnsctl \(command[0]) --help.\n"))
      #expect(!outcome.errors.contains("pw"))
    }
  }
}

@Suite struct `The store that settings come to` {
  private func place(_ arguments: [String] = [], variable: String? = nil, file: String? = nil) throws -> StorePlace? {
    var fixture = CommandFixture(environment: variable.map { ["DIRECTDNS_STORE": $0] } ?? [:])
    fixture.files = file.map { ["/etc/dns/c.json5": "{ store: \"\($0)\" }"] } ?? [:]
    let command = try ResolveCommand.parse(
      arguments + (file == nil ? [] : ["--config", "/etc/dns/c.json5"]) + ["a.example"])
    return try command.lookupArguments.settings(in: fixture.context).store?.place
  }

  @Test func `is the option's, else the variable's, else the file's, else none`() throws {
    #expect(try place() == nil)
    #expect(try place(file: "sqlite") == .file(nil))
    #expect(try place(variable: "./a.db", file: "sqlite") == .file("./a.db"))
    #expect(try place(["--store", "memory"], variable: "./a.db", file: "sqlite") == .memory)
    #expect(try place(variable: "", file: "redis://cache") == .server("redis://cache"))
  }

  @Test(arguments: [
    ("sqlite:answers.db", "/etc/dns/answers.db"), ("./answers.db", "/etc/dns/./answers.db"), ("/a.db", "/a.db"),
  ])
  func `goes from the file's folder where the file says it`(text: String, path: String) throws {
    #expect(try place(file: text) == .file(path))
  }

  @Test(arguments: ["nowhere", "rediss://:pw@cache?x", "gopher://:pw@cache"])
  func `that cannot be used ends with 78, naming the variable or the key and no secret`(text: String) async {
    let variable = await CommandFixture(environment: ["DIRECTDNS_STORE": text]).resolve(["a.example"])
    #expect(variable.status == 78)
    #expect(variable.errors.hasPrefix("dnsctl: DIRECTDNS_STORE: "), "\(variable.errors)")
    var fixture = CommandFixture()
    fixture.files = ["/c.json5": "{ store: \"\(text)\" }"]
    let file = await fixture.resolve(["--config", "/c.json5", "a.example"])
    #expect(file.status == 78)
    #expect(file.errors.hasPrefix("dnsctl: /c.json5: store: "), "\(file.errors)")
    #expect(!(variable.errors + file.errors).contains("pw"))
  }
}

@Suite(.timeLimit(.minutes(1))) struct `A command with a store` {
  private let zone: [String: Zone.Entry] = [
    "www.example.com": .addresses(["192.0.2.10", "2001:db8::10"]), "none.example.com": .missing,
  ]
  private let dead: [String: Zone.Entry] = ["www.example.com": .failure(.connect("refused"))]

  private static let options = ["--provider", "google", "--no-system", "--family", "ipv4"]
  /// Has the fixture's own store used.
  private static let some = ["--store", "sqlite"]

  private func resolve(_ arguments: String..., zone: [String: Zone.Entry], in store: (any AnswerStore)? = nil) async
    -> CommandFixture.Outcome
  {
    var fixture = CommandFixture(zone: zone)
    fixture.store = store
    return await fixture.resolve(Self.options + (store == nil ? [] : Self.some) + arguments)
  }

  @Test func `leaves what it learned to the next one, which says where that came from`() async throws {
    let folder = try TestFolder()
    let store = ["--store", folder.path + "/new/answers.sqlite"]
    let first = await resolve(store[0], store[1], "www.example.com", zone: zone)
    #expect(first.output == "www.example.com  192.0.2.10       ttl 300 s  fresh  google  0.0 ms\n")
    #expect(first.errors == "")
    let second = await resolve(store[0], store[1], "www.example.com", zone: dead)
    #expect(second.output == "www.example.com  192.0.2.10       ttl 300 s  fresh  store  0.0 ms\n")
    #expect(second == CommandFixture.Outcome(status: 0, output: second.output, errors: ""))
    let json = await resolve(store[0], store[1], "--format", "json", "www.example.com", zone: dead)
    #expect(json.output.contains(#""freshness":"fresh","source":"store","provider":null"#))
  }

  @Test func `makes its file and folder for the user alone, in the cache folder`() async throws {
    let folder = try TestFolder()
    let fixture = CommandFixture(zone: zone, environment: ["XDG_CACHE_HOME": folder.path])
    _ = await fixture.resolve(["--provider", "google", "--store", "sqlite", "www.example.com"])
    func mode(_ path: String) throws -> Int {
      try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }
    #expect(try mode(folder.path + "/directdns") == 0o700)
    #expect(try mode(folder.path + "/directdns/answers.sqlite") == 0o600)
  }

  @Test func `answers every stored name while every provider is dead`() async throws {
    let store = MemoryAnswerStore()
    let names = (0..<50).map { "host\($0).example.com" }
    for (index, name) in names.enumerated() {
      let asked = WallInstant(milliseconds: 1_700_000_000_000) - .seconds(index * 1000)
      store.write([
        StoredAnswer(
          AddressQuestion(try HostName(name), .ipv4), .addresses([.ipv4(UInt32(index))]), provider: "other",
          asked: asked, expires: asked + .seconds(300), gone: asked + .seconds(86_700))
      ])
    }
    var fixture = CommandFixture(zone: Dictionary(uniqueKeysWithValues: names.map { ($0, .failure(.timedOut)) }))
    fixture.store = store
    let outcome = await fixture.resolve(Self.options + Self.some + ["--format", "json"] + names)
    #expect(outcome.status == 0)
    #expect(outcome.output.split(separator: "\n").count == 50)
    #expect(outcome.output.contains(#""age":49000,"freshness":"stale","source":"store""#))
  }

  /// Opening it is a part of the first look, on a busy machine too.
  @Test(
    arguments: [
      (["resolve"], .seconds(1)), (["resolve", "--timeout", "0.5"], .milliseconds(100)), (["warmup"], .seconds(1)),
    ] as [([String], Duration)])
  func `waits for it for a second, or a fifth of a lookup's time`(command: [String], time: Duration) async throws {
    var fixture = CommandFixture(zone: zone)
    fixture.store = MemoryAnswerStore()
    var context = fixture.context
    let (times, makeResolver) = (Locked<[Duration]>([]), context.makeResolver)
    context.makeResolver = { configuration, servers throws(DirectDNSError) in
      times.withLock { $0.append(configuration.storeTimeout) }
      return try makeResolver(configuration, servers)
    }
    let words = command + Self.options + Self.some + ["www.example.com"]
    let parsed = try #require(try Dnsctl.parseAsRoot(words) as? any ContextCommand)
    #expect(await parsed.status(in: context) == .answered)
    #expect(times.withLock(\.self) == [time])
  }

  @Test func `has the refresh behind a stored answer stored before it ends`() async throws {
    let store = MemoryAnswerStore()
    let question = AddressQuestion(try HostName("www.example.com"), .ipv4)
    let asked = WallInstant(milliseconds: 1_700_000_000_000) - .seconds(80)
    store.write([
      StoredAnswer(
        question, .addresses([.ipv4(0xc000_0201)]), provider: "other", asked: asked, expires: asked + .seconds(100),
        gone: asked + .seconds(86_500))
    ])
    let outcome = await resolve("www.example.com", zone: zone, in: store)
    #expect(outcome.output == "www.example.com  192.0.2.1        ttl 20 s  due  store  0.0 ms\n")
    #expect(store.read([question]).first?.content == .addresses([.ipv4(0xc000_020a)]))
  }

  @Test func `also leaves what it learned when it ends with an error`() async throws {
    let store = MemoryAnswerStore()
    var fixture = CommandFixture(zone: zone)
    fixture.store = store
    fixture.output.close(after: 0)
    #expect(await fixture.resolve(Self.options + Self.some + ["www.example.com"]).status == 141)
    #expect(store.read([AddressQuestion(try HostName("www.example.com"), .ipv4)]).count == 1)
    #expect(await resolve("none.example.com", zone: [:], in: store).status == 1)
  }

  @Test(arguments: [
    ("/dev/null/answers.sqlite", "The store \"/dev/null/answers.sqlite\" cannot be opened (Not a directory)."),
    // Nobody makes a folder there, and the file alone would say that there is none.
    ("/sys/directdns/answers.sqlite", "cannot be opened (its folder \"/sys/directdns\" cannot be made: "),
    ("redis+unix:///nowhere/redis.sock", "The Redis store at \"/nowhere/redis.sock\" cannot be reached"),
  ])
  func `works without one that cannot be used, and says why once`(store: String, message: String) async {
    let outcome = await resolve("--store", store, "www.example.com", "www.example.com", zone: zone)
    let line = "www.example.com  192.0.2.10       ttl 300 s  fresh  google  0.0 ms\n"
    #expect(outcome.output == line + line)
    #expect(outcome.status == 0)
    #expect(outcome.errors.components(separatedBy: message).count == 2, "\(outcome.errors)")
    // By the clock of the Redis store what was stamped by the test's, years ago, is gone: it is not written again.
    guard !store.hasPrefix("redis") else { return }
    #expect(outcome.errors.hasSuffix("dnsctl: 1 answer was not stored.\n"), "\(outcome.errors)")
  }

  @Test func `leaves a file alone that is none of ours, and works without it`() async throws {
    let folder = try TestFolder()
    let path = folder.path + "/notes.txt"
    try "not yours".write(toFile: path, atomically: false, encoding: .utf8)
    for _ in 0..<2 {
      let outcome = await resolve("--store", path, "www.example.com", zone: zone)
      #expect(outcome.output == "www.example.com  192.0.2.10       ttl 300 s  fresh  google  0.0 ms\n")
      #expect(
        outcome.errors == """
          dnsctl: The store "\(path)" is not a database. Choose another path, or move the file away if no other program needs it.
          dnsctl: 1 answer was not stored.

          """)
    }
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "not yours")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["notes.txt"])
  }

  @Test func `works without one that everybody may write to, and says what to do`() async throws {
    let folder = try TestFolder()
    let path = folder.path + "/answers.sqlite"
    _ = await resolve("--store", path, "www.example.com", zone: zone)
    try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: path)
    let outcome = await resolve("--store", path, "www.example.com", zone: zone)
    #expect(outcome.status == 0 && outcome.output.contains("google"))
    #expect(outcome.errors.contains("may be written to by everybody (mode 666)"), "\(outcome.errors)")
    #expect(outcome.errors.contains("Run chmod go-w on it."))
  }

  @Test func `rewrites and fetches with what another one learned`() async throws {
    let store = MemoryAnswerStore()
    #expect(await resolve("www.example.com", zone: zone, in: store).status == 0)
    var fixture = CommandFixture(zone: dead)
    fixture.store = store
    let outcome = await fixture.run(
      ["rewrite"] + Self.options + Self.some + ["--allow", "192.0.2.0/24", "http://www.example.com/"])
    #expect(outcome.output.contains("http://192.0.2.10/"), "\(outcome)")
    #expect(fixture.transport.asked.withLock { $0 } == [])
    try await FetchFixture.with { site in
      let store = MemoryAnswerStore()
      var fixture = CommandFixture()
      fixture.store = store
      #expect(await site.fetch(Self.some + ["--family", "ipv4", site.url()], in: fixture).status == 0)
      let answer = try #require(store.read([AddressQuestion(try HostName("shop.example"), .ipv4)]).first)
      #expect(answer.content == .addresses([.ipv4(0x7f00_0001)]))
      #expect(answer.provider == "google")
    }
  }
}

@Suite struct `A configuration file that others may write to` {
  private func resolve(_ mode: Int, owner: Int? = nil, group: Int? = nil) async throws -> (
    CommandFixture.Outcome, String
  ) {
    let folder = try TestFolder()
    let path = folder.path + "/config.json5"
    try "{}".write(toFile: path, atomically: false, encoding: .utf8)
    var attributes: [FileAttributeKey: Any] = [.posixPermissions: mode]
    attributes[.ownerAccountID] = owner
    attributes[.groupOwnerAccountID] = group
    try FileManager.default.setAttributes(attributes, ofItemAtPath: path)
    var fixture = CommandFixture(zone: ["www.example.com": .addresses(["192.0.2.1"])])
    fixture.files = [path: "{}"]
    let outcome = await fixture.resolve(
      [
        "--provider", "google", "--no-system", "--config", path, "--format", "short", "--family", "ipv4",
        "www.example.com",
      ])
    return (outcome, path)
  }

  @Test func `is refused where everybody may`() async throws {
    let (outcome, path) = try await resolve(0o646)
    #expect(
      outcome
        == .init(
          status: 78, output: "",
          errors:
            "dnsctl: \(path): the configuration file may be written to by everybody (mode 646), so anybody can say where names lead. Run chmod go-w on it.\n"
        ))
  }

  @Test(
    .enabled(if: getuid() == 0, "only root can give a file away"),
    arguments: [(0o644, 12345, 0, "belongs to user 12345"), (0o664, 0, 12345, "may be written to by group 12345")])
  func `is warned of where another user or a group may`(_ mode: Int, _ owner: Int, _ group: Int, _ words: String)
    async throws
  {
    let (outcome, path) = try await resolve(mode, owner: owner, group: group)
    #expect(outcome.status == 0 && outcome.output == "192.0.2.1\n")
    #expect(outcome.errors.hasPrefix("dnsctl: \(path): the configuration file \(words), "), "\(outcome.errors)")
    #expect(outcome.errors.split(separator: "\n").count == 1)
  }

  @Test func `is used without a word where nobody else may`() async throws {
    #expect(try await resolve(0o644).0 == .init(status: 0, output: "192.0.2.1\n", errors: ""))
  }
}
