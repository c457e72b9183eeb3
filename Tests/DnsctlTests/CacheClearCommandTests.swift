// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DnsctlCommands

@Suite struct `dnsctl cache forget and clear` {
  @Test func `remove both families of names, of standard input too`() async throws {
    var fixture = try CacheFixture()
    fixture.fixture.input = ScriptedInput(["www.example.com\nstale.example.org\n"])
    let outcome = await fixture.run("forget", "-")
    #expect(
      outcome
        == CommandFixture.Outcome(status: 0, output: "www.example.com  A, AAAA\nstale.example.org  A\n", errors: ""))
    #expect(try !fixture.isStored("www.example.com") && !fixture.isStored("www.example.com", .ipv6))
    #expect(try fixture.isStored("grace.example.com"))
  }

  @Test(arguments: [("y\n", true), (" YES \n", true), ("n\n", false), ("\n", false), ("", false), ("yeah\n", false)])
  func `ask a person first`(answer: String, isConfirmed: Bool) async throws {
    var fixture = try CacheFixture()
    fixture.fixture.isInputTerminal = true
    fixture.fixture.input = ScriptedInput(answer.isEmpty ? [] : [answer])
    let outcome = await fixture.run("clear")
    #expect(outcome.errors.hasPrefix("Forget 6 answers of memory? [y/N] "))
    #expect(outcome.output == (isConfirmed ? "6 answers forgotten\n" : ""))
    #expect(outcome.status == (isConfirmed ? 0 : 1))
    #expect(try fixture.isStored("www.example.com") != isConfirmed)
  }

  @Test func `ask nobody where nobody is, and do nothing without --yes`() async throws {
    let fixture = try CacheFixture()
    let outcome = await fixture.run("clear")
    #expect(outcome.status == 64)
    #expect(outcome.errors.contains("add --yes"))
    #expect(try fixture.isStored("www.example.com"))
    #expect(await fixture.run("clear", "--yes").output == "6 answers forgotten\n")
    #expect(try !fixture.isStored("www.example.com"))
  }
}
