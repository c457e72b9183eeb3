// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DnsctlCommands

@Suite(.timeLimit(.minutes(1))) struct `dnsctl cache refresh` {
  private static let upstream = ["--provider", "google", "--no-system"]

  @Test func `asks about both families whatever is stored, and stores what is said`() async throws {
    let fixture = try CacheFixture()
    let outcome = await fixture.run(["refresh", "--format", "short", "www.example.com"] + Self.upstream)
    #expect(outcome.status == 0)
    #expect(Set(outcome.output.split(separator: "\n")) == ["192.0.2.20", "2001:db8::20"])
    #expect(fixture.fixture.transport.asked.withLock { $0 }.count == 2)
    let shown = await fixture.run("show", "--format", "json", "www.example.com")
    #expect(shown.output.contains(#""addresses":["192.0.2.20"]"#), "\(shown.output)")
    #expect(shown.output.contains(#""addresses":["2001:db8::20"]"#))
  }

  @Test func `leaves what is stored where the providers fail, with the status of resolve`() async throws {
    var fixture = try CacheFixture()
    fixture.fixture.zone = ["www.example.com": .failure(.timedOut)]
    let outcome = await fixture.run(["refresh", "www.example.com"] + Self.upstream)
    #expect(outcome.status == 2)
    #expect(outcome.output == "")
    #expect(
      outcome.errors.hasSuffix(
        "dnsctl: 1 name was not refreshed, since no provider answered: what is stored stays.\n"))
    #expect(try fixture.isStored("www.example.com") && fixture.isStored("www.example.com", .ipv6))
    #expect(await fixture.run(["refresh", "a b"] + Self.upstream).status == 1)
    let refused = try await CacheFixture().run(["refresh", "x.onion"] + Self.upstream)
    #expect(refused.status == 3 && !refused.errors.contains("refreshed"))
  }

  @Test func `ends with 74 where the store takes nothing`() async throws {
    let fixture = CommandFixture(zone: ["www.example.com": .addresses(["192.0.2.20"])])
    let outcome = await fixture.run(
      ["cache", "refresh", "--store", "/dev/null/answers.sqlite", "--family", "ipv4", "www.example.com"]
        + Self.upstream)
    #expect(outcome.status == 74)
    #expect(outcome.output.hasPrefix("www.example.com"))
    #expect(outcome.errors.hasSuffix("dnsctl: 1 answer was not stored.\n"), "\(outcome.errors)")
  }
}
