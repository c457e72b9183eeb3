// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Testing

@testable import DnsctlCommands

struct UnexpectedArgumentTests {
  private func message(_ words: [String]) throws -> String {
    Dnsctl.fullMessage(for: try #require(throws: (any Error).self) { try Dnsctl.parseAsRoot(words) })
  }

  @Test(arguments: [
    (["check", "www.example.com"], "--name NAME"), (["check", "a.example", "https://me:hunter2@b.example"], "--name"),
    (["restore", "-"], "standard input"), (["restore", "responses.jsonl"], "standard input"),
  ])
  func `an argument of a command that takes none is answered with what to write`(
    _ words: [String], _ advice: String
  ) throws {
    let said = try #require(UnexpectedArgument.objection(in: try message(words), of: words[0]))
    #expect(said.hasPrefix("\(words[0]) takes no arguments: "))
    #expect(said.contains(advice) && said.hasSuffix(". See dnsctl \(words[0]) --help.") && !said.contains("hunter2"))
  }

  @Test func `the proxy, which is a program of its own, listens where --listen says`() {
    let said = UnexpectedArgument.objection(in: "Error: Unexpected argument '127.0.0.1:3128'\nUsage: …", of: "proxy")
    #expect(
      said == "proxy takes no arguments: --listen ADDRESS:PORT says where it listens. See dnsctl proxy --help.")
  }

  @Test(arguments: [["version", "x"], ["check", "--bogus"], ["fetch"], ["check", "--name"]])
  func `anything else is left to the parser`(_ words: [String]) throws {
    #expect(UnexpectedArgument.objection(in: try message(words), of: words[0]) == nil)
  }
}
