// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

/// Names that are looked up elsewhere from then on, or no longer: pins, and those of the system's DNS.
extension ResolverUpdatingTests {
  @Test func `a pin holds at once, over an answer that is there, and no longer than it stands there`() async throws {
    let fixture = try ResolverFixture()
    try await fixture.learn("192.0.2.1", ttl: 3600)
    try await fixture.learn("192.0.2.1", ttl: 3600, host: Sample.name("other.example"))
    try update(fixture) { $0.localZones.pins = [Self.host: Sample.addresses("192.0.2.99")] }
    #expect(fixture.resolver.cached(Self.host)?.source == .pin)
    #expect(fixture.resolver.cached("WWW.example.net.")?.texts == ["192.0.2.99"])
    #expect(try await fixture.resolver.resolve(Self.host).texts == ["192.0.2.99"])
    #expect(fixture.resolver.cached("other.example")?.source == .provider("one"))
    try update(fixture) { $0.localZones.pins = [:] }
    #expect(fixture.resolver.cached(Self.host) == nil)
    await fixture.settle()
    #expect(try await fixture.resolver.resolve(Self.host).texts == ["192.0.2.1"])
  }

  @Test func `an answer that was asked for before the pin came does not cover it`() async throws {
    let fixture = try ResolverFixture()
    fixture.transport.reply { _ in .answer(.addresses("192.0.2.7", ttl: 3600), after: .seconds(1)) }
    let lookup = fixture.begin()
    await fixture.clock.waitForSleepers()
    try update(fixture) { $0.localZones.pins = [Self.host: Sample.addresses("192.0.2.99")] }
    fixture.clock.advance(by: .seconds(1))
    _ = await lookup.value
    await fixture.settle()
    #expect(fixture.resolver.cached(Self.host)?.texts == ["192.0.2.99"])
  }

  @Test func `a name that became local is asked of the system's DNS alone`() async throws {
    let fixture = try ResolverFixture()
    let name = Sample.name("intra.corp.example")
    try await fixture.learn("192.0.2.1", ttl: 3600, host: name)
    try update(fixture) { $0.localZones.suffixes = [Sample.name("corp.example")] }
    fixture.system.answer { _ in .answer(.addresses("10.0.0.1")) }
    #expect(try await fixture.resolver.resolve(name).texts == ["10.0.0.1"])
    #expect(fixture.transport.count == 1)
  }

  @Test func `a local name is refused once the system's DNS is switched off, whatever that has said of it`()
    async throws
  {
    let printer = Sample.name("printer.local")
    let fixture = try ResolverFixture("one")
    fixture.system.answer { _ in .answer(.addresses("10.0.0.9", ttl: 60)) }
    #expect(try await fixture.resolver.resolve(printer).texts == ["10.0.0.9"])
    try update(fixture) { $0.usesSystemDNS = false }
    #expect(fixture.resolver.cached(printer) == nil)
    #expect(await fixture.failure(printer)?.code == .refused)

    // One that is under way reaches those who wait for it, and nobody after them.
    try update(fixture) { $0.usesSystemDNS = true }
    let asked = fixture.system.count
    fixture.system.answer { _ in .answer(.addresses("10.0.0.8", ttl: 60), after: .seconds(1)) }
    let lookup = fixture.begin(printer)
    await fixture.system.waitForAsked(asked + 1)
    await fixture.clock.waitForSleepers()
    try update(fixture) { $0.usesSystemDNS = false }
    fixture.clock.advance(by: .seconds(1))
    #expect(try await lookup.value.get().texts == ["10.0.0.8"])
    #expect(fixture.resolver.cached(printer) == nil && fixture.transport.count == 0)
    #expect(await fixture.failure(printer)?.code == .refused)
  }

  @Test func `whoever waits for a name that is pinned meanwhile gets the pin, and so do all after him`() async throws {
    let fixture = try ResolverFixture("one")
    fixture.transport.answer { _ in .answer(.addresses("192.0.2.1", ttl: 3600), after: .seconds(2)) }
    let lookup = fixture.begin()
    await fixture.transport.waitForSent(1)
    try update(fixture) {
      $0.providers = providers("two")
      $0.localZones.pins = [Self.host: Sample.addresses("192.0.2.9")]
    }
    #expect(try await lookup.value.get().texts == ["192.0.2.9"])
    await fixture.pass(.seconds(3))
    #expect(fixture.resolver.cached(Self.host)?.source == .pin && fixture.transport.asked == ["one"])
  }

  @Test func `a kept-alive name that is looked up elsewhere for a while is asked for soon when it is back`()
    async throws
  {
    let fixture = try ResolverFixture("one") { $0.keepAlive = [Self.host] }
    fixture.transport.answer(Script.addresses("192.0.2.1", ttl: 3600))
    await fixture.transport.waitForSent(1)
    await fixture.settle()
    try update(fixture) { $0.localZones.pins = [Self.host: Sample.addresses("192.0.2.9")] }
    await fixture.pass(.seconds(2))
    try update(fixture) { $0.localZones.pins = [:] }
    await fixture.pass(.seconds(2))
    #expect(fixture.resolver.cached(Self.host)?.texts == ["192.0.2.1"])
  }

  @Test func `what the system's DNS has denied is asked of the first provider, and what it has named stays`()
    async throws
  {
    let fixture = try ResolverFixture { $0.providers = [] }
    let other = Sample.name("other.example")
    fixture.system.answer { question in
      question.host == other
        ? .answer(.addresses("192.0.2.66", ttl: 60)) : .answer(.negative(.nameNotFound, ttl: 60))
    }
    #expect(await fixture.failure()?.code == .nameNotFound)
    #expect(try await fixture.resolver.resolve(other).texts == ["192.0.2.66"])
    fixture.transport.answer { _ in .answer(.addresses("192.0.2.1", ttl: 3600)) }
    try update(fixture) { $0.providers = providers("one") }
    #expect(await fixture.outcome().resolution?.texts == ["192.0.2.1"])
    #expect(fixture.resolver.cached(other)?.source == .system)
    // What a provider has said outlives the last one of them.
    try update(fixture) { $0.providers = [] }
    #expect(fixture.resolver.cached(Self.host)?.source == .provider("one"))
  }

  @Test func `a family of which only the system's answer is forgotten is asked of the providers by the next lookup`()
    async throws
  {
    let both = Script.addresses("2001:db8::1", "192.0.2.1", ttl: 3600)
    let fixture = try ResolverFixture("one") { $0.families = .any }
    fixture.transport.answer { $0.family == .ipv4 ? .down : both($0) }
    fixture.system.answer(Script.addresses("192.0.2.66", ttl: 60))
    for (families, text) in [(AddressFamilies.ipv4, "192.0.2.66"), (.ipv6, "2001:db8::1")] {
      let options = LookupOptions(families: families)
      #expect(try await fixture.resolver.resolve(Self.host, options: options).texts == [text])
    }
    fixture.transport.answer(both)
    try update(fixture) { $0.usesSystemDNS = false }
    #expect(Set(try await fixture.resolver.resolve(Self.host).texts) == ["2001:db8::1", "192.0.2.1"])

    // Likewise its word that there is no IPv6 address, once there is a provider.
    let alone = try ResolverFixture {
      $0.providers = []
      $0.families = .any
    }
    alone.system.answer(Script.addresses("192.0.2.66", ttl: 60))
    #expect(try await alone.resolver.resolve(Self.host).texts == ["192.0.2.66"])
    alone.transport.answer(both)
    try update(alone) { $0.providers = providers("one") }
    #expect(Set(try await alone.resolver.resolve(Self.host).texts) == ["2001:db8::1", "192.0.2.66"])
  }
}
