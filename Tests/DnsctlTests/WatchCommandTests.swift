// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import DirectDNS
@testable import DnsctlCommands

@Suite(.timeLimit(.minutes(1)))
struct WatchCommandTests {
  private func fixture() -> CommandFixture {
    var fixture = CommandFixture()
    fixture.zone = [
      "www.example.com": .addresses(["192.0.2.1", "192.0.2.2"]), "api.example.com": .addresses(["192.0.2.3"]),
    ]
    return fixture
  }

  @Test func `where standard output is no terminal each interval prints a table`() async {
    let fixture = fixture()
    let outcome = await fixture.run([
      "watch", "--count", "3", "--interval", "2.5", "--no-system", "www.example.com", "no.example.com",
    ])
    #expect(outcome.status == 0 && outcome.errors == "")
    #expect(outcome.output.components(separatedBy: "NAME ").count == 4)
    #expect(!outcome.output.contains("\u{1b}"))
    #expect(
      outcome.output.contains("hit rate 33 % (2 of 6)"), "the first look finds nothing, and an absent name never does")
    #expect(outcome.output.contains("no.example.com does not exist"))
    #expect(fixture.pauses.withLock { $0 } == [.seconds(2.5), .seconds(2.5)])
  }

  @Test func `with json each interval is a line`() async throws {
    let outcome = await fixture().run([
      "watch", "--count", "2", "--format", "json", "--family", "ipv4", "WWW.example.com.",
    ])
    let lines = outcome.output.split(separator: "\n")
    #expect(lines.count == 2)
    let last = try #require(JSONSerialization.jsonObject(with: Data(lines[1].utf8)) as? [String: Any])
    #expect(last["lookups"] as? Int == 2 && last["hits"] as? Int == 1)
    let row = try #require((last["names"] as? [[String: Any]])?.first)
    #expect(row["host"] as? String == "www.example.com" && row["freshness"] as? String == "fresh")
    // Addresses that nobody has connected to yet take turns.
    #expect((row["addresses"] as? [String])?.sorted() == ["192.0.2.1", "192.0.2.2"])
    #expect(row["provider"] as? String == "alidns")
    let provider = try #require((last["upstreams"] as? [[String: Any]])?.first)
    #expect(provider["provider"] as? String == "alidns" && provider["queries"] as? Int == 1, "\(provider)")
  }

  @Test func `names that the configuration keeps alive are watched too, each once`() async throws {
    let folder = try TestFolder()
    let path = folder.path + "/c.json5"
    try #"{ keepAlive: ["api.example.com", "www.example.com"] }"#.write(toFile: path, atomically: true, encoding: .utf8)
    let outcome = await fixture().run(["watch", "--count", "1", "--config", path, "www.example.com"])
    #expect(outcome.output.contains("2 names") && outcome.output.contains("api.example.com"))
  }

  @Test func `names come from files and from standard input as well`() async {
    var fixture = fixture()
    fixture.files["/hosts"] = "# ours\nwww.example.com # the first\nWWW.EXAMPLE.COM.\n"
    fixture.input = ScriptedInput(["api.example", ".com\n"])
    let outcome = await fixture.run(["watch", "--count", "1", "--hosts", "/hosts", "--hosts", "-"])
    #expect(outcome.output.contains("2 names") && outcome.output.contains("api.example.com"), "\(outcome)")
    fixture.input = ScriptedInput(["api.example.com\n"])
    let short = await fixture.run(["watch", "--count", "1", "www.example.com", "-"])
    #expect(short.output.contains("2 names") && short.output.contains("api.example.com"), "\(short)")
    let missing = await fixture.run(["watch", "--hosts", "/none"])
    #expect(missing.status == 74 && missing.errors.contains("--hosts: there is no file /none."))
  }

  @Test func `a name that does not exist is negative, and one that nobody could be asked about has failed`() async {
    var fixture = fixture()
    fixture.zone["down.example.com"] = .failure(.connect("refused"))
    let outcome = await fixture.run([
      "watch", "--count", "1", "--no-system", "no.example.com", "six.example.com", "down.example.com",
    ])
    let states = outcome.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    for (name, state) in [("no", "negative"), ("six", "negative"), ("down", "failed")] {
      #expect(states.contains { $0.count > 1 && $0[0] == "\(name).example.com" && $0[1] == state }, "\(outcome.output)")
    }
  }

  @Test func `at a terminal a key tells the keys, and another quits`() async {
    var fixture = fixture()
    (fixture.isTerminal, fixture.isInputTerminal) = (true, true)
    let output = fixture.output
    fixture.input = ScriptedInput(chunks: [.init(text: "x?"), .init(text: "q") { await output.hasWritten(4) }])
    let outcome = await fixture.run(["watch", "www.example.com"])
    #expect(outcome.status == 0)
    #expect(outcome.output.contains(WatchKey.legend), "\(outcome.output)")
    #expect(fixture.keyModes.withLock { $0 } == [true, false], "the terminal is given back")
  }

  @Test func `where standard input is no terminal nobody reads it`() async {
    var fixture = fixture()
    fixture.isTerminal = true
    fixture.interruption = .interrupted
    fixture.input = ScriptedInput(["q"])
    #expect(await fixture.run(["watch", "www.example.com"]).status == 130)
    #expect(fixture.input.reads.withLock { $0 } == 0 && fixture.keyModes.withLock { $0 } == [])
  }

  @Test func `other names are watched without losing what is known of those that stay`() async throws {
    let resolver = try DirectResolver(ResolverConfiguration(providers: []))
    let watcher = Watcher(["127.0.0.1", "127.0.0.2"], resolver: resolver, options: .init(), clock: StillClock())
    await withTaskGroup { watcher.look(in: &$0) }
    watcher.watch(["127.0.0.3", "127.0.0.2"], options: .init())
    #expect(watcher.snapshot.rows.map(\.host) == ["127.0.0.3", "127.0.0.2"])
    #expect(watcher.snapshot.rows.map(\.lookups) == [0, 1])
    await withTaskGroup { watcher.look(in: &$0) }
    #expect(watcher.snapshot.rows.map(\.lookups) == [1, 2])
  }

  @Test func `without a name there is nothing to watch`() async {
    let outcome = await fixture().run(["watch"])
    #expect(outcome.status == 64 && outcome.errors.contains("nothing to watch"))
    #expect(await fixture().run(["watch", "--count", "0", "a.example"]).status == 64)
    #expect(await fixture().run(["watch", "--interval", "0.01", "a.example"]).status == 64)
  }

  @Test(arguments: [130, 143] as [Int32])
  func `on a terminal it draws in place, and gives the screen back however it ends`(_ end: Int32) async {
    var fixture = fixture()
    fixture.isTerminal = true
    fixture.interruption = .init(rawValue: end)
    let outcome = await fixture.run(["watch", "www.example.com"])
    #expect(outcome.status == end)
    #expect(outcome.output.hasPrefix("\u{1b}[?1049h\u{1b}[?25l"))
    let after = outcome.output.components(separatedBy: "\u{1b}[?25h\u{1b}[?1049l")
    #expect(after.count == 2 && after[1].contains("www.example.com"), "the last picture stays")
  }

  @Test func `the error of a refresh that failed behind an answer is shown`() {
    let resolver = try? DirectResolver(ResolverConfiguration(providers: []))
    let watcher = resolver.map { Watcher(["a.example"], resolver: $0, options: LookupOptions(), clock: StillClock()) }
    let observer = Watcher.observer { watcher }
    guard let host = try? HostName("a.example") else { return }
    observer(
      .query(
        .init(
          provider: "google", origin: "https://dns.google", question: AddressQuestion(host, .ipv4), address: nil,
          status: 502, outcome: "HTTP 502", isAnswer: false, isHedge: false, duration: .seconds(1))))
    #expect(watcher?.snapshot.rows.first?.lastError == "google: HTTP 502")
  }
}
