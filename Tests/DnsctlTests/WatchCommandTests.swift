import Foundation
import Testing

@testable import DirectDNS
@testable import dnsctl

@Suite(.timeLimit(.minutes(1)))
struct WatchCommandTests {
  private func world() -> World {
    var world = World()
    world.zone = [
      "www.example.com": .addresses(["192.0.2.1", "192.0.2.2"]), "api.example.com": .addresses(["192.0.2.3"]),
    ]
    return world
  }

  @Test func `where standard output is no terminal each interval prints a table`() async {
    let world = world()
    let outcome = await world.run([
      "watch", "--count", "3", "--interval", "2.5", "--no-system", "www.example.com", "no.example.com",
    ])
    #expect(outcome.status == 0 && outcome.errors == "")
    #expect(outcome.output.components(separatedBy: "NAME ").count == 4)
    #expect(!outcome.output.contains("\u{1b}"))
    #expect(
      outcome.output.contains("hit rate 33 % (2 of 6)"), "the first look finds nothing, and an absent name never does")
    #expect(outcome.output.contains("no.example.com does not exist"))
    #expect(world.pauses.withLock { $0 } == [.seconds(2.5), .seconds(2.5)])
  }

  @Test func `with json each interval is a line`() async throws {
    let outcome = await world().run(["watch", "--count", "2", "--format", "json", "WWW.example.com."])
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
    #expect(provider["provider"] as? String == "alidns" && provider["queries"] as? Int == 2)
  }

  @Test func `names that the configuration keeps alive are watched too, each once`() async {
    var world = world()
    world.files["/c.json5"] = #"{ keepAlive: ["api.example.com", "www.example.com"] }"#
    let outcome = await world.run(["watch", "--count", "1", "--config", "/c.json5", "www.example.com"])
    #expect(outcome.output.contains("2 names") && outcome.output.contains("api.example.com"))
  }

  @Test func `without a name there is nothing to watch`() async {
    let outcome = await world().run(["watch"])
    #expect(outcome.status == 64 && outcome.errors.contains("nothing to watch"))
    #expect(await world().run(["watch", "--count", "0", "a.example"]).status == 64)
    #expect(await world().run(["watch", "--interval", "0.01", "a.example"]).status == 64)
  }

  @Test(arguments: [130, 143] as [Int32])
  func `on a terminal it draws in place, and gives the screen back however it ends`(_ end: Int32) async {
    var world = world()
    world.isTerminal = true
    world.interruption = .init(rawValue: end)
    let outcome = await world.run(["watch", "www.example.com"])
    #expect(outcome.status == end)
    #expect(outcome.output.hasPrefix("\u{1b}[?1049h\u{1b}[?25l"))
    let after = outcome.output.components(separatedBy: "\u{1b}[?25h\u{1b}[?1049l")
    #expect(after.count == 2 && after[1].contains("www.example.com"), "the last picture stays")
  }

  @Test func `the error of a refresh that failed behind an answer is shown`() {
    let resolver = try? Resolver(ResolverConfiguration(providers: []))
    let watcher = resolver.map { Watcher(["a.example"], resolver: $0, options: LookupOptions(), clock: StillClock()) }
    let hear = Watcher.hearing { watcher }
    guard let host = try? HostName("a.example") else { return }
    hear(
      .attempt(
        .init(
          provider: "google", origin: "https://dns.google", question: AddressQuestion(host, .ipv4), address: nil,
          status: 502, outcome: "HTTP 502", isAnswer: false, isHedge: false, duration: .seconds(1))))
    #expect(watcher?.snapshot.rows.first?.lastError == "google: HTTP 502")
  }
}
