// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

/// Two families: which is waited for, and how long.
extension ResolverAskingTests {
  @Test func `A and AAAA are asked together`() async throws {
    let fixture = try ResolverFixture { $0.families = .any }
    fixture.transport.answer { _ in .silence }
    let lookup = fixture.begin()
    await fixture.clock.waitForSleepers(2)
    #expect(Set(fixture.transport.sent.map(\.question.family)) == [.ipv4, .ipv6])
    #expect(fixture.transport.sent.allSatisfy { $0.at == Sample.at(0) })
    lookup.cancel()
    _ = await lookup.value
  }

  /// A fixture whose families answer after so many milliseconds, or not with addresses.
  private func racing(_ ipv4: Script, _ ipv6: Script) throws -> ResolverFixture {
    let fixture = try ResolverFixture {
      $0.families = .any
      $0.usesSystemDNS = false
    }
    fixture.transport.answer { $0.family == .ipv4 ? ipv4 : ipv6 }
    return fixture
  }

  private static func four(_ milliseconds: Int = 0) -> Script {
    .answer(.addresses("192.0.2.1"), after: .milliseconds(milliseconds))
  }
  private static func six(_ milliseconds: Int = 0) -> Script {
    .answer(.addresses("2001:db8::1"), after: .milliseconds(milliseconds))
  }

  /// A fixture one of whose families answers at once, and the other one later.
  private func racing(first: IPAddress.Family, after milliseconds: Int) throws -> ResolverFixture {
    try first == .ipv4
      ? racing(Self.four(), Self.six(milliseconds)) : racing(Self.four(milliseconds), Self.six())
  }

  private static func text(_ family: IPAddress.Family) -> String { family == .ipv4 ? "192.0.2.1" : "2001:db8::1" }
  private static let both: Set = ["192.0.2.1", "2001:db8::1"]

  @Test(arguments: IPAddress.Family.allCases)
  func `the family that comes second has 50 ms more, whichever it is`(_ first: IPAddress.Family) async throws {
    let fixture = try racing(first: first, after: 49)
    let lookup = fixture.begin()
    await fixture.clock.waitForSleepers(2)
    fixture.clock.advance(by: .milliseconds(49))
    #expect(Set(try await lookup.value.get().texts) == Self.both)
  }

  @Test(arguments: IPAddress.Family.allCases)
  func `one family goes alone after 50 ms, and the other joins the entry later`(
    _ first: IPAddress.Family
  ) async throws {
    let fixture = try racing(first: first, after: 80)
    let lookup = fixture.begin()
    await fixture.clock.waitForSleepers(2)
    fixture.clock.advance(by: .milliseconds(50))
    #expect(try await lookup.value.get().texts == [Self.text(first)])
    fixture.clock.advance(by: .milliseconds(30))
    await fixture.settle()
    #expect(Set(fixture.resolver.cached(Self.host)?.texts ?? []) == Self.both)
    #expect(fixture.transport.count == 2)
  }

  @Test func `who connects has the preferred family at once`() async throws {
    let fixture = try racing(Self.four(500), Self.six(500))
    let first: IPAddress.Family = fixture.resolver.prefersIPv6 ? .ipv6 : .ipv4
    fixture.transport.answer { $0.family == first ? (first == .ipv6 ? Self.six() : Self.four()) : .silence }
    var options = LookupOptions()
    options.purpose = .connecting
    #expect(try await fixture.resolver.resolve(Self.host, options: options).texts == [Self.text(first)])
  }

  @Test(arguments: IPAddress.Family.allCases)
  func `a family that nobody asked for yet has 50 ms, while the cache has the other one`(
    _ known: IPAddress.Family
  ) async throws {
    let fixture = try racing(Self.four(), Self.six())
    _ = try await fixture.resolver.resolve(Self.host, options: LookupOptions(families: .init(known)))
    #expect(Set(try await fixture.resolver.resolve(Self.host).texts) == Self.both)
    let slow = try racing(first: known, after: 60)
    _ = try await slow.resolver.resolve(Self.host, options: LookupOptions(families: .init(known)))
    let lookup = slow.begin()
    await slow.clock.waitForSleepers(2)
    slow.clock.advance(by: .milliseconds(50))
    #expect(try await lookup.value.get().texts == [Self.text(known)])
    // Who connects is told of it by the race.
    var options = LookupOptions()
    options.purpose = .connecting
    #expect(try await slow.resolver.resolve(Self.host, options: options).texts == [Self.text(known)])
  }

  @Test func `a family that had none is not waited for again`() async throws {
    let fixture = try racing(
      .answer(.addresses("192.0.2.1", ttl: 3600)), .answer(.negative(.noAddress, ttl: 10)))
    _ = try await fixture.resolver.resolve(Self.host)
    fixture.clock.advance(by: .seconds(20))
    fixture.transport.answer { _ in .silence }
    #expect(try await fixture.resolver.resolve(Self.host).texts == ["192.0.2.1"])
    #expect(fixture.transport.sent.count { $0.question.family == .ipv6 } == 2)
  }

  @Test(arguments: IPAddress.Family.allCases)
  func `a family of TTL 0 is no less there than the other, and what is cached has the other alone`(
    _ unkept: IPAddress.Family
  ) async throws {
    let fixture = try racing(
      .answer(.addresses("192.0.2.1", ttl: unkept == .ipv4 ? 0 : 3600)),
      .answer(.addresses("2001:db8::1", ttl: unkept == .ipv6 ? 0 : 3600)))
    for count in 2...4 {
      #expect(Set(try await fixture.resolver.resolve(Self.host).texts) == Self.both)
      #expect(fixture.transport.count == count)
      #expect(fixture.resolver.cached(Self.host)?.texts == [Self.text(unkept == .ipv4 ? .ipv6 : .ipv4)])
    }
    // There is nothing to renew, and nothing to refresh behind what is cached.
    #expect(try await !fixture.resolver.renew(Self.host, nil, isPatient: true).wasAsked)
    await fixture.settle()
    #expect(fixture.transport.count == 4 && fixture.transport.sent.last?.question.family == unkept)
  }

  @Test func `the first use of an answer begins where its server says`() async throws {
    let addresses = ["192.0.2.3", "192.0.2.1", "192.0.2.2"]
    for step in 0..<20 {
      let fixture = try ResolverFixture()
      fixture.clock.advance(by: .milliseconds(37 * step))
      fixture.transport.answer { _ in .answer(Answer(.addresses(addresses.map(Sample.address)), ttl: 100)) }
      #expect(try await fixture.resolver.resolve(Self.host).texts == addresses)
    }
  }

  @Test(arguments: [
    Script.answer(.negative(.noAddress)), .answer(.negative(.nameNotFound)), .code(.serverFailure), .down,
  ])
  func `a family that failed or has nothing does not end the lookup while the other is open`(
    _ script: Script
  ) async throws {
    for (fixture, expected) in [
      (try racing(Self.four(1000), script), "192.0.2.1"), (try racing(script, Self.six(1000)), "2001:db8::1"),
    ] {
      let lookup = fixture.begin()
      await fixture.clock.waitForSleepers()
      fixture.clock.advance(by: .milliseconds(1000))
      #expect(try await lookup.value.get().texts == [expected])
      #expect(fixture.resolver.cached(Self.host)?.texts == [expected])
    }
  }

  @Test func `not found only if both families say so`() async throws {
    let missing = Script.answer(.negative(.nameNotFound))
    let empty = Script.answer(.negative(.noAddress))
    #expect(await (try racing(missing, missing)).failure()?.code == .nameNotFound)
    #expect(await (try racing(missing, empty)).failure()?.code == .noAddress)
    #expect(await (try racing(empty, missing)).failure()?.code == .noAddress)
    #expect(await (try racing(empty, empty)).failure()?.code == .noAddress)
  }

  @Test func `a family that failed is no proof that the name does not exist`() async throws {
    let missing = Script.answer(.negative(.nameNotFound))
    #expect(await (try racing(missing, .down)).failure()?.code == .upstreamFailed)
    #expect(await (try racing(.down, missing)).failure()?.code == .upstreamFailed)
  }

  @Test func `a known negative answer of one family is not asked for again with the other`() async throws {
    let fixture = try racing(.answer(.negative(.noAddress, ttl: 300)), .code(.serverFailure))
    #expect(await fixture.failure()?.code == .upstreamFailed)
    fixture.clock.advance(by: .seconds(2))
    fixture.transport.answer { _ in Self.six() }
    #expect(try await fixture.resolver.resolve(Self.host).texts == ["2001:db8::1"])
    #expect(fixture.transport.sent.map(\.question.family).count { $0 == .ipv4 } == 1)
  }

  @Test(arguments: [AddressFamilies.ipv4, .ipv6])
  func `a caller who wants one family asks for no other`(_ families: AddressFamilies) async throws {
    let fixture = try racing(Self.four(), Self.six())
    let resolution = try await fixture.resolver.resolve(
      Self.host, options: LookupOptions(families: families))
    #expect(resolution.texts == (families == .ipv4 ? ["192.0.2.1"] : ["2001:db8::1"]))
    #expect(fixture.transport.count == 1)
    #expect(fixture.transport.sent.map(\.question.family) == families.members)
  }

  @Test func `two families with two lifetimes are refreshed each on its own`() async throws {
    let fixture = try racing(
      .answer(.addresses("192.0.2.1", ttl: 100)), .answer(.addresses("2001:db8::1", ttl: 1000)))
    _ = await fixture.outcome()
    await fixture.settle()
    fixture.clock.advance(by: .seconds(80))
    #expect(fixture.resolver.cached(Self.host)?.freshness == .due)
    await fixture.settle()
    #expect(fixture.transport.sent.map(\.question.family).count { $0 == .ipv4 } == 2)
    #expect(fixture.transport.sent.map(\.question.family).count { $0 == .ipv6 } == 1)
  }
}
