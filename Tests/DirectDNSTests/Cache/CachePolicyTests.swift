// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct CachePolicyTests {
  private static let never = Int64.min

  private func phase(
    _ now: ResolverInstant, _ life: CacheLife = Sample.life(0, 100), isNegative: Bool = false,
    expired: ExpiredUse = .allowed, epoch: ResolverInstant? = nil, under policy: CachePolicy = CachePolicy()
  ) -> CachePhase {
    CacheTimes(policy).phase(
      of: life, isNegative: isNegative, expired: expired, epoch: epoch?.nanoseconds ?? Self.never, at: now)
  }

  // MARK: The life of an answer

  @Test(arguments: [
    (Sample.at(0), CachePhase.fresh), (Sample.at(75).before, .fresh), (Sample.at(75), .due),
    (Sample.at(100).before, .due), (Sample.at(100), .grace), (Sample.at(130), .grace),
    (Sample.at(130).after, .stale), (Sample.at(100 + 86_400), .stale),
    (Sample.at(100 + 86_400).after, .gone),
  ])
  func `an answer of 100 s is fresh, due, in grace, stale and gone, each to the nanosecond`(
    _ now: ResolverInstant, _ expected: CachePhase
  ) {
    #expect(phase(now) == expected)
  }

  @Test(arguments: [
    (20.0, Sample.at(40), CachePhase.grace), (20, Sample.at(40).after, .stale), (30, Sample.at(60), .grace),
    (30, Sample.at(60).after, .stale), (31, Sample.at(61), .grace), (31, Sample.at(61).after, .stale),
    (1, Sample.at(2), .grace), (1, Sample.at(2).after, .stale),
  ])
  func `grace is at most the answer's own lifetime`(
    _ ttl: Double, _ now: ResolverInstant, _ expected: CachePhase
  ) {
    #expect(phase(now, Sample.life(0, ttl)) == expected)
  }

  @Test func `without grace an answer is stale as soon as it expires`() {
    let policy = CachePolicy(grace: .zero)
    #expect(phase(Sample.at(100).before, under: policy) == .due)
    #expect(phase(Sample.at(100), under: policy) == .stale)
  }

  @Test func `without a stale time an answer is gone as soon as it has expired`() {
    let policy = CachePolicy(grace: .zero, maximumStale: .zero)
    #expect(phase(Sample.at(100).after, under: policy) == .gone)
  }

  @Test func `grace never outlasts the stale time`() {
    let policy = CachePolicy(grace: .seconds(30), maximumStale: .seconds(10))
    #expect(phase(Sample.at(110), under: policy) == .grace)
    #expect(phase(Sample.at(110).after, under: policy) == .gone)
  }

  @Test func `an answer that is not refreshed ahead is fresh to its end`() {
    let policy = CachePolicy(refreshesAhead: false)
    #expect(phase(Sample.at(100).before, under: policy) == .fresh)
    #expect(phase(Sample.at(100), under: policy) == .grace)
  }

  @Test(arguments: [
    (Sample.at(75), CachePhase.due), (Sample.at(100).before, .due), (Sample.at(100), .gone),
    (Sample.at(130), .gone),
  ])
  func `a caller who refuses expired answers finds a miss from the moment of expiry`(
    _ now: ResolverInstant, _ expected: CachePhase
  ) {
    #expect(phase(now, expired: .refused) == expected)
  }

  @Test(arguments: [
    (Sample.at(74), CachePhase.fresh), (Sample.at(99), .due), (Sample.at(100), .grace),
    (Sample.at(100 + 86_400), .grace), (Sample.at(100 + 86_400).after, .gone),
  ])
  func `a caller who prefers expired answers has grace for as long as they may be stale`(
    _ now: ResolverInstant, _ expected: CachePhase
  ) {
    #expect(phase(now, expired: .preferred) == expected)
    #expect(phase(now, expired: .preferred, under: CachePolicy(grace: .zero)) == expected)
  }

  @Test(arguments: ExpiredUse.allCases)
  func `a negative answer is fresh to its end and gone from then on`(_ expired: ExpiredUse) {
    #expect(phase(Sample.at(99), isNegative: true, expired: expired) == .fresh)
    #expect(phase(Sample.at(100).before, isNegative: true, expired: expired) == .fresh)
    #expect(phase(Sample.at(100), isNegative: true, expired: expired) == .gone)
  }

  @Test func `what was asked before the network changed is due at once, and a negative answer a miss`() {
    let changed = Sample.at(10)
    let before = Sample.life(10, 110)
    #expect(phase(Sample.at(11), Sample.life(9, 109), epoch: changed) == .due)
    #expect(phase(Sample.at(11), Sample.life(9, 109), isNegative: true, epoch: changed) == .gone)
    #expect(phase(Sample.at(11), before, epoch: changed) == .fresh)
    #expect(phase(Sample.at(11), before, isNegative: true, epoch: changed) == .fresh)
  }

  @Test func `a change of network takes nothing from an expired answer`() {
    #expect(phase(Sample.at(101), epoch: Sample.at(100.5)) == .grace)
    #expect(phase(Sample.at(200), epoch: Sample.at(150)) == .stale)
  }

  @Test func `time only ever moves an answer on`() {
    var random = SeededGenerator(seed: 1)
    for _ in 0..<500 {
      let ttl = Int64.random(in: 1...4_000_000_000_000, using: &random)
      let life = CacheLife(askedAt: 0, expireAt: ttl)
      let policy = CachePolicy(
        grace: .seconds(Int64.random(in: 0...60, using: &random)),
        maximumStale: .seconds(Int64.random(in: 0...90_000, using: &random)))
      let expired = ExpiredUse.allCases.randomElement(using: &random) ?? .allowed
      let instants = (0..<12).map { _ in Int64.random(in: 0...100_000_000_000_000, using: &random) }.sorted()
      let phases = instants.map {
        phase(ResolverInstant(nanoseconds: $0), life, expired: expired, under: policy).rawValue
      }
      #expect(phases == phases.sorted(), "ttl \(ttl), \(policy.grace), \(policy.maximumStale), \(expired)")
    }
  }

  // MARK: Lifetimes

  @Test(arguments: [
    (UInt32(1), Duration.seconds(10)), (9, .seconds(10)), (10, .seconds(10)), (11, .seconds(11)),
    (3599, .seconds(3599)), (3600, .seconds(3600)), (3601, .seconds(3600)), (604_800, .seconds(3600)),
    (.max, .seconds(3600)),
  ])
  func `a TTL is clamped to 10 s … 1 h`(_ ttl: UInt32, _ lifetime: Duration) {
    #expect(CachePolicy().lifetime(of: .addresses("192.0.2.1", ttl: ttl)) == lifetime)
  }

  @Test func `TTL 0 is not kept, and the least TTL does not lift it`() {
    #expect(CachePolicy().lifetime(of: .addresses("192.0.2.1", ttl: 0)) == nil)
    #expect(CachePolicy(minimumTTL: .seconds(60)).lifetime(of: .addresses("192.0.2.1", ttl: 0)) == nil)
  }

  @Test func `addresses without a TTL are not kept`() {
    #expect(CachePolicy().lifetime(of: Answer(.addresses(Sample.addresses("192.0.2.1")), ttl: nil)) == nil)
  }

  @Test(arguments: [Answer.Negative.nameNotFound, .noAddress])
  func `a negative answer lives for 1 … 300 s, and not at all without an SOA`(_ kind: Answer.Negative) {
    let policy = CachePolicy()
    #expect(policy.lifetime(of: .negative(kind, ttl: 0)) == .seconds(1))
    #expect(policy.lifetime(of: .negative(kind, ttl: 1)) == .seconds(1))
    #expect(policy.lifetime(of: .negative(kind, ttl: 60)) == .seconds(60))
    #expect(policy.lifetime(of: .negative(kind, ttl: 300)) == .seconds(300))
    #expect(policy.lifetime(of: .negative(kind, ttl: 301)) == .seconds(300))
    #expect(policy.lifetime(of: .negative(kind, ttl: 86_400)) == .seconds(300))
    #expect(policy.lifetime(of: .negative(kind, ttl: nil)) == nil)
  }

  @Test func `a negative answer without an SOA lives as long as the knob says`() {
    let policy = CachePolicy(negativeTTLWithoutSOA: .seconds(5))
    #expect(policy.lifetime(of: .negative(.nameNotFound, ttl: nil)) == .seconds(5))
    #expect(policy.lifetime(of: .negative(.nameNotFound, ttl: 7)) == .seconds(7))
    let long = CachePolicy(negativeTTLWithoutSOA: .seconds(1000))
    #expect(long.lifetime(of: .negative(.noAddress, ttl: nil)) == .seconds(300))
  }

  @Test(arguments: [(0, 1), (1, 2), (2, 4), (3, 8), (4, 16), (5, 30), (6, 30), (62, 30), (1000, 30)])
  func `a failure is remembered for 1 s, doubling to 30 s`(_ failures: Int, _ seconds: Int) {
    #expect(CachePolicy().failureTTL(after: failures) == .seconds(seconds))
  }

  @Test func `failures are not remembered at all when the least memory is none`() {
    #expect(CachePolicy(minimumFailureTTL: .zero).failureTTL(after: 9) == .zero)
  }

  @Test(arguments: [
    (CachePolicy(minimumTTL: .seconds(3601)), "cache.minimumTTL is greater than cache.maximumTTL."),
    (
      CachePolicy(minimumNegativeTTL: .seconds(301)),
      "cache.minimumNegativeTTL is greater than cache.maximumNegativeTTL."
    ),
    (
      CachePolicy(minimumFailureTTL: .seconds(100), maximumFailureTTL: .seconds(1)),
      "cache.minimumFailureTTL is greater than cache.maximumFailureTTL."
    ),
    (
      CachePolicy(maximumFailureTTL: .milliseconds(300_001)),
      "cache.maximumFailureTTL is 300.001 seconds: a failure is remembered for at most 300 s (RFC 9520)."
    ),
  ])
  func `bounds that are no bounds, and a longer memory of failures than RFC 9520 has, are refused`(
    _ policy: CachePolicy, _ message: String
  ) {
    let error = #expect(throws: DirectDNSError.self) { try policy.validate() }
    #expect(error?.code == .invalidConfiguration && error?.message == message)
  }

  @Test func `a negative time is refused by its name, and none at all is not`() throws {
    let times: [(name: String, property: WritableKeyPath<CachePolicy, Duration>)] = [
      ("minimumTTL", \.minimumTTL), ("maximumTTL", \.maximumTTL), ("grace", \.grace),
      ("maximumStale", \.maximumStale), ("clientResponseTimeout", \.clientResponseTimeout),
      ("minimumNegativeTTL", \.minimumNegativeTTL), ("maximumNegativeTTL", \.maximumNegativeTTL),
      ("minimumFailureTTL", \.minimumFailureTTL), ("maximumFailureTTL", \.maximumFailureTTL),
      ("failureRecheck", \.failureRecheck),
    ]
    for (name, property) in times {
      var policy = CachePolicy()
      policy[keyPath: property] = .milliseconds(-1)
      let error = #expect(throws: DirectDNSError.self) { try policy.validate() }
      #expect(error?.code == .invalidConfiguration && error?.message.hasPrefix("cache.\(name) is -0.001 s") == true)
    }
    var policy = CachePolicy(negativeTTLWithoutSOA: .seconds(-1))
    let error = #expect(throws: DirectDNSError.self) { try policy.validate() }
    #expect(error?.message == "cache.negativeTTLWithoutSOA is -1.0 seconds: 0 s is the least.")
    policy.negativeTTLWithoutSOA = .zero
    for (_, property) in times { policy[keyPath: property] = .zero }
    try policy.validate()
  }

  @Test func `bounds may be the same, and failures be remembered for 5 minutes`() throws {
    try CachePolicy(minimumFailureTTL: .seconds(300), maximumFailureTTL: .seconds(300)).validate()
    try CachePolicy(minimumTTL: .zero, maximumTTL: .zero, minimumNegativeTTL: .zero, maximumNegativeTTL: .zero)
      .validate()
  }

  @Test func `the defaults are those of the documentation`() {
    let policy = CachePolicy()
    #expect(policy.minimumTTL == .seconds(10))
    #expect(policy.maximumTTL == .seconds(3600))
    #expect(policy.grace == .seconds(30))
    #expect(policy.maximumStale == .seconds(24 * 3600))
    #expect(policy.clientResponseTimeout == .milliseconds(300))
    #expect(policy.minimumNegativeTTL == .seconds(1))
    #expect(policy.maximumNegativeTTL == .seconds(300))
    #expect(policy.negativeTTLWithoutSOA == nil)
    #expect(policy.minimumFailureTTL == .seconds(1))
    #expect(policy.maximumFailureTTL == .seconds(30))
    #expect(policy.failureRecheck == .seconds(30))
    #expect(policy.refreshesAhead)
  }
}
