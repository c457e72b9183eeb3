// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting
@testable import DnsctlCommands

/// Stores, signals and keep-alive.
extension `dnsctl warmup` {
  @Test func `what is learned is in the store, and a second warm-up asks for nothing`() async throws {
    let store = MemoryAnswerStore(clock: StillClock())
    let first = await run("--hosts", "/hosts", "--format", "json") { $0.store = store }
    #expect(try report(first).resolved == 2)
    // A store counts only where one is asked for.
    #expect(store.read([AddressQuestion(try HostName("a.example.com"), .ipv4)]).isEmpty)
    let second = await run("--hosts", "/hosts", "--format", "json", "--store", "any.db") { $0.store = store }
    #expect(try report(second).resolved == 2)
    let third = await run("--hosts", "/hosts", "--format", "json", "--store", "any.db") { $0.store = store }
    #expect(try report(third).fromStore == 2 && report(third).queries.isEmpty)
  }

  @Test(arguments: [true, false])
  func `a store that has no room for all of them is told of, and no success`(_ isJSON: Bool) async throws {
    // The younger ones push the older ones out.
    let store = MemoryAnswerStore(capacity: 1, clock: StillClock())
    let outcome = await run(["--hosts", "/hosts", "--store", "any.db"] + (isJSON ? ["--json"] : [])) {
      $0.store = store
    }
    #expect(outcome.status == 74)
    if isJSON {
      #expect(try report(outcome).evicted > 0)
    } else {
      #expect(outcome.output.contains("not kept") && outcome.output.contains("the store is full"), "\(outcome.output)")
    }
  }

  @Test func `expired answers of a store serve where nobody answers, and the summary says so`() async throws {
    let store = MemoryAnswerStore(clock: StillClock())
    let now = StillClock().wallNow
    store.write([
      StoredAnswer(
        AddressQuestion(try HostName("a.example.com"), .ipv4), .addresses([.ipv4(0xC000_0201)]), provider: "other",
        asked: now - .seconds(7200), expires: now - .seconds(3600), gone: now + .seconds(80_000))
    ])
    let outcome = await run("a.example.com", "--store", "any.db") {
      $0.store = store
      $0.zone = ["a.example.com": .failure(.connect("refused"))]
    }
    #expect(outcome.status == 0)
    #expect(outcome.output.contains("from the store  1\n"))
    #expect(outcome.output.contains("expired         1  of these: no server could be asked\n"))
    #expect(outcome.output.contains("degraded: 1 of 1 has an address"))
  }

  @Test(arguments: [130, 143] as [Int32])
  func `an interrupt ends it early, and it says how far it got`(_ end: Int32) async throws {
    // At one name a second, and a clock that stands still, the second name never begins.
    let outcome = await run("--rate", "1", "x..y", "a.example.com", "b.example.com") {
      $0.interruption = .init(rawValue: end)
    }
    #expect(outcome.status == end)
    #expect(outcome.output.contains("unfinished"))
    #expect(outcome.output.contains("stopped early"))
  }

  @Test func `a list that nobody writes holds up neither the other names nor the end`() async throws {
    let folder = try TestFolder()
    let path = folder.path + "/fifo"
    #expect(unsafe mkfifo(path, 0o600) == 0)
    // Whoever waits for a writer goes on.
    defer { close(unsafe open(path, O_RDWR)) }
    let outcome = await run("--hosts", path, "x..y", "a.example.com") { $0.interruption = .terminated }
    #expect(outcome.status == 143 && outcome.output.contains("stopped early"), "\(outcome)")
  }

  @Test func `with keep-alive it goes on until it is told to end, which is no failure`() async {
    let outcome = await run("--keep-alive", "--hosts", "/hosts") { $0.interruption = .terminated }
    #expect(outcome.status == 0)
    #expect(outcome.errors == "dnsctl: keeping 2 names fresh until told to end\n")
    #expect(outcome.output.contains("complete: 2 of 2"))
  }

  @Test func `with keep-alive the names of the configuration are kept, too, and it says so`() async {
    let outcome = await run("--keep-alive", "--config", "/c.json5", "--hosts", "/hosts") {
      $0.interruption = .terminated
      $0.files["/c.json5"] = #"{ keepAlive: ["c.example.com"] }"#
    }
    #expect(
      outcome.errors
        == "dnsctl: keeping 2 names, and those that the configuration keeps alive, fresh until told to end\n")
  }

  @Test(arguments: [(10_000, 250, 10_250), (1, nil, 1_000_001), (100_000_000, 5, 100_000_000)] as [(Int, Int?, Int)])
  func `with keep-alive there is room for its names beside the room that is configured`(
    _ configured: Int, _ expected: Int?, _ capacity: Int
  ) {
    #expect(WarmupCommand.capacity(configured, keeping: expected) == capacity)
  }

  @Test func `with keep-alive neither SIGHUP nor a file with an error ends a warm-up that is under way`() async throws {
    let folder = try TestFolder()
    let path = folder.path + "/c.json5"
    try "{ timeout: 2 }".write(toFile: path, atomically: true, encoding: .utf8)
    var fixture = fixture { $0.interruption = .terminated }
    let transport = fixture.transport
    fixture.input = ScriptedInput(chunks: [
      .init(text: "a.example.com\n"),
      .init(text: "b.example.com\n") {
        await transport.waitForAsked()
        try? "{ timeout: ".write(toFile: path, atomically: true, encoding: .utf8)
      },
    ])
    let outcome = await fixture.run(
      ["warmup", "--config", path, "--provider", "google", "--family", "ipv4", "--keep-alive", "--hosts", "-"])
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.output.contains("complete: 2 of 2"))
    #expect(fixture.ignoredHangUps.withLock(\.self) == [0])
  }

  @Test(arguments: [["--config", "/dev/null"], []])
  func `with keep-alive SIGHUP ends nothing either where the configuration is a pipe`(_ option: [String]) async throws {
    let piped = fixture {
      $0.interruption = .terminated
      $0.files["/dev/null"] = "{}"
      if option.isEmpty { $0.environment["DIRECTDNS_CONFIG"] = "/dev/null" }
    }
    let outcome = await piped.run(["warmup", "--provider", "google", "--keep-alive", "a.example.com"] + option)
    #expect(outcome.status == 0 && piped.ignoredHangUps.withLock(\.self) == [0])
    let once = fixture()
    _ = await once.run(["warmup", "--provider", "google", "a.example.com"])
    #expect(once.ignoredHangUps.withLock(\.isEmpty))
  }

  @Test func `below the minimum nothing is kept alive`() async {
    let outcome = await run("--keep-alive", "no.example.com")
    #expect(outcome.status == 5 && !outcome.errors.contains("keeping"))
  }
}
