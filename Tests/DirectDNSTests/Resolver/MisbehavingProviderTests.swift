// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import HTTPTypes
import Testing

@testable import DirectDNS

/// What a lookup gives when the first of two providers does something wrong: each row of what real servers and their
/// networks do, through the whole of the library, over sockets.
// One after the other: three hundred servers at once would starve every other test of this run.
@Suite(.serialized, .timeLimit(.minutes(1)))
struct MisbehavingProviderTests {
  /// What serves the lookup.
  enum Expected: Sendable, Equatable {
    /// The first provider's own answer.
    case first
    /// The second provider's, since the first one failed.
    case second
    /// The first provider's negative answer, which is an answer.
    case negative(String)
  }

  struct Row: Sendable, CustomTestStringConvertible {
    var format: String
    var misbehaviour: Misbehaviour
    var expected: Expected
    var testDescription: String { "\(format): \(misbehaviour)" }

    init(_ format: String, _ misbehaviour: Misbehaviour, gives expected: Expected) {
      self.format = format
      self.misbehaviour = misbehaviour
      self.expected = expected
    }
  }

  private static let loop: [DNSRecord] = {
    let names = ["www.shop.test", "other.test"].compactMap { DNSName($0) }
    return [
      DNSRecord(owner: names[0], type: .cname, ttl: 60, data: .name(names[1])),
      DNSRecord(owner: names[1], type: .cname, ttl: 60, data: .name(names[0])),
    ]
  }()

  /// An address of another name alone.
  private static let foreign = [
    DNSRecord(owner: DNSName(Sample.name("other.test")), type: .a, ttl: 60, data: .address(.ipv4(0xCB00_7142)))
  ]

  private static let json = "json+BASE/resolve"
  private static let cloudflare = "json+BASE/dns-query"
  private static let doh = "doh+BASE/dns-query"
  private static let post = "doh-post+BASE/dns-query"
  private static let pod = "dnspod+BASE/d"
  private static let emas = "emas+BASE/7/d"
  private static let emas2 = "emas+BASE/v2/d?id=7"

  /// What any format does with any server.
  private static let anywhere: [Row] = [json, doh, post, pod, emas, emas2].flatMap { format in
    [
      Row(format, .age(0), gives: .first), Row(format, .chunked, gives: .first),
      Row(format, .status(500), gives: .second),
      Row(format, .status(502), gives: .second), Row(format, .status(404), gives: .second),
      Row(format, .status(401), gives: .second), Row(format, .status(429), gives: .second),
      Row(format, .status(429, retryAfter: 5), gives: .second),
      Row(format, .redirect(to: "http://127.0.0.1:1/"), gives: .second),
      Row(format, .html, gives: .second), Row(format, .body([0x7b]), gives: .second),
      Row(format, .close, gives: .second),
      Row(format, .reset, gives: .second), Row(format, .truncatedBody, gives: .second),
      Row(format, .hang, gives: .second),
      Row(format, .holdBody, gives: .second),
      Row(format, .drip(bytes: 1, every: .milliseconds(200)), gives: .second),
      Row(format, .padded(to: 70_000), gives: .second), Row(format, .gzip, gives: .second),
      Row(format, .dateOff(by: 3600), gives: .first),
    ]
  }

  private static let rows: [Row] =
    anywhere + [
      Row(json, .badKey, gives: .second), Row(json, .aliasOnly, gives: .negative("noAddress")),
      Row(json, .emptyAnswer, gives: .negative("noAddress")),
      Row(json, .missingAnswer, gives: .negative("noAddress")),
      Row(json, .nullAnswer, gives: .negative("noAddress")), Row(json, .short, gives: .second),
      Row(json, .responseCode(.formatError), gives: .second),
      Row(json, .responseCode(.serverFailure), gives: .second),
      Row(json, .responseCode(.notImplemented), gives: .second),
      Row(json, .responseCode(.refused), gives: .second),
      Row(json, .responseCode(.nameError), gives: .negative("nameNotFound")),
      Row(json, .truncated, gives: .second),
      Row(json, .missingStatus, gives: .second), Row(json, .textNumbers, gives: .first),
      Row(json, .emptyBody, gives: .second),
      Row(json, .wrongQuestion, gives: .second), Row(json, .contentType("text/plain"), gives: .second),
      Row(json, .contentType(nil), gives: .second), Row(json, .poisoned(.ipv4(0xCB00_7142)), gives: .first),
      Row(json, .answers(loop), gives: .second), Row(json, .answers(foreign), gives: .second),
      Row(json, .status(400, body: #"{"error":"Invalid"}"#), gives: .second),
      Row(cloudflare, .age(0), gives: .first), Row(cloudflare, .responseCode(.serverFailure), gives: .second),
      Row(cloudflare, .responseCode(.nameError), gives: .negative("nameNotFound")),
      Row(doh, .age(30), gives: .first), Row(doh, .age(300), gives: .first),
      Row(doh, .cacheControl(nil), gives: .first),
      Row(doh, .cacheControl("no-store"), gives: .first), Row(doh, .wrongID, gives: .second),
      Row(doh, .wrongQuestion, gives: .second), Row(doh, .responseCode(.serverFailure), gives: .second),
      Row(doh, .responseCode(.refused), gives: .second),
      Row(doh, .responseCode(.nameError), gives: .negative("nameNotFound")),
      Row(doh, .truncated, gives: .second), Row(doh, .emptyBody, gives: .second),
      Row(doh, .padded(to: 65_536), gives: .second),
      Row(doh, .contentType("application/json"), gives: .second),
      Row(doh, .contentType("application/dns-message; charset=x"), gives: .first),
      Row(doh, .aliasOnly, gives: .negative("noAddress")),
      Row(doh, .poisoned(.ipv4(0xCB00_7142)), gives: .first),
      Row(doh, .answers(loop), gives: .second), Row(doh, .answers(foreign), gives: .second),
      Row(post, .status(415), gives: .second),
      Row(post, .status(405), gives: .second),
      Row(pod, .emptyBody, gives: .negative("noAddress")),
      Row(pod, .body(Array("0".utf8)), gives: .negative("noAddress")),
      Row(pod, .body(Array("0-0".utf8)), gives: .second), Row(pod, .badKey, gives: .second),
      Row(pod, .status(501), gives: .second),
      Row(pod, .body(Array("www.shop.test.:0|192.0.2.9".utf8)), gives: .negative("noAddress")),
      Row(pod, .status(204), gives: .second), Row(pod, .status(202, body: ""), gives: .second),
      Row(emas, .body(Array(#"{"host":"www.shop.test","error":"internal"}"#.utf8)), gives: .second),
      Row(emas, .body(Array(#"{"host":"www.shop.test","ips":"192.0.2.1","ttl":60}"#.utf8)), gives: .second),
      Row(pod, .body(Array("wrong.test.:192.0.2.66,60".utf8)), gives: .second),
      Row(emas, .badKey, gives: .second), Row(emas, .ttl(0), gives: .first),
      Row(emas, .extra(#"{"a":"<b>"}"#), gives: .first),
      Row(emas, .wrongQuestion, gives: .second), Row(emas2, .badKey, gives: .second),
      Row(emas2, .ttl(0), gives: .first),
      Row(emas2, .vendorError("AccountNotExists"), gives: .second),
      Row(emas2, .vendorError("ServiceLevelDeny"), gives: .second),
      Row(emas2, .noAddressCode("RRNotExist"), gives: .negative("noAddress")),
      Row(emas2, .noAddressCode("DomainNotExist"), gives: .negative("nameNotFound")),
      Row(emas2, .wrongQuestion, gives: .second),
    ]
    + [
      "InvalidHost", "UnsignedInterfaceDisabled", "InvalidAccount", "AccountNotExists", "SignatureExpired",
      "InvalidSignature",
      "InvalidDuration", "ServiceLevelDeny", "MissingArgument", "MethodNotAllowed", "TooManyHosts",
    ].map { Row(emas, .vendorError($0), gives: .second) }

  @Test(arguments: rows)
  func `a provider's failure is another provider's turn, and its answer is an answer`(_ row: Row) async throws {
    let first = try await server("192.0.2.1", ttl: 60)
    let second = try await server("192.0.2.2", ttl: 60)
    first.misbehave(row.misbehaviour)
    // Hedging would hide who failed, except where waiting is all that could be done.
    let resolver = try resolver(
      row.format.replacing("BASE", with: first.baseURL), "doh+" + second.url("/dns-query"),
      hedges: row.misbehaviour.isSlow
    )
    let outcome = await outcome(resolver, "www.shop.test")
    switch row.expected {
    case .first:
      #expect(outcome == "192.0.2.1")
      #expect(second.requests.isEmpty)
    case .second: #expect(outcome == "192.0.2.2")
    case .negative(let code):
      #expect(outcome == code)
      #expect(second.requests.isEmpty)
    }
    resolver.shutdown()
    await first.stop()
    await second.stop()
  }

  @Test(arguments: [
    (Misbehaviour.status(500), "upstreamFailed"), (.responseCode(.serverFailure), "upstreamFailed"),
    (.html, "upstreamFailed"), (.close, "upstreamFailed"),
  ])
  func `when every provider fails, the error names each and its reason`(_ what: Misbehaviour, _ code: String)
    async throws
  {
    let first = try await server("192.0.2.1", ttl: 60)
    let second = try await FakeProvider.start(
      records: Self.records("192.0.2.2", ttl: 60), configuration: .init(address: .ipv6(high: 0, low: 1)))
    for server in [first, second] { server.misbehave(what) }
    // Time stands still, so that each query has its full share of the second, however busy the machine is.
    let resolver = try resolver(
      "json+" + first.url("/resolve"), "doh+" + second.url("/dns-query"),
      timeout: what.isSlow ? .seconds(1) : .seconds(20),
      clock: ManualClock())
    let error = await #expect(throws: DirectDNSError.self) { try await resolver.resolve("www.shop.test") }
    #expect(error?.code.description == code)
    #expect(error?.attempts.map(\.server) == ["127.0.0.1", "[::1]"])
    #expect(error?.attempts.allSatisfy { !$0.reason.isEmpty } == true)
    resolver.shutdown()
    await first.stop()
    await second.stop()
  }

  @Test func `Age shortens what is kept`() async throws {
    let server = try await server("192.0.2.1", ttl: 300)
    server.misbehave(.age(100))
    let resolver = try resolver("doh+" + server.url("/dns-query"))
    let resolution = try await resolver.resolve("www.shop.test")
    let left = try #require(resolution.timeToLive)
    #expect(left > .seconds(190) && left <= .seconds(200))
    resolver.shutdown()
    await server.stop()
  }

  @Test func `a reply that is older than its records live serves as an expired answer when its provider has died`()
    async throws
  {
    let server = try await server("192.0.2.1", ttl: 300)
    server.misbehave(.age(400))
    let clock = ManualClock()
    let resolver = try resolver("doh+" + server.url("/dns-query"), clock: clock)
    #expect(try await resolver.resolve("www.shop.test").timeToLive == .seconds(10))
    await server.stop()
    clock.advance(by: .seconds(60))
    let expired = try await resolver.resolve("www.shop.test")
    #expect(expired.freshness == .stale && expired.addresses.map(\.description) == ["192.0.2.1"])
    resolver.shutdown()
  }

  @Test func `429 with Retry-After is not asked again before that`() async throws {
    let first = try await server("192.0.2.1", ttl: 60)
    let second = try await server("192.0.2.2", ttl: 60)
    first.misbehave(.status(429, retryAfter: 60))
    let resolver = try resolver("json+" + first.url("/resolve"), "doh+" + second.url("/dns-query"))
    for number in 0..<5 {
      #expect(await outcome(resolver, "n\(number).shop.test") == "192.0.2.2")
    }
    #expect(first.requests.count == 1)
    resolver.shutdown()
    await first.stop()
    await second.stop()
  }

  @Test func `signed requests are taken, and a wrong secret is the next provider's turn`() async throws {
    let account = AliDNSAccount(id: "100", accessKeyID: "AKID", accessKeySecret: "right")
    let table = Self.records("192.0.2.1", ttl: 60)
    let first = try await FakeProvider.start(records: table, configuration: .init(alidnsAccount: account))
    let second = try await server("192.0.2.2", ttl: 60)
    for (secret, expected) in [("right", "192.0.2.1"), ("wrong", "192.0.2.2")] {
      let credentials = ProviderCredentials(account: "100", keyID: "AKID", secret: Secret(secret))
      var configuration = ResolverConfiguration(providers: [
        try ProviderConfiguration("json+" + first.url("/resolve"), credentials: credentials),
        try ProviderConfiguration("doh+" + second.url("/dns-query")),
      ])
      configuration.usesSystemDNS = false
      configuration.families = .ipv4
      configuration.hedges = false
      configuration.timeout = .seconds(20)
      let resolver = try DirectResolver(configuration)
      #expect(await outcome(resolver, "www.shop.test") == expected)
      resolver.shutdown()
    }
    await first.stop()
    await second.stop()
  }

  // MARK: The pieces

  private static func records(_ address: String, ttl: UInt32) -> RecordTable {
    RecordTable { table in
      table.synthesise { name, type in
        guard name.hasSuffix(".shop.test"), let address = IPAddress(address) else { return nil }
        return type == .a ? [.address(name, address, ttl: ttl)] : []
      }
    }
  }

  private func server(_ address: String, ttl: UInt32) async throws -> FakeProvider {
    try await FakeProvider.start(records: Self.records(address, ttl: ttl))
  }

  private func resolver(
    _ providers: String..., hedges: Bool = false, timeout: Duration = .seconds(20),
    clock: any ResolverClock = SystemClock()
  ) throws -> DirectResolver {
    var configuration = ResolverConfiguration(providers: try providers.map { try ProviderConfiguration($0) })
    configuration.usesSystemDNS = false
    configuration.families = .ipv4
    configuration.timeout = timeout
    configuration.hedges = hedges
    return try DirectResolver(configuration, clock: clock)
  }

  /// The first address, or the error's code.
  private func outcome(_ resolver: DirectResolver, _ name: String) async -> String {
    do throws(DirectDNSError) {
      return try await resolver.resolve(name).addresses.map(\.description).first ?? "none"
    } catch {
      return error.code.description
    }
  }
}

extension Misbehaviour {
  /// Whether a server that does this takes all the time it is given.
  fileprivate var isSlow: Bool {
    switch self {
    case .hang, .holdBody, .drip: true
    default: false
    }
  }
}
