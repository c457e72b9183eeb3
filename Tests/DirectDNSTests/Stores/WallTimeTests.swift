// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

@Suite struct WallTimeTests {
  private static let start = WallInstant(milliseconds: 1_700_000_000_000)
  private var time = WallTime(wall: Self.start, now: Sample.at(1000))

  private func answer(
    askedAgo: Duration, lifetime: Duration = .seconds(100), negative: Bool = false, at wall: WallInstant = Self.start
  ) -> StoredAnswer {
    let asked = wall - askedAgo
    return StoredAnswer(
      AddressQuestion(Sample.name("www.example.net"), .ipv4),
      negative ? .negative(.noAddress) : .addresses([.ipv4(1)]), provider: "one", asked: asked,
      expires: asked + lifetime, gone: asked + .seconds(86_400))
  }

  private func phase(_ life: CacheLife, at now: ResolverInstant) -> CachePhase {
    CacheTimes(CachePolicy()).phase(of: life, isNegative: false, expired: .allowed, epoch: .min, at: now)
  }

  /// What an answer is whose age is not known exactly: expired, and beyond grace.
  private func isStale(_ life: CacheLife, at now: ResolverInstant) -> Bool { phase(life, at: now) == .stale }

  @Test func `a stored life lies on the time line as it lay on the wall clock`() {
    #expect(time.life(of: answer(askedAgo: .seconds(30)), CachePolicy()) == Sample.life(970, 1070))
    // Before this machine was started.
    #expect(time.life(of: answer(askedAgo: .seconds(5000)), CachePolicy()) == Sample.life(-4000, -3900))
    #expect(time.stamp(Sample.at(970)) == Self.start - .seconds(30))
  }

  @Test func `a life is no longer than the reader's policy allows, whoever wrote it`() {
    let positive = answer(askedAgo: .zero, lifetime: .seconds(1_000_000))
    let negative = answer(askedAgo: .zero, lifetime: .seconds(1_000_000), negative: true)
    #expect(time.life(of: positive, CachePolicy()) == Sample.life(1000, 4600))
    #expect(time.life(of: negative, CachePolicy()) == Sample.life(1000, 1300))
  }

  /// Instants of others: as a store's row, or a file that is imported, may have them.
  private static let extremes: [Int64] = [
    .min, .min + 1, -0x20_0000_0000_0000, -1, 0, 1_700_000_000_000, 1_700_000_000_001, 0x20_0000_0000_0000, .max - 1,
    .max,
  ]

  @Test(arguments: extremes, [Duration.seconds(3600), .seconds(Int64.max), .zero])
  func `whatever instants a store has, a lookup can reckon with them`(_ asked: Int64, _ longest: Duration) {
    for expires in Self.extremes {
      for gone in Self.extremes {
        let stored = StoredAnswer(
          AddressQuestion(Sample.name("www.example.net"), .ipv4), .addresses([.ipv4(1)]), provider: "one",
          asked: WallInstant(milliseconds: asked), expires: WallInstant(milliseconds: expires),
          gone: WallInstant(milliseconds: gone))
        let policy = CachePolicy(maximumTTL: longest, maximumStale: longest)
        let life = time.life(of: stored, policy)
        for now in [Sample.at(1000), Sample.at(1_000_000_000)] {
          for expired in ExpiredUse.allCases {
            _ = CacheTimes(policy).phase(of: life, isNegative: false, expired: expired, epoch: .min, at: now)
          }
          _ = KeepAliveSchedule.next(life, failures: 0, jitter: 1, policy: policy, now: now)
          let left = life.expireAt - now.nanoseconds
          let resolution = Resolution(
            addresses: AddressList([.ipv4(1)]), canonicalName: nil, freshness: .stale, source: .store,
            ageNanoseconds: now.nanoseconds - life.askedAt, timeToLiveNanoseconds: left)
          #expect(resolution.expiredFor ?? .zero >= .zero)
        }
        _ = stored.state(at: Self.start, policy: policy)
        _ = [stored.asked, stored.expires, stored.gone].map { time.stamp(ResolverInstant(nanoseconds: 0)) - $0 }
      }
    }
  }

  @Test func `a clock that is a little ahead of ours is believed`() {
    #expect(time.life(of: answer(askedAgo: .milliseconds(-900)), CachePolicy()) == Sample.life(1000, 1100))
  }

  @Test func `an answer from the future is stale`() {
    #expect(isStale(time.life(of: answer(askedAgo: .milliseconds(-1001)), CachePolicy()), at: Sample.at(1000)))
    #expect(isStale(time.life(of: answer(askedAgo: .seconds(-86_400)), CachePolicy()), at: Sample.at(1000)))
  }

  @Test func `an answer that is further in the future than one may be used is gone`() {
    for ahead in [86_401, 100_000_000] {
      let life = time.life(of: answer(askedAgo: .seconds(-ahead)), CachePolicy())
      #expect(phase(life, at: Sample.at(1000)) == .gone)
    }
  }

  @Test(arguments: [-3600, -60, -2, 2, 60, 3600])
  mutating func `after a jump what was stamped before it is stale, and what is stamped afterwards is not`(
    _ jump: Int
  ) {
    let before = answer(askedAgo: .seconds(5))
    let wall = Self.start + .seconds(jump + 10)
    time.look(wall: wall, now: Sample.at(1010))
    #expect(isStale(time.life(of: before, CachePolicy()), at: Sample.at(1010)))
    // The clock shows what it has not shown before, however far it was set back.
    let later = Sample.at(1010 + Double(abs(jump)) + 11)
    let wallLater = wall + .seconds(abs(jump) + 11)
    time.look(wall: wallLater, now: later)
    let after = answer(askedAgo: .seconds(5), at: wallLater)
    #expect(
      time.life(of: after, CachePolicy())
        == CacheLife(
          askedAt: (later - .seconds(5)).nanoseconds, expireAt: (later + .seconds(95)).nanoseconds))
  }

  @Test(arguments: [-3600, -60, -2, 2, 60, 3600, 31_536_000])
  mutating func `a jump brings back no answer that was gone`(_ jump: Int) {
    let before = answer(askedAgo: .seconds(3 * 86_400))
    time.look(wall: Self.start + .seconds(jump + 10), now: Sample.at(1010))
    #expect(phase(time.life(of: before, CachePolicy()), at: Sample.at(1010)) == .gone)
  }

  @Test(arguments: [-3600, -60, -2, 2, 60, 3600, 31_536_000])
  mutating func `an answer from before a jump grows older, and is gone in the end`(_ jump: Int) {
    let before = answer(askedAgo: .seconds(100))
    time.look(wall: Self.start + .seconds(jump + 10), now: Sample.at(1010))
    let age = 1010 * 1_000_000_000 - time.life(of: before, CachePolicy()).askedAt
    // Set back by less than its age, it need not be older than the clock says.
    let seconds = (-110..<0).contains(jump) ? 110 + jump : 110
    #expect(age == Int64(seconds) * 1_000_000_000)
    let later = 86_400 + max(0, -jump)
    time.look(wall: Self.start + .seconds(jump + later), now: Sample.at(1000 + Double(later)))
    #expect(phase(time.life(of: before, CachePolicy()), at: Sample.at(1000 + Double(later))) == .gone)
  }

  @Test mutating func `jumps add up`() {
    let before = answer(askedAgo: .seconds(10))
    for (seconds, wall) in [(10, 3610), (20, 7220), (30, 3630)] {
      time.look(wall: Self.start + .seconds(wall), now: Sample.at(1000 + Double(seconds)))
    }
    // It seems to be 3640 s old; of the 7200 s that were skipped 3600 were taken back.
    #expect(time.life(of: before, CachePolicy()).askedAt == Sample.at(1030 - 40).nanoseconds)
    #expect(isStale(time.life(of: before, CachePolicy()), at: Sample.at(1030)))
    // The clock showed that 5 s before it was set back.
    let ahead = answer(askedAgo: .seconds(-7225))
    #expect(time.life(of: ahead, CachePolicy()).askedAt == Sample.at(1030 - 5).nanoseconds)
  }

  @Test(arguments: [3600, 315_360_000])
  mutating func `a clock that is set to and fro keeps no answer for ever, and ages none`(_ jump: Int) {
    let (old, young) = (answer(askedAgo: .seconds(25 * 3600)), answer(askedAgo: .seconds(60)))
    for step in 1...50_000 {
      let offset = step.isMultiple(of: 2) ? 0 : jump
      time.look(wall: Self.start + .milliseconds(step + offset * 1000), now: Sample.at(1000 + Double(step) / 1000))
    }
    let now = Sample.at(1050)
    #expect(phase(time.life(of: old, CachePolicy()), at: now) == .gone)
    #expect(time.life(of: young, CachePolicy()).askedAt == Sample.at(1050 - 110).nanoseconds)
    // The clock showed that when it was set for the first time.
    let ahead = answer(askedAgo: .seconds(-jump))
    #expect(time.life(of: ahead, CachePolicy()).askedAt == Sample.at(1050 - 50).nanoseconds)
  }

  @Test mutating func `a clock that is slewed has not jumped`() {
    for step in 1...1000 {
      time.look(wall: Self.start + .milliseconds(step * 10_500), now: Sample.at(1000 + Double(step) * 10))
    }
    let wall = Self.start + .seconds(10_500)
    let life = time.life(of: answer(askedAgo: .seconds(30), at: wall), CachePolicy())
    #expect(life == Sample.life(10_970, 11_070))
  }
}
