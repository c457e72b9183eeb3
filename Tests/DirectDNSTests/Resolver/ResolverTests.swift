import Testing

@testable import DirectDNS

struct ResolverTests {
  @Test(arguments: [
    ("192.0.2.1", "192.0.2.1"), ("2001:db8::1", "2001:db8::1"), ("[2001:db8::1]", "2001:db8::1"),
    ("0x7f.1", "127.0.0.1"), ("2130706433", "127.0.0.1"),
  ])
  func `an address in any spelling is its own answer, and nobody is asked`(_ text: String, _ address: String)
    async throws
  {
    let laboratory = try Laboratory { $0.families = .any }
    let found = try await laboratory.resolver.resolve(text)
    #expect(found.addresses.map(\.description) == [address])
    #expect(found.source == .literal)
    #expect(found.timeToLive == nil)
    #expect(laboratory.resolver.cached(text)?.addresses.map(\.description) == [address])
    #expect(laboratory.attempts.isEmpty)
  }

  @Test(arguments: ["fe80::1%eth0", "[::1", "a b", "", "999.1.1.1"])
  func `what is neither name nor address is refused before anyone is asked`(_ text: String) async throws {
    let laboratory = try Laboratory()
    await #expect(throws: DirectDNSError.self) { try await laboratory.resolver.resolve(text) }
    #expect(laboratory.resolver.cached(text) == nil)
    #expect(laboratory.attempts.isEmpty)
  }

  @Test func `a resolver that was shut down still has its cache, and asks no more`() async throws {
    let laboratory = try Laboratory()
    laboratory.transport.answer { _ in .answer(.addresses("192.0.2.1", ttl: 60)) }
    _ = try await laboratory.resolver.resolve(Laboratory.host)
    laboratory.resolver.shutDown()
    #expect(laboratory.resolver.cached(Laboratory.host) != nil)
    let error = await #expect(throws: DirectDNSError.self) {
      try await laboratory.resolver.resolve("other.example.net")
    }
    #expect(error?.code == .shutDown)
  }
}
