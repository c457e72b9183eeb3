// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DnsctlCommands

struct DigHintsTests {
  @Test(arguments: [
    ("+short", "--short"), ("+trace", "--trace"), ("MX", "--type MX"), ("TXT", "--type TXT"), ("A", "--type A"),
    ("AAAA", "--type AAAA"), ("IN", "class"), ("CH", "class"),
  ])
  func `an argument of dig's is answered with what to write here`(_ argument: String, _ advice: String) async {
    var fixture = CommandFixture(zone: ["www.example.com": .addresses(["192.0.2.10"])])
    let outcome = await fixture.resolve(["--provider", "google", "--format", "short", "www.example.com", argument])
    #expect(outcome.status == 1 && outcome.output == "192.0.2.10\n")
    #expect(
      outcome.errors.hasPrefix("dnsctl: \"\(argument)\": ") && outcome.errors.contains(advice), "\(outcome.errors)")
    fixture = CommandFixture(zone: fixture.zone)
    let json = await fixture.resolve(["--provider", "google", "--format", "json", "www.example.com", argument])
    #expect(json.status == 1 && json.errors == "" && json.output.contains(#""code":"invalidName""#))
  }

  @Test(arguments: [("+short", "--short"), ("+noall", "--help"), ("TXT", "--type TXT")])
  func `so it is behind -t, where records are asked for`(_ argument: String, _ advice: String) async {
    let fixture = CommandFixture(zone: ["www.example.com": .addresses(["192.0.2.10"])])
    let outcome = await fixture.resolve(["--provider", "google", "-t", "A", "--short", "www.example.com", argument])
    #expect(outcome.status == 1 && outcome.output == "192.0.2.10\n", "\(outcome)")
    #expect(
      outcome.errors.hasPrefix("dnsctl: \"\(argument)\": ") && outcome.errors.contains(advice), "\(outcome.errors)")
  }

  @Test func `a name in small letters is looked up, and its error says what may have been meant`() async {
    let fixture = CommandFixture(systemZone: ["mx": .missing, "ns": .addresses(["192.0.2.2"])])
    let outcome = await fixture.resolve(["--format", "short", "ns", "mx"])
    #expect(outcome.output == "192.0.2.2\n" && outcome.status == 1)
    #expect(outcome.errors.contains("mx does not exist") && outcome.errors.contains("If a record type was meant: "))
  }

  @Test(arguments: ["MX", "A", "mx"]) func `a name that stands alone is meant as one`(_ name: String) async {
    let fixture = CommandFixture(systemZone: [name.lowercased(): .addresses(["192.0.2.2"])])
    #expect(await fixture.resolve(["--format", "short", name]) == .init(status: 0, output: "192.0.2.2\n", errors: ""))
  }

  @Test(arguments: [
    ("https://www.example.com/", "give www.example.com alone"), ("www.example.com:443", "give www.example.com alone"),
    ("fe80::1%eth0", "give fe80::1 without it"), (".", "the root of DNS"),
  ])
  func `what is more than a name is answered with the name`(_ text: String, _ advice: String) async {
    for command in [
      ["resolve"], ["cache", "forget", "--store", "redis://cache"], ["watch", "--count", "1", "--format", "json"],
    ] {
      let outcome = await CommandFixture(store: MemoryAnswerStore()).run(command + [text])
      #expect((outcome.output + outcome.errors).contains(advice), "\(command): \(outcome)")
    }
  }
}
