// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Testing

@testable import DnsctlCommands

struct UnknownOptionTests {
  @Test(arguments: [
    ("fetch", "-e", "-H 'Referer: …'"), ("fetch", "--referer", "-H 'Referer: …'"),
    ("fetch", "-K", "configuration file"),
    ("fetch", "--tlsv1.2", "OpenSSL"), ("fetch", "--connect-to", "--resolve"), ("fetch", "--url", "arguments"),
    ("fetch", "--proto", "http and https"), ("fetch", "--proto-redir", "--no-location"),
    ("fetch", "--stderr", "2> FILE"),
    ("fetch", "--remove-on-error", "rm"), ("fetch", "--path-as-is", "browsers"), ("fetch", "--ssl-reqd", "https://"),
    ("fetch", "--no-keepalive", "connections"), ("fetch", "--pinnedpubkey", "no key is pinned"),
    ("fetch", "--interface", "address to send from"), ("fetch", "--capath", "SSL_CERT_DIR"),
    ("fetch", "--proxy-header", "-U"), ("fetch", "-:", "one command"), ("fetch", "--max-filesize", "ulimit -f"),
    ("fetch", "--fail-early", "&&"), ("fetch", "--parallel-max", "50"), ("fetch", "--socks4a", "SOCKS5"),
    ("resolve", "-p", "@HOST:PORT"), ("resolve", "-J", "--json"), ("resolve", "--verbose", "--trace"),
    ("resolve", "--dnssec", "dnsctl compare --json"),
    ("proxy", "--port", "--listen ADDRESS:PORT"), ("proxy", "-u", "--users"), ("proxy", "-v", "--access-log"),
    ("exec", "--listen", "dnsctl proxy"), ("exec", "-v", "--access-log"), ("warmup", "--file", "--hosts"),
  ])
  func `an option of another tool is answered with what to write here`(
    _ command: String, _ option: String, _ advice: String
  ) throws {
    let said = try #require(UnknownOption.objection(in: "Error: Unknown option '\(option)'\nUsage: …", of: command))
    #expect(said.contains(option) && said.contains(advice) && said.hasSuffix(". See dnsctl \(command) --help."))
  }

  @Test func `an option of another tool is no slip for one here that looks like it`() {
    let message = "Error: Unknown option '--port'. Did you mean '--ports'?\nUsage: …"
    #expect(
      UnknownOption.objection(in: message, of: "proxy")
        == "--port is not an option here: --listen ADDRESS:PORT says where it listens. See dnsctl proxy --help.")
  }

  @Test(arguments: [
    ("Error: Unknown option '--bogus'", "fetch"), ("Error: Unknown option '-e'", "check"),
    ("Error: Missing value for '-o <file>'", "fetch"), ("OVERVIEW: -e", "fetch"),
  ])
  func `anything else is left to the parser`(_ message: String, _ command: String) {
    #expect(UnknownOption.objection(in: message, of: command) == nil)
  }

  @Test(arguments: [
    (["fetch", "--hlep"], "--hlep"), (["resolve", "--hlep"], "--hlep"), (["fetch", "-s", "--referer"], "--referer"),
    (["cache", "refresh", "--trase"], "--trase"), (["fetch"], nil), (["resolve", "--json"], nil),
    (["fetch", "--hlep", "http://a.example/"], nil),
  ])
  func `an option that does not exist is named where an argument is missing too`(
    _ words: [String], _ option: String?
  ) throws {
    let message = Dnsctl.fullMessage(for: try #require(throws: (any Error).self) { try Dnsctl.parseAsRoot(words) })
    let error = UnknownOption.error(behind: message, in: words, of: Dnsctl.self)
    #expect((error == nil) == (option == nil), "\(message)")
    guard let error, let option else { return }
    #expect(Dnsctl.fullMessage(for: error).hasPrefix("Error: Unknown option '\(option)'"))
    #expect(Dnsctl.exitCode(for: error).rawValue == ExitStatus.usage.rawValue)
  }

  @Test(arguments: [
    ("--proto", "--proxy", false), ("--abcd", "--abxy", false), ("--provder", "--provider", true),
    ("--formt", "--format", true), ("-é", "-e", false), ("--hel", "--help", true),
  ])
  func `a suggestion is at most a third of the word away`(_ written: String, _ suggested: String, _ isKept: Bool) {
    let message = "Error: Unknown option '\(written)'. Did you mean '\(suggested)'?\nUsage: …"
    let short = "Error: Unknown option '\(written)'\nUsage: …"
    #expect(UnknownOption.withoutFarSuggestion(message) == (isKept ? message : short))
    #expect(UnknownOption.withoutFarSuggestion(short) == short)
  }

  @Test func `the manual's list has two columns`() {
    let lines = CurlHints.table.split(separator: "\n")
    #expect(lines.allSatisfy { $0.count <= 80 && $0.hasPrefix("  ") }, "\(lines.filter { $0.count > 80 })")
    #expect(lines.first == "  -k, --insecure       certificates are always checked; see --cacert")
  }
}
