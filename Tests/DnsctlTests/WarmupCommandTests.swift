// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting
@testable import DnsctlCommands

@Suite(.timeLimit(.minutes(1)))
struct `dnsctl warmup` {
  private let zone: [String: Zone.Entry] = [
    "a.example.com": .addresses(["192.0.2.1"]), "b.example.com": .addresses(["192.0.2.2"]),
    "c.example.com": .addresses(["192.0.2.3"]),
  ]

  func fixture(_ edit: (inout CommandFixture) -> Void = { _ in }) -> CommandFixture {
    var fixture = CommandFixture(zone: zone)
    fixture.files["/hosts"] = "# names\na.example.com\r\nB.example.com.\n\nb.example.com # again\n"
    edit(&fixture)
    return fixture
  }

  func run(_ arguments: String..., edit: (inout CommandFixture) -> Void = { _ in }) async
    -> CommandFixture.Outcome
  {
    await run(arguments, edit: edit)
  }

  func run(_ arguments: [String], edit: (inout CommandFixture) -> Void = { _ in }) async
    -> CommandFixture.Outcome
  {
    await fixture(edit).run(
      ["warmup", "--provider", "google", "--no-system", "--family", "ipv4"] + arguments)
  }

  func report(_ outcome: CommandFixture.Outcome) throws -> WarmupReport {
    try JSONDecoder().decode(WarmupReport.self, from: Data(outcome.output.utf8))
  }

  // MARK: Names

  @Test func `names of files and arguments count once each, and the summary says what came of them`() async {
    let outcome = await run("--hosts", "/hosts", "c.example.com", "A.Example.com")
    #expect(
      outcome.output == """
        names     3  2 more were the same
        resolved  3
        queries   3  google 3
        slowest      a.example.com 0.0 ms, b.example.com 0.0 ms, c.example.com 0.0 ms
        complete: 3 of 3 have an address, 3 (100%) are enough, in 0.0 ms

        """)
    #expect(outcome.errors == "" && outcome.status == 0)
  }

  @Test func `standard input is a list too`() async throws {
    for arguments in [["--hosts", "-"], ["-"]] {
      var fixture = fixture()
      fixture.input = ScriptedInput(["a.example.com\nb.exa", "mple.com\n"])
      let outcome = await fixture.run(["warmup", "--provider", "google", "--format", "json"] + arguments)
      #expect(try report(outcome).resolved == 2)
    }
  }

  @Test func `what is no name is told by file and line, and stops nothing`() async throws {
    let outcome = await run("--hosts", "/bad", "--format", "json", "x..y") {
      $0.files["/bad"] = "a.example.com\n192.0.2.7\nb example\n\u{1b}[2J.example\n"
    }
    #expect(outcome.status == 0)
    let lines = outcome.errors.split(separator: "\n")
    #expect(lines.count == 4)
    #expect(
      lines[0] == "dnsctl: /bad:2: 192.0.2.7 is an address: it is used as it is and never looked up")
    #expect(lines[1].hasPrefix("dnsctl: /bad:3: "))
    #expect(lines[2].hasPrefix("dnsctl: /bad:4: ") && !outcome.errors.contains("\u{1b}"))
    #expect(lines[3].hasPrefix("dnsctl: the host name \"x..y\""))
    #expect(try report(outcome).rejected.count == 4)
  }

  @Test(
    arguments: [
      ([], 64, "nothing to warm"), (["--hosts", "-", "-"], 64, "once"),
      (["--hosts", "/none"], 74, "--hosts: there is no file /none."),
      (["--hosts", "/unreadable/x"], 74, "Permission denied"), (["--min-success", "x", "a.example"], 64, "40 or 95%"),
      (["--rate", "0", "a.example"], 64, "more than 0"), (["--rate", "1000001", "a.example"], 64, "at most 1000000"),
      (["--deadline", "0", "a.example"], 64, "more than 0"),
      (["--concurrency", "0", "a.example"], 64, "1 or more"), (["--store", "nowhere", "a.example"], 64, "--store"),
    ] as [([String], Int32, String)])
  func `what is wrong on the command line is told`(arguments: [String], status: Int32, part: String) async {
    let outcome = await fixture().run(["warmup"] + arguments)
    #expect(outcome.status == status)
    #expect(outcome.errors.contains(part), "\(outcome.errors)")
    #expect(outcome.output == "")
  }

  @Test func `standard input that fails is told`() async {
    let outcome = await run("--hosts", "-") { $0.input = ScriptedInput(["a.example.com\n"], end: .failed("Bad luck")) }
    #expect(outcome.status == 74)
    #expect(outcome.errors == "dnsctl: standard input cannot be read: Bad luck.\n")
  }

  @Test func `help names every option and status`() {
    let help = WarmupCommand.helpMessage(columns: 100)
    for part in ["--hosts", "--min-success", "--keep-alive", "--report", "--store", "FILE:LINE", "  5  fewer"] {
      #expect(help.contains(part), "\(part)")
    }
  }
}
