// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DnsctlCommands

@Suite struct `dnsctl cache show` {
  @Test func `tells everything about each family`() async throws {
    let outcome = try await CacheFixture().run("show", "WWW.example.com.")
    #expect(
      outcome.output == """
        www.example.com A
          addresses  192.0.2.1, 192.0.2.2
          freshness  fresh
          source     alidns
          asked      2023-11-14T22:13:20Z (in 0 s)
          expires    2023-11-14T22:15:00Z (in 100 s)
          gone       2023-11-15T22:15:00Z (in 24 h)
        www.example.com AAAA
          addresses  2001:db8::1
          alias of   web.example.net
          freshness  due
          source     google
          asked      2023-11-14T22:12:00Z (80 s ago)
          expires    2023-11-14T22:13:40Z (in 20 s)
          gone       2023-11-15T22:13:40Z (in 24 h)

        """)
    #expect(outcome.status == 0)
  }

  @Test(arguments: [
    ("none.example.com", "dnsctl: none.example.com is not stored.\n"), ("a b", "dnsctl: \"a b\": "),
    ("192.0.2.1", "dnsctl: \"192.0.2.1\": "),
  ])
  func `says of a name that is not stored, or is none, that it is so`(name: String, error: String) async throws {
    for command in ["show", "forget"] {
      let outcome = try await CacheFixture().run(command, name, "stale.example.org")
      #expect(outcome.status == 1)
      #expect(outcome.errors.hasPrefix(error), "\(outcome.errors)")
      #expect(outcome.output.hasPrefix("stale.example.org"))
    }
  }
}
