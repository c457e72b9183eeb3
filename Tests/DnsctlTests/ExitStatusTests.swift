// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Testing

@testable import DirectDNS
@testable import DnsctlCommands

struct ExitStatusTests {
  /// Each command that reads the configuration file, with what else it needs.
  private static let readers = [
    "resolve a.example", "compare a.example", "rewrite http://a.example/", "fetch http://a.example/",
    "warmup a.example", "watch --count 1 a.example", "check", "cache list", "cache show a.example", "cache stats",
    "cache refresh a.example", "cache forget a.example", "cache clear --yes", "cache export", "cache import",
  ]

  private static func words(_ line: String) -> [String] { line.split(separator: " ").map(String.init) }

  @Test(
    arguments: readers,
    [
      (path: "/missing.json5", fault: "there is no such configuration file"), ("/broken.json5", "line "),
      ("/wrong.json5", "nonsense is not a key"),
    ])
  func `a command whose configuration file is wrong ends with 78, names it, and shows nothing`(
    _ line: String, _ file: (path: String, fault: String)
  ) async {
    var fixture = CommandFixture()
    fixture.files = ["/broken.json5": "{", "/wrong.json5": "{ nonsense: 1 }"]
    let outcome = await fixture.run(Self.words(line) + ["--config", file.path])
    #expect(outcome.status == 78 && outcome.output == "", "\(outcome)")
    #expect(outcome.errors.hasPrefix("dnsctl: \(file.path): \(file.fault)"), "\(outcome.errors)")
    #expect(fixture.transport.asked.withLock(\.isEmpty))
  }

  @Test(arguments: readers) func `an option that does not exist ends it with 64, and is named`(_ line: String) async {
    let outcome = await CommandFixture().run(Self.words(line) + ["--nonsense"])
    #expect(outcome.status == 64 && outcome.output == "", "\(outcome)")
    #expect(outcome.errors.contains("'--nonsense'"), "\(outcome.errors)")
  }

  @Test(arguments: Set(readers.map { String($0.prefix { $0 != " " }) }).sorted())
  func `the help of each promises these two, and what is wrong with its output`(_ name: String) throws {
    let command = try #require(Dnsctl.configuration.subcommands.first { $0._commandName == name })
    let help = Dnsctl.helpMessage(for: command)
    for status in [DnsctlCommands.ExitStatus.usage, .streams, .configuration] {
      #expect(help.contains("\n   \(status.rawValue)  "), "\(status)")
    }
  }
}
