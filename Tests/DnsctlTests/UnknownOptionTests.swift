// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DnsctlCommands

struct UnknownOptionTests {
  @Test(arguments: [
    ("fetch", "-e", "-H 'Referer: …'"), ("fetch", "--referer", "-H 'Referer: …'"),
    ("fetch", "-K", "configuration file"),
    ("fetch", "--tlsv1.2", "OpenSSL"), ("fetch", "--connect-to", "--resolve"), ("fetch", "--url", "arguments"),
    ("resolve", "-p", "@HOST:PORT"), ("resolve", "-J", "--json"), ("resolve", "--verbose", "--trace"),
  ])
  func `an option of another tool is answered with what to write here`(
    _ command: String, _ option: String, _ advice: String
  ) throws {
    let said = try #require(UnknownOption.objection(in: "Error: Unknown option '\(option)'\nUsage: …", of: command))
    #expect(said.contains(option) && said.contains(advice) && said.hasSuffix(". See dnsctl \(command) --help."))
  }

  @Test(arguments: [
    ("Error: Unknown option '--bogus'", "fetch"), ("Error: Unknown option '-e'", "check"),
    ("Error: Missing value for '-o <file>'", "fetch"), ("OVERVIEW: -e", "fetch"),
  ])
  func `anything else is left to the parser`(_ message: String, _ command: String) {
    #expect(UnknownOption.objection(in: message, of: command) == nil)
  }

  @Test func `the manual's list has two columns`() {
    let lines = CurlHints.table.split(separator: "\n")
    #expect(lines.allSatisfy { $0.count <= 80 && $0.hasPrefix("  ") }, "\(lines.filter { $0.count > 80 })")
    #expect(lines.first == "  -k, --insecure       certificates are always checked; see --cacert")
  }
}
