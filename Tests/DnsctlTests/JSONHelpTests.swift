// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import Testing

@testable import DnsctlCommands

@Suite(.timeLimit(.minutes(1)))
struct JSONHelpTests {
  /// Every key of a value and of what is in it.
  private func keys(_ value: Any) -> Set<String> {
    switch value {
    case let object as [String: Any]: object.reduce(into: []) { $0.formUnion(keys($1.value).union([$1.key])) }
    case let list as [Any]: list.reduce(into: []) { $0.formUnion(keys($1)) }
    default: []
    }
  }

  @Test(
    arguments: [
      (["warmup", "--json", "--provider", "google", "www.example", "gone.example", "no..name"], WarmupCommand.self),
      (["watch", "--json", "--count", "1", "--provider", "google", "www.example"], WatchCommand.self),
      (
        ["compare", "--json", "--provider", "google", "--provider", "quad9", "www.example", "no..name"],
        CompareCommand.self
      ), (["resolve", "--json", "--provider", "google", "www.example", "gone.example"], ResolveCommand.self),
    ] as [([String], any ParsableCommand.Type)])
  func `every key of the JSON stands in the help`(_ words: [String], _ command: any ParsableCommand.Type) async throws {
    var fixture = CommandFixture()
    fixture.zone = ["www.example": .addresses(["192.0.2.1"]), "gone.example": .missing]
    let outcome = await fixture.run([words[0], "--no-system"] + words.dropFirst())
    var found: Set<String> = []
    for line in outcome.output.split(separator: "\n") {
      found.formUnion(keys(try JSONSerialization.jsonObject(with: Data(line.utf8))))
    }
    #expect(found.count > 8, "\(outcome)")
    let help = try #require(command.configuration.discussion.split(separator: "JSON\n").last)
    let named = Set(help.split { !$0.isLetter && !$0.isNumber }.map(String.init))
    #expect(found.subtracting(named) == [])
  }
}
