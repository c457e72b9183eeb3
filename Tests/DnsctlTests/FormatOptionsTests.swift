// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DnsctlCommands

struct FormatOptionsTests {
  private let zone: [String: Zone.Entry] = [
    "www.example.com": .addresses(["192.0.2.10"]), "both.example.com": .addresses(["192.0.2.66", "2001:db8::66"]),
    "xn--bcher-kva.example": .addresses(["192.0.2.11"]),
  ]

  private func run(_ arguments: String..., edit: (inout CommandFixture) -> Void = { _ in }) async
    -> CommandFixture.Outcome
  {
    var fixture = CommandFixture(zone: zone)
    edit(&fixture)
    return await fixture.resolve(["@google"] + arguments)
  }

  @Test(arguments: [
    ["--short"], ["-f", "short"], ["-fshort"], ["-4f", "short"], ["--format", "short"],
    ["--short", "--format", "short"],
  ])
  func `short has a short form`(_ arguments: [String]) async {
    let fixture = CommandFixture(zone: zone)
    let outcome = await fixture.resolve(["@google", "www.example.com"] + arguments)
    #expect(outcome == .init(status: 0, output: "192.0.2.10\n", errors: ""))
  }

  @Test func `json has one too`() async {
    #expect(await run("--json", "www.example.com").output.hasPrefix(#"{"host":"www.example.com""#))
  }

  @Test(arguments: [
    ["compare", "--provider", "google", "--provider", "quad9", "www.example.com"], ["check", "--provider", "google"],
    ["watch", "--count", "1", "--provider", "google", "www.example.com"],
    ["warmup", "--provider", "google", "www.example.com"],
    ["rewrite", "--address", "192.0.2.1", "--allow", "192.0.2.1", "http://a.example/"],
    ["cache", "stats", "--store", "redis://cache"],
  ])
  func `json has one with every verb that writes it`(_ command: [String]) async throws {
    for short in [["--json"], ["-f", "json"], ["-fjson"]] {
      let fixture = CommandFixture(zone: zone, store: MemoryAnswerStore(clock: StillClock()))
      let outcome = await fixture.run(command + short)
      #expect(outcome.output.hasPrefix("{"), "\(command) \(outcome)")
    }
    let outcome = await CommandFixture(zone: zone).run(command + ["--json", "-f", "text"])
    #expect(outcome.status == 64 && outcome.errors.contains("Choose one of"), "\(outcome)")
  }

  @Test(arguments: [["--json", "--short"], ["--json", "-f", "text"], ["-4", "-6"], ["-4", "--family", "ipv4"]])
  func `two that differ are a wrong command line`(_ arguments: [String]) async {
    let outcome = await CommandFixture(zone: zone).resolve(["@google", "www.example.com"] + arguments)
    #expect(outcome.status == 64 && outcome.errors.contains("Choose one of"), "\(outcome)")
  }

  @Test(arguments: [("-4", "192.0.2.66\n"), ("--ipv4", "192.0.2.66\n"), ("-6", "2001:db8::66\n")])
  func `a family has a short form`(_ flag: String, _ output: String) async {
    #expect(await run(flag, "--short", "both.example.com").output == output)
  }

  @Test func `hosts has the lines of a hosts file, under the name that DNS has`() async {
    let outcome = await run("-f", "hosts", "-4", "WWW.Example.com.", "bücher.example", "127.0.0.1", "none.example.com")
    #expect(outcome.output == "192.0.2.10 www.example.com\n192.0.2.11 xn--bcher-kva.example\n")
    #expect(outcome.status == 1 && outcome.errors.contains("none.example.com does not exist"))
  }

  @Test func `tsv has a line an address`() async {
    #expect(
      await run("-f", "tsv", "www.example.com", "127.0.0.1").output
        == "www.example.com\tA\t300\t192.0.2.10\tfresh\tgoogle\n127.0.0.1\tA\t\t127.0.0.1\tfresh\tliteral\n")
  }

  @Test(arguments: [
    ["check", "--name", "www.example.com"], ["cache", "list"], ["cache", "show", "www.example.com"],
    ["warmup", "www.example.com"],
  ])
  func `every verb that colours text takes the choice`(_ command: [String]) async throws {
    let store = MemoryAnswerStore()
    let fixture = CommandFixture(zone: zone, store: store)
    _ = await fixture.resolve(["@google", "--store", "redis://cache", "www.example.com"])
    for (choice, isColoured) in [("always", true), ("never", false)] {
      var fixture = CommandFixture(zone: zone, store: store)
      fixture.isTerminal = !isColoured
      let upstream = command[0] == "cache" ? [] : ["--no-system", "--provider", "json+http://127.0.0.1:1/"]
      let outcome = await fixture.run(command + ["--store", "redis://cache", "--color", choice] + upstream)
      #expect(outcome.output.contains("\u{1b}[") == isColoured, "\(outcome)")
    }
  }

  @Test func `a store is listed as a hosts file and with tabs`() async {
    let store = MemoryAnswerStore()
    _ = await CommandFixture(zone: zone, store: store).resolve([
      "@google", "--store", "redis://cache", "both.example.com",
    ])
    let list = ["cache", "list", "--store", "redis://cache", "-f"]
    #expect(
      await CommandFixture(store: store).run(list + ["hosts"]).output
        == "192.0.2.66 both.example.com\n2001:db8::66 both.example.com\n")
    #expect(
      await CommandFixture(store: store).run(list + ["tsv"]).output
        == "both.example.com\tA\t300\t192.0.2.66\tfresh\tgoogle\nboth.example.com\tAAAA\t300\t2001:db8::66\tfresh\tgoogle\n"
    )
  }

  @Test(arguments: [
    ("auto", true, "", true), ("auto", false, "", false), ("auto", true, "1", false), ("always", false, "1", true),
    ("never", true, "", false),
  ])
  func `colours go by what was chosen, and else by the terminal and NO_COLOR`(
    _ choice: String, _ isTerminal: Bool, _ noColour: String, _ isColoured: Bool
  ) async {
    for arguments in [["www.example.com"], ["-t", "A", "www.example.com"]] {
      var fixture = CommandFixture(zone: zone)
      fixture.isTerminal = isTerminal
      fixture.environment["NO_COLOR"] = noColour
      let outcome = await fixture.resolve(["@google", "--color", choice] + arguments)
      #expect(outcome.output.contains("\u{1b}[") == isColoured, "\(outcome)")
    }
  }
}
