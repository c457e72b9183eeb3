// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import Testing

@testable import DnsctlCommands

struct OptionWordsTests {
  private func words(_ line: String) -> [String] { line.split(separator: " ").map(String.init) }

  @Test(arguments: [
    ("warmup --store= s1.test s2.test", "warmup --store '' s1.test s2.test"),
    ("resolve -f= a.test", "resolve -f '' a.test"), ("fetch --data= U1 U2", "fetch --data '' U1 U2"),
    ("fetch --json= U", "fetch --json '' U"), ("fetch -sS --user= U", "fetch -s -S --user '' U"),
    ("cache list --store= --json", "cache list --store '' --json"), ("proxy --listen=", "proxy --listen ''"),
    ("exec --store= --allow=", "exec --store '' --allow ''"), ("resolve --bogus= a.test", "resolve --bogus '' a.test"),
    // Values, and what follows two hyphens.
    ("fetch --data --x= U", "fetch --data --x= U"), ("fetch -d --x= U", "fetch -d --x= U"),
    ("fetch --data=a= U", "fetch --data=a= U"), ("fetch -o= U", "fetch -o = U"), ("fetch -d a= U", "fetch -d a= U"),
    ("resolve -- --store= a", "resolve -- --store= a"), ("resolve a= --= -=", "resolve a= --= -="),
    ("resolve -tMX -4 a.test", "resolve -tMX -4 a.test"), ("", ""),
  ])
  func `an empty value behind an equals sign is a value, and not the next word`(
    _ line: String, _ expected: String
  ) throws {
    let shown = try OptionWords.separated(words(line)).map { $0.isEmpty ? "''" : $0 }
    #expect(shown.joined(separator: " ") == expected)
  }

  @Test(arguments: [
    ("resolve --json= a.test", "--json"), ("warmup --keep-alive=", "--keep-alive"), ("fetch --head= U", "--head"),
    ("resolve --help=", "--help"), ("proxy --log-paths=", "--log-paths"), ("exec --java=", "--java"),
  ])
  func `an option without a value is not given an empty one`(_ line: String, _ option: String) {
    let expected = CommandError(.usage, "\(option) has no value: write it without the equals sign.")
    #expect(throws: expected) { try OptionWords.separated(words(line)) }
  }

  @Test func `a variable that is not set makes no store, and no name is left out`() async {
    let outcome = await CommandFixture().run(["warmup", "--store=", "s1.test", "s2.test"])
    #expect(outcome.status == 64 && outcome.errors.contains(#"--store: "" is not a store"#), "\(outcome)")
  }

  private struct Help: Decodable {
    struct Command: Decodable {
      var commandName: String
      var subcommands: [Command]?
      var arguments: [Argument]?
    }

    struct Argument: Decodable {
      struct Name: Decodable {
        var kind: String
        var name: String
      }

      var kind: String
      var names: [Name]?
    }

    var command: Command
  }

  /// Compares a command's options, and those of the commands in it.
  ///
  /// - Returns: how many they are.
  private func compare(_ command: Help.Command, below verb: String?) -> Int {
    var count = 0
    for argument in command.arguments ?? [] where argument.kind != "positional" {
      for name in argument.names ?? [] where name.kind == "long" {
        #expect(OptionWords.isFlag(name.name, of: verb) == (argument.kind == "flag"), "\(verb ?? "") --\(name.name)")
        count += 1
      }
    }
    for inner in command.subcommands ?? [] { count += compare(inner, below: verb ?? inner.commandName) }
    return count
  }

  @Test func `which options have a value is known of every one`() throws {
    let help = try JSONDecoder().decode(Help.self, from: Data(Dnsctl._dumpHelp().utf8))
    let count = compare(help.command, below: nil)
    #expect(count > 100)
  }

  @Test(arguments: [
    ("exec -- true x", 1), ("exec true --x", 1), ("exec --java true", 2), ("exec --allow 10.0.0.0/8 true", 3),
    ("exec --allow=10.0.0.0/8 true", 2), ("exec --store= true", 2), ("exec --store -- true", 3), ("exec -4 -- -x", 2),
    ("exec --help", 2), ("exec --version -- true", 2), ("exec", 1), ("exec --allow", 2), ("exec - x", 1),
  ])
  func `the program of exec begins behind the options and their values`(_ line: String, _ place: Int) {
    #expect(OptionWords.programPlace(in: words(line)) == place)
  }

  @Test(arguments: [
    ("proxy --listen x", "proxy --listen x", true), ("exec -- true", "exec -- true", true),
    ("help exec", "exec --help", true), ("help proxy", "proxy --help", true),
    ("--generate-completion-script bash", "--generate-completion-script bash", false),
  ])
  func `the proxy's program is started without a look at its options`(
    _ line: String, _ expected: String, _ isNeeded: Bool
  ) throws {
    let start = try #require(ProxyProgramStart.arguments(for: words(line).map { Array($0.utf8) }))
    let shown = start.words.map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ")
    #expect(shown == expected && start.isNeeded == isNeeded)
  }

  @Test(arguments: ["", "resolve proxy", "help", "help resolve", "help proxy x", "--version"])
  func `every other command is dnsctl's own`(_ line: String) {
    #expect(ProxyProgramStart.arguments(for: words(line).map { Array($0.utf8) }) == nil)
  }
}
