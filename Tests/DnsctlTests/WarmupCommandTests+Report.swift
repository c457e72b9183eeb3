// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting
@testable import DnsctlCommands

/// The minimum, the report and the summary.
extension `dnsctl warmup` {
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

  @Test func `the report goes to a file, whole or not at all`() async throws {
    let folder = try TestFolder()
    let path = folder.path + "/report.json"
    let outcome = await run("--hosts", "/hosts", "--report", path)
    #expect(outcome.status == 0 && outcome.output.contains("complete: "))
    let report = try JSONDecoder().decode(WarmupReport.self, from: Data(contentsOf: URL(filePath: path)))
    #expect(report.names == 2 && report.readiness == .complete && report.end == .finished)
    let failed = await run("--hosts", "/hosts", "--report", folder.path + "/none/report.json")
    #expect(failed.status == 74 && failed.errors.contains("the report cannot be written"))
    #expect(failed.output.contains("complete: 2 of 2"), "\(failed)")
  }

  @Test(arguments: ["--report", "--hosts"])
  func `an empty name of a file is told before anything is looked up`(option: String) async {
    let outcome = await run(option, "", "a.example.com")
    #expect(
      outcome
        == .init(
          status: 64, output: "",
          errors: "dnsctl: \(option): the name of the file is empty. See dnsctl warmup --help.\n"))
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

  @Test func `the report does not take the place of a list`() async throws {
    let folder = try TestFolder()
    let path = folder.path + "/names"
    try "a.example.com\n".write(toFile: path, atomically: false, encoding: .utf8)
    let outcome = await run("--hosts", path, "--report", folder.path + "/./names")
    #expect(outcome.status == 64 && outcome.errors.contains("name one file"), "\(outcome)")
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "a.example.com\n")
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
}
