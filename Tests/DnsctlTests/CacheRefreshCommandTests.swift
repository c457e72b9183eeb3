// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
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

  @Test func `says in its help which store is its default, unlike that of other commands that resolve`() {
    #expect(CacheRefreshCommand.helpMessage(columns: 1000).contains("(default: memory; of cache refresh: sqlite)"))
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

  @Test(arguments: [
    (1, "2001:db8::20", IPAddress.Family.ipv4, "192.0.2.2"), (28, "192.0.2.20", .ipv6, "2001:db8::1"),
  ])
  func `says so where one family alone was refreshed`(
    _ failing: Int, _ answer: String, _ family: IPAddress.Family, _ stays: String
  ) async throws {
    let fixture = try CacheFixture()
    fixture.fixture.transport.failingType.withLock { $0 = failing }
    let outcome = await fixture.run(["refresh", "--format", "short", "www.example.com"] + Self.upstream)
    #expect(outcome.status == 0 && outcome.output == answer + "\n")
    #expect(
      outcome.errors
        == "dnsctl: 1 name was refreshed for one family alone, since no provider answered for the other: what is stored stays.\n"
    )
    let stored = try fixture.store.read([AddressQuestion(HostName("www.example.com"), family)])
    #expect(stored.count == 1 && stored[0].text.contains(stays), "\(stored)")
    // A family that was not asked for is not missed.
    let one = ["refresh", "--format", "short", "-\(failing == 1 ? 6 : 4)", "www.example.com"]
    let other = await fixture.run(one + Self.upstream)
    #expect(other.status == 0 && other.errors == outcome.errors)
  }

  @Test(arguments: [["192.0.2.9"], ["192.0.2.9", "2001:db8::9"]])
  func `stores nothing that the system's DNS says in place of the providers`(_ addresses: [String]) async throws {
    var fixture = try CacheFixture()
    fixture.fixture.zone = ["www.example.com": .code(2)]
    fixture.fixture.systemZone = ["www.example.com": .addresses(addresses)]
    let outcome = await fixture.run(["refresh", "--format", "short", "www.example.com", "--provider", "google"])
    #expect(outcome.status == 0 && Set(outcome.output.split(separator: "\n").map(String.init)) == Set(addresses))
    #expect(
      outcome.errors == "dnsctl: 1 name was not refreshed, since no provider answered: what is stored stays.\n")
    let stored = try fixture.store.read([AddressQuestion(HostName("www.example.com"), .ipv4)])
    #expect(stored.count == 1 && stored[0].text.contains("192.0.2.1,192.0.2.2"), "\(stored)")
  }

  @Test func `says so where only the system's DNS is asked, and denies the name`() async throws {
    var fixture = try CacheFixture()
    fixture.fixture.systemZone = ["nas.home.arpa": .missing]
    let outcome = await fixture.run(["refresh", "nas.home.arpa", "--provider", "google"])
    #expect(outcome.status == 1 && outcome.output == "")
    #expect(
      outcome.errors.hasSuffix("dnsctl: 1 name was not refreshed, since no provider answered: what is stored stays.\n"),
      "\(outcome.errors)")
  }

  @Test(arguments: [1, 28])
  func `counts the family that a provider answered for, also where the system's DNS has the other one`(
    _ failing: Int
  ) async throws {
    var fixture = try CacheFixture()
    fixture.fixture.transport.failingType.withLock { $0 = failing }
    fixture.fixture.systemZone = ["www.example.com": .addresses(["192.0.2.9", "2001:db8::9"])]
    let outcome = await fixture.run(["refresh", "--format", "short", "www.example.com", "--provider", "google"])
    #expect(outcome.status == 0)
    #expect(
      outcome.errors
        == "dnsctl: 1 name was refreshed for one family alone, since no provider answered for the other: what is stored stays.\n"
    )
  }

  @Test(arguments: [(-1, 1), (0, 0)])
  func `forgets at a second try what it was to forget at the first, though lookups read nothing`(
    _ seconds: Int, _ left: Int
  ) async throws {
    let fixture = try CacheFixture()
    let question = try AddressQuestion(HostName("www.example.com"), .ipv4)
    let stored = try #require(fixture.store.read([question]).first)
    let store = RenewingStore(base: fixture.store)
    #expect(try await store.read([question]).isEmpty)
    try await store.removeOlder([question: stored.asked + .seconds(seconds)])
    #expect(fixture.store.read([question]).count == left)
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
