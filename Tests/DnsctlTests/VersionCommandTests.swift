// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Testing

@testable import DirectDNS
@testable import DnsctlCommands

struct VersionCommandTests {
  @Test func `the version stands alone`() async {
    #expect(
      await CommandFixture().run(["version"])
        == .init(status: 0, output: Dnsctl.configuration.version + "\n", errors: ""))
  }

  @Test(arguments: [
    ["version", "--verbose"], ["version", "-v"], VersionCommand.spelledOut(["--version", "--verbose"]),
  ])
  func `verbose has the libraries too, a line each`(_ words: [String]) async {
    let outcome = await CommandFixture().run(words)
    let lines = outcome.output.split(separator: "\n").map { $0.split(separator: " ") }
    #expect(outcome.status == 0 && lines.allSatisfy { $0.count == 2 && !$0[1].isEmpty })
    #expect(
      lines.map { String($0[0]) } == [
        "dnsctl", "libcurl", "c-ares", "OpenSSL", "nghttp2", "libidn2", "libpsl", "SQLite", "hiredis",
      ])
    #expect(outcome.output.contains("libcurl 8.5.0\nc-ares 1.18.1\nOpenSSL 3.0.17\nnghttp2 1.52.0\n"))
    // SQLite's is 3 since 2004, and hiredis's first number has been 0 or 1.
    #expect(lines.count == 9 && lines[7][1].hasPrefix("3.") && ["0", "1"].contains(lines[8][1].prefix(1)))
  }

  @Test(
    arguments: [
      (["--verbose", "--version"], ["version", "--verbose"]), (["--version"], ["--version"]), ([], []),
      (["fetch", "--version", "--verbose"], ["fetch", "--version", "--verbose"]),
    ] as [([String], [String])])
  func `both options together are the verb`(_ words: [String], _ expected: [String]) {
    #expect(VersionCommand.spelledOut(words) == expected)
  }

  @Test func `a library without TLS or HTTP/2 says none`() {
    var packages = SystemPackages()
    (packages.tls, packages.http2) = (nil, nil)
    #expect(VersionCommand.text(packages).contains("TLS none\nnghttp2 none\n"))
  }
}
