// SPDX-License-Identifier: Apache-2.0
/// Connects a resolver to its store: reads within a time limit, writes in the background, and converts between the
/// store's wall-clock times and the resolver's own clock.
final class StoreLink: Sendable {
  private let fleet: (any FleetAnswerStore)?
  private let policy: Locked<CachePolicy>
  private let clock: any ResolverClock
  private let reader: StoreReader
  private let writer: StoreWriter
  private let time: Locked<WallTime>

  /// - Parameters:
  ///   - store: the store.
  ///   - policy: says how long answers are used.
  ///   - clock: the resolver's clock.
  ///   - limit: how long a lookup waits for the store.
  ///   - report: called with the store's events.
  init(
    _ store: any AnswerStore, policy: CachePolicy, clock: any ResolverClock, limit: Duration,
    report: @escaping @Sendable (StoreEvent) -> Void
  ) {
    fleet = store as? any FleetAnswerStore
    self.policy = Locked(policy)
    self.clock = clock
    reader = StoreReader(store, clock: clock, limit: limit, report: report)
    writer = StoreWriter(store, clock: clock, report: report)
    time = Locked(WallTime(wall: clock.wallNow, now: clock.now))
  }

  /// Takes over another policy.
  func update(_ policy: CachePolicy) { self.policy.withLock { $0 = policy } }

  /// Whether the store has leases.
  var hasLeases: Bool { fleet != nil }

  // MARK: Answers

  /// Reads the answer to a question, with its times converted to the resolver's clock.
  func read(_ question: AddressQuestion, source: UInt16) async -> StoreReading<CacheEntry> {
    let answer: StoredAnswer
    // A change that has yet to be written is newer than what the store has.
    switch writer.pending(question) {
    case .keep(let pending)?: answer = pending
    case .forget?: return .nothing
    case nil:
      switch await reader.read(question) {
      case .found(let stored) where stored.content.fits(question.family): answer = stored
      case .found: return .nothing
      case .nothing: return .nothing
      case .unavailable: return .unavailable
      }
    }
    return .found(
      CacheEntry(
        content: answer.content, canonicalName: answer.canonicalName, source: source,
        life: readClocks().life(of: answer, policy.withLock(\.self))))
  }

  /// Has an answer written, or removed if it is not to be kept, and then ends the lease of its question.
  func write(
    _ entry: CacheEntry?, to question: AddressQuestion, provider: String, lease: StoreLease?
  ) {
    let change: PendingWrites.Change
    if let entry {
      let time = readClocks()
      let expires = time.stamp(ResolverInstant(nanoseconds: entry.life.expireAt))
      change = .keep(
        StoredAnswer(
          question, entry.content, canonicalName: entry.canonicalName, provider: provider,
          asked: time.stamp(ResolverInstant(nanoseconds: entry.life.askedAt)), expires: expires,
          gone: entry.isNegative ? expires : expires + policy.withLock(\.maximumStale)))
    } else {
      change = .forget(clock.wallNow)
    }
    guard let lease else { return writer.add(change, to: question) }
    writer.add(change, to: question) { await self.end(lease) }
  }

  /// Has the answer to a question removed.
  func forget(_ question: AddressQuestion) { writer.add(.forget(clock.wallNow), to: question) }

  /// Whether a read is under way, even if nobody waits for it any more.
  var isReading: Bool { reader.isReading }

  /// Writes everything that has yet to be written, until that instant at most.
  func flush(until instant: ResolverInstant) async -> StoreFlush {
    await writer.flush(until: instant)
  }

  /// Writes everything that has yet to be written, until that instant at most, and returns how many answers the store
  /// has evicted in all.
  func drain(until instant: ResolverInstant) async -> Int { await writer.drain(until: instant) }

  /// Has the store bring everything into its final form, until that instant at most.
  func checkpoint(until instant: ResolverInstant) async { await writer.checkpoint(until: instant) }

  private func readClocks() -> WallTime {
    var before = clock.now
    var (wall, now) = (clock.wallNow, clock.now)
    // A thread that is interrupted between reading the two clocks would see a jump that is none.
    for _ in 0..<3 where now - before > WallTime.tolerance / 10 {
      before = clock.now
      (wall, now) = (clock.wallNow, clock.now)
    }
    return time.withLock { time in
      time.look(wall: wall, now: now)
      return time
    }
  }

  // MARK: Leases

  func takeLease(on question: AddressQuestion, for duration: Duration) async -> StoreLease.State {
    guard let fleet else { return .unavailable }
    let lease = StoreLease(question: question, holder: "\(UInt128.random(in: .min ... .max))")
    let isTaken = await reader.lease(late: { if $0 { self.endSoon(lease) } }) { () throws(DirectDNSError) in
      try await fleet.takeLease(on: question, holder: lease.holder, for: duration)
    }
    return switch isTaken {
    case true?: .taken(lease)
    case false?: .held
    case nil: .unavailable
    }
  }

  /// Ends a lease in the background.
  func endSoon(_ lease: StoreLease) { Task { await end(lease) } }

  private func end(_ lease: StoreLease) async {
    guard let fleet else { return }
    // If that fails, it expires.
    do throws(DirectDNSError) { try await fleet.endLease(on: lease.question, holder: lease.holder) } catch {}
  }
}

/// The difference between the wall clock and the resolver's steady clock: a value that is updated by reading both.
///
/// A wall clock may be set, which shows when both clocks are read. From then on, an answer with a time from before
/// counts as one whose age is not known exactly.
struct WallTime: Sendable, Hashable {
  /// The largest difference between the clocks of two machines, or of a clock to the right time, that is ignored.
  static let tolerance = Duration.seconds(1)

  private var wall: WallInstant
  private var monotonic: ResolverInstant
  /// Times up to this one may be from before the clock was set.
  private var doubtful = WallInstant(milliseconds: .min)
  /// How far the clock has been set forward, and how far back, in all.
  private var (forward, back) = (Duration.zero, Duration.zero)

  init(wall: WallInstant, now: ResolverInstant) {
    self.wall = wall
    monotonic = now
  }

  /// Reads both clocks.
  mutating func look(wall: WallInstant, now: ResolverInstant) {
    let expected = self.wall + (now - monotonic)
    let difference = wall - expected
    // A clock that is set back shows some times twice; one that is set forward skips some.
    if difference > Self.tolerance || difference < .zero - Self.tolerance {
      doubtful = max(doubtful, wall, expected)
      if difference > .zero { forward += difference } else { back -= difference }
    }
    self.wall = wall
    monotonic = now
  }

  /// The wall clock's time for an instant of the resolver's clock.
  func stamp(_ instant: ResolverInstant) -> WallInstant { wall + (instant - monotonic) }

  /// The life of a stored answer, by the resolver's clock.
  ///
  /// The age of an answer is not known exactly if its times are in the future, or from before the clock was set. It
  /// counts as expired since it was asked for, as far as that can be told, and past ``CachePolicy/grace``: it serves if
  /// there is nothing better, and is gone after ``CachePolicy/maximumStale``. No answer lives longer than this
  /// resolver's policy allows, whatever the store says.
  func life(of answer: StoredAnswer, _ policy: CachePolicy) -> CacheLife {
    let age = wall - answer.asked
    guard answer.asked > doubtful, age >= .zero - Self.tolerance else {
      let asked = monotonic - min(max(leastAge(age), .nanoseconds(1)), CacheLife.horizon)
      return CacheLife(askedAt: asked.nanoseconds, expireAt: asked.nanoseconds)
    }
    let isNegative = if case .negative = answer.content { true } else { false }
    let longest = isNegative ? policy.maximumNegativeTTL : policy.maximumTTL
    let asked = monotonic - min(max(age, .zero), CacheLife.horizon)
    let lifetime = min(max(answer.expires - answer.asked, .zero), longest, CacheLife.horizon)
    return CacheLife(askedAt: asked.nanoseconds, expireAt: (asked + lifetime).nanoseconds)
  }

  /// The least age of an answer that seems to be that old, or to be from the future.
  ///
  /// It grows with time, so that no answer is used for ever because a clock was set.
  private func leastAge(_ seeming: Duration) -> Duration {
    // Some of the time since may have been skipped.
    guard seeming < .zero else { return seeming - forward }
    // It is from before this clock was set back. If that does not explain it, a clock was wrong by at least that much,
    // here or where it was written; what is further ahead than an answer may be used has no use here.
    let age = seeming + back
    return age < .zero ? .zero - age : age
  }
}
