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

  private func fixture(_ edit: (inout CommandFixture) -> Void = { _ in }) -> CommandFixture {
    var fixture = CommandFixture(zone: zone)
    fixture.files["/hosts"] = "# names\na.example.com\r\nB.example.com.\n\nb.example.com # again\n"
    edit(&fixture)
    return fixture
  }

  private func run(_ arguments: String..., edit: (inout CommandFixture) -> Void = { _ in }) async
    -> CommandFixture.Outcome
  {
    await run(arguments, edit: edit)
  }

  private func run(_ arguments: [String], edit: (inout CommandFixture) -> Void = { _ in }) async
    -> CommandFixture.Outcome
  {
    await fixture(edit).run(
      ["warmup", "--provider", "google", "--no-system", "--family", "ipv4"] + arguments)
  }

  private func report(_ outcome: CommandFixture.Outcome) throws -> WarmupReport {
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
      (["--hosts", "/none"], 74, "/none: there is no such"),
      (["--hosts", "/unreadable/x"], 74, "Permission denied"), (["--min-success", "x", "a.example"], 64, "40 or 95%"),
      (["--rate", "0", "a.example"], 64, "more than 0"), (["--deadline", "0", "a.example"], 64, "more than 0"),
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

  // MARK: The minimum

  @Test(arguments: [("100%", 5), ("75%", 0), ("3", 0), ("4", 5), ("0", 0)] as [(String, Int32)])
  func `the status says whether the minimum was reached`(minimum: String, status: Int32) async {
    let outcome = await run("--min-success", minimum, "--hosts", "/hosts", "c.example.com", "no.example.com")
    #expect(outcome.status == status)
    #expect(outcome.errors == "dnsctl: no.example.com does not exist. Check its spelling.\n")
    #expect(outcome.output.contains("negative  1  nameNotFound 1\n"))
    #expect(outcome.output.contains(status == 0 ? "are enough" : "were wanted"))
    // A number is not said twice.
    #expect(outcome.output.contains("(\(minimum))") == minimum.hasSuffix("%"))
  }

  @Test func `where it was reached only some failures are listed, below it all`() async {
    let names = (0..<30).map { "no\($0).example.com" }
    for (minimum, count) in [("1", WarmupSummary.fewFailures + 1), ("100%", 30)] {
      let outcome = await fixture().run(
        ["warmup", "--provider", "google", "--min-success", minimum, "a.example.com"] + names)
      #expect(outcome.errors.split(separator: "\n").count == count)
      #expect(outcome.errors.contains("and 10 more names without an address") == (count == 21))
    }
  }

  // MARK: Reports

  @Test func `the report goes to a file, whole or not at all`() async throws {
    let folder = try TestFolder()
    let path = folder.path + "/report.json"
    let outcome = await run("--hosts", "/hosts", "--report", path)
    #expect(outcome.status == 0 && outcome.output.contains("complete: "))
    let report = try JSONDecoder().decode(WarmupReport.self, from: Data(contentsOf: URL(filePath: path)))
    #expect(report.names == 2 && report.readiness == .complete && report.end == .finished)
    let failed = await run("--hosts", "/hosts", "--report", folder.path + "/none/report.json")
    #expect(failed.status == 74 && failed.errors.contains("the report cannot be written"))
  }

  @Test func `a report on standard output has it for itself`() async throws {
    let outcome = await run("--hosts", "/hosts", "--report", "-")
    #expect(try report(outcome).names == 2)
    #expect(outcome.errors.contains("complete: 2 of 2"))
  }

  @Test func `json is the report in one line`() async throws {
    let outcome = await run("--hosts", "/hosts", "--format", "json")
    #expect(outcome.output.split(separator: "\n").count == 1 && outcome.errors == "")
    #expect(try report(outcome).queries == [.init(provider: "google", queries: 2, failed: 0)])
  }

  @Test func `a reader that has gone is no failure of its own`() async {
    let fixture = fixture()
    fixture.output.close(after: 0)
    let outcome = await fixture.run(["warmup", "--provider", "google", "a.example.com"])
    #expect(outcome.status == 141 && outcome.errors == "")
  }

  // MARK: Stores and the end

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

  @Test func `the report does not take the place of a list`() async throws {
    let folder = try TestFolder()
    let path = folder.path + "/names"
    try "a.example.com\n".write(toFile: path, atomically: false, encoding: .utf8)
    let outcome = await run("--hosts", path, "--report", folder.path + "/./names")
    #expect(outcome.status == 64 && outcome.errors.contains("name one file"), "\(outcome)")
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "a.example.com\n")
  }

  @Test func `with keep-alive it goes on until it is told to end, which is no failure`() async {
    let outcome = await run("--keep-alive", "--hosts", "/hosts") { $0.interruption = .terminated }
    #expect(outcome.status == 0)
    #expect(outcome.errors == "dnsctl: keeping 2 names fresh until told to end\n")
    #expect(outcome.output.contains("complete: 2 of 2"))
  }

  @Test func `with keep-alive neither SIGHUP nor a file with an error ends a warm-up that is under way`() async throws {
    let folder = try TestFolder()
    let path = folder.path + "/c.json5"
    try "{ timeout: 2 }".write(toFile: path, atomically: true, encoding: .utf8)
    var fixture = fixture { $0.interruption = .terminated }
    let asked = fixture.transport.asked
    fixture.input = ScriptedInput(chunks: [
      .init(text: "a.example.com\n"),
      .init(text: "b.example.com\n") {
        while asked.withLock(\.isEmpty) { await Task.yield() }
        try? "{ timeout: ".write(toFile: path, atomically: true, encoding: .utf8)
      },
    ])
    let outcome = await fixture.run(
      ["warmup", "--config", path, "--provider", "google", "--family", "ipv4", "--keep-alive", "--hosts", "-"])
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.output.contains("complete: 2 of 2"))
    #expect(fixture.ignoredHangUps.withLock(\.self) == [0])
  }

  @Test func `with keep-alive SIGHUP ends nothing either where the configuration is a pipe`() async throws {
    let piped = fixture {
      $0.interruption = .terminated
      $0.files["/dev/null"] = "{}"
    }
    let outcome = await piped.run(
      ["warmup", "--config", "/dev/null", "--provider", "google", "--keep-alive", "a.example.com"])
    #expect(outcome.status == 0 && piped.ignoredHangUps.withLock(\.self) == [0])
    let once = fixture()
    _ = await once.run(["warmup", "--provider", "google", "a.example.com"])
    #expect(once.ignoredHangUps.withLock(\.isEmpty))
  }

  @Test(arguments: ["--store", "--config", "--hosts"])
  func `a report takes no file's place that the command reads`(option: String) async throws {
    let folder = try TestFolder()
    let paths = ["--store": "/a.sqlite", "--config": "/c.json5", "--hosts": "/names"].mapValues { folder.path + $0 }
    for (path, text) in [("/a.sqlite", ""), ("/c.json5", "{}"), ("/names", "a.example.com\n")] {
      try text.write(toFile: folder.path + path, atomically: true, encoding: .utf8)
    }
    let report = try #require(paths[option])
    let outcome = await run(paths.flatMap { [$0, $1] } + ["--report", report]) { $0.store = MemoryAnswerStore() }
    #expect(
      outcome.status == 64 && outcome.errors.contains("--report and \(option) name one file"), "\(outcome.errors)")
    #expect(try String(contentsOfFile: report, encoding: .utf8).count < 20)
  }

  @Test(
    arguments: [([], 5), (["--min-success", "0"], 0), (["--min-success", "0%"], 0), (["--min-success", "1"], 5)]
      as [([String], Int32)])
  func `an empty list is no success, unless nothing is wanted`(_ options: [String], _ status: Int32) async {
    for text in ["", "# nothing\n\n", "a b\n"] {
      let outcome = await run(["--hosts", "/empty"] + options) { $0.files["/empty"] = text }
      #expect(outcome.status == status, "\(outcome)")
    }
  }

  @Test func `one name is one name`() async {
    let outcome = await run(["--keep-alive", "a.example.com"]) { $0.interruption = .terminated }
    #expect(outcome.errors == "dnsctl: keeping 1 name fresh until told to end\n")
    #expect(outcome.output.contains("1 of 1 has an address, 1 (100%) is enough"), "\(outcome.output)")
  }

  @Test func `a name that is none is quoted once in the report`() async {
    let outcome = await run(["--report", "-", "--min-success", "0", "x..y", "a b"])
    #expect(
      outcome.output.contains(#""text" : "x..y""#) && outcome.output.contains(#""text" : "a b""#), "\(outcome.output)")
  }

  @Test func `below the minimum nothing is kept alive`() async {
    let outcome = await run("--keep-alive", "no.example.com")
    #expect(outcome.status == 5 && !outcome.errors.contains("keeping"))
  }

  @Test func `help names every option and status`() {
    let help = WarmupCommand.helpMessage(columns: 100)
    for part in ["--hosts", "--min-success", "--keep-alive", "--report", "--store", "FILE:LINE", "  5  fewer"] {
      #expect(help.contains(part), "\(part)")
    }
  }
}

struct WarmupBarTests {
  private func report(_ done: Int, of names: Int, failed: Int = 0, isComplete: Bool = true) -> WarmupReport {
    var report = WarmupReport(minimum: .all)
    (report.names, report.resolved, report.failed) = (names, done - failed, failed)
    report.isListComplete = isComplete
    return report
  }

  private func at(_ seconds: Double) -> ResolverInstant { ResolverInstant(nanoseconds: Int64(seconds * 1e9)) }

  @Test func `a bar shows what is done, the rate, failures and the time left`() {
    var bar = WarmupBar(expecting: 2000, now: at(0))
    bar.note(report(100, of: 2000), now: at(1))
    bar.note(report(500, of: 2000, failed: 3), now: at(2))
    let line = bar.line(report(500, of: 2000, failed: 3), now: at(2), width: 100)
    #expect(line == " 25%  [#######-----------------------]  500 of 2000 names  250/s  3 failed  0:06 left")
  }

  @Test func `a bar and a summary name the provider that asks for no query for a while`() {
    var paused = report(500, of: 2000)
    paused.pause = WarmupReport.Pause(provider: "one\u{1b}", left: .seconds(3500))
    let bar = WarmupBar(expecting: 2000, now: at(0))
    let line = bar.line(paused, now: at(2), width: 120)
    #expect(line.hasSuffix("500 of 2000 names  250/s  one\\u{1B} asks for no query for 58 min (429)"), "\(line)")
    let summary = WarmupSummary(paused, usesColour: false).text
    #expect(summary.contains(", one\\u{1B} wanted no query for 58 min more (429), in "), "\(summary)")
  }

  @Test(arguments: [(1, "was the same, 1 more was no name"), (2, "were the same, 2 more were no names")])
  func `one more is told as one`(count: Int, said: String) {
    var some = report(1, of: 1)
    some.duplicates = count
    some.rejectedLeftOut = count
    #expect(WarmupSummary(some, usesColour: false).text.contains("\(count) more \(said)\n"))
  }

  @Test func `while a list is being read its lines are the whole, and without lines there is no whole`() {
    var some = report(50, of: 400, isComplete: false)
    some.duplicates = 10
    #expect(WarmupBar(expecting: 1000, now: at(0)).figures(some, now: at(1)) == "50 of 990 names  50/s  0:19 left")
    #expect(WarmupBar(expecting: nil, now: at(0)).line(some, now: at(1), width: 60) == "50 names  50/s")
  }

  @Test func `a narrow terminal gets the figures alone, and none wraps`() {
    let bar = WarmupBar(expecting: 2000, now: at(0))
    #expect(bar.line(report(0, of: 2000), now: at(0), width: 40) == "  0%  0 of 2000 names  0/s")
    #expect(bar.line(report(0, of: 2000), now: at(0), width: 10).count == 10)
  }
}
