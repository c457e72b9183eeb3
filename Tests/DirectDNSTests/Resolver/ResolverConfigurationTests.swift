import Testing

@testable import DirectDNS

struct ResolverConfigurationTests {
  @Test func `the defaults are those of the design`() {
    let configuration = ResolverConfiguration()
    #expect(configuration.providers.map(\.provider.name) == ["alidns", "google", "cloudflare"])
    #expect(configuration.usesSystemDNS && configuration.hedges)
    #expect(configuration.capacity == 10_000)
    #expect(configuration.timeout == .seconds(5))
    #expect(configuration.families == .any)
    #expect(configuration.keepAlive.isEmpty)
  }

  private typealias Change = @Sendable (inout ResolverConfiguration) -> Void

  private static let senseless: [(Change, String)] = [
    ({ $0.timeout = .zero }, "timeout"), ({ $0.capacity = 0 }, "capacity"), ({ $0.families = [] }, "families"),
    ({ $0.cache.minimumTTL = .seconds(7200) }, "minimumTTL"),
    ({ $0.providers[0].rateLimit = RateLimit(perSecond: 0) }, "rate"),
    ({ ($0.providers, $0.usesSystemDNS) = ([], false) }, "no provider"),
    ({ ($0.providers[0].bootstrap, $0.usesSystemDNS) = ([], false) }, "--bootstrap dns.alidns.com"),
  ]

  @Test(arguments: senseless)
  func `a value that makes no sense is an error that names it`(
    _ change: @Sendable (inout ResolverConfiguration) -> Void, _ part: String
  ) {
    var configuration = ResolverConfiguration()
    change(&configuration)
    let error = #expect(throws: DirectDNSError.self) { _ = try Resolver(configuration) }
    #expect(error?.code == .invalidConfiguration)
    #expect(error?.message.contains(part) == true)
  }
}
