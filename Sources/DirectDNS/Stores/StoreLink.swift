// SPDX-License-Identifier: Apache-2.0
/// A resolver's end of its store: reads in time, writes behind, and knows what the wall clock's stamps are worth.
final class StoreLink: Sendable {
  /// The right to ask for all members.
  struct Lease: Sendable, Hashable {
    var question: AddressQuestion
    var holder: String
  }

  /// What came of trying to take a lease.
  enum LeaseState: Sendable, Hashable {
    case taken(Lease)
    /// Another member asks.
    case held
    /// The store has no leases, or cannot say just now.
    case unavailable
  }

  private let fleet: (any FleetAnswerStore)?
  private let policy: Locked<CachePolicy>
  private let clock: any ResolverClock
  private let reader: StoreReader
  private let writer: StoreWriter
  private let time: Locked<WallTime>

  /// - Parameters:
  ///   - store: the store.
  ///   - policy: for how long answers are used.
  ///   - clock: the resolver's.
  ///   - limit: for how long a lookup waits for the store.
  ///   - report: is told when the store fails and when it works again.
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

  /// Goes on by another policy.
  func update(_ policy: CachePolicy) { self.policy.withLock { $0 = policy } }

  /// Whether members take turns.
  var hasLeases: Bool { fleet != nil }

  // MARK: Answers

  /// What the store knows about a question, on this resolver's time line.
  func read(_ question: AddressQuestion, source: UInt16) async -> StoreReading<CacheEntry> {
    let answer: StoredAnswer
    // What the store has yet to hear is newer than what it would say.
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
        life: lookAtClocks().life(of: answer, policy.withLock(\.self))))
  }

  /// Has an answer written, or forgotten where it is not to be kept, and then ends the lease that it was asked under.
  func write(_ entry: CacheEntry?, to question: AddressQuestion, provider: String, lease: Lease?) {
    let change: PendingWrites.Change
    if let entry {
      let time = lookAtClocks()
      let expires = time.stamp(ResolverInstant(nanoseconds: entry.life.expireAt))
      change = .keep(
        StoredAnswer(
          question, entry.content, canonicalName: entry.canonicalName, provider: provider,
          asked: time.stamp(ResolverInstant(nanoseconds: entry.life.askedAt)), expires: expires,
          gone: entry.isNegative ? expires : expires + policy.withLock(\.maximumStale)))
    } else {
      change = .forget
    }
    guard let lease else { return writer.add(change, to: question) }
    writer.add(change, to: question) { await self.end(lease) }
  }

  /// Has a question forgotten.
  func forget(_ question: AddressQuestion) { writer.add(.forget, to: question) }

  /// Whether a read is under way, be it that nobody waits for it any more.
  var isReading: Bool { reader.isReading }

  /// Writes what is yet to be written, until then at most.
  func flush(until instant: ResolverInstant) async -> (unwritten: Int, letGo: Int, reason: DirectDNSError?) {
    await writer.flush(until: instant)
  }

  /// Writes what is yet to be written, until then at most, and says how many answers the store has let go in all.
  func settle(until instant: ResolverInstant) async -> Int { await writer.settle(until: instant) }

  /// Has the store bring what was written to where it stays, until then at most.
  func checkpoint(until instant: ResolverInstant) async { await writer.checkpoint(until: instant) }

  private func lookAtClocks() -> WallTime {
    var before = clock.now
    var (wall, now) = (clock.wallNow, clock.now)
    // A thread that was held up between the two clocks would see a jump where there is none.
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

  func takeLease(on question: AddressQuestion, for duration: Duration) async -> LeaseState {
    guard let fleet else { return .unavailable }
    let lease = Lease(question: question, holder: "\(UInt128.random(in: .min ... .max))")
    let isTaken = await reader.lease(late: { if $0 { self.endSoon(lease) } }) { () throws(DirectDNSError) in
      try await fleet.takeLease(on: question, holder: lease.holder, for: duration)
    }
    return switch isTaken {
    case true?: .taken(lease)
    case false?: .held
    case nil: .unavailable
    }
  }

  /// Ends a lease behind the caller's back.
  func endSoon(_ lease: Lease) { Task { await end(lease) } }

  private func end(_ lease: Lease) async {
    guard let fleet else { return }
    // One that cannot be ended ends by itself.
    do throws(DirectDNSError) { try await fleet.endLease(on: lease.question, holder: lease.holder) } catch {}
  }
}

/// How the wall clock stands to the resolver's own time line: a value, moved on by looking at both.
///
/// Wall clocks are set. Whoever looks at both clocks sees it, and from then on takes no stamp from before for more than it
/// is: an answer of unknown age.
struct WallTime: Sendable, Hashable {
  /// So far may two machines' clocks be apart, and a clock from where it should be, before it counts.
  static let tolerance = Duration.seconds(1)

  private var wall: WallInstant
  private var monotonic: ResolverInstant
  /// Stamps up to this one may be of the clock as it was before it was set.
  private var doubtful = WallInstant(milliseconds: .min)

  init(wall: WallInstant, now: ResolverInstant) {
    self.wall = wall
    monotonic = now
  }

  /// Looks at both clocks.
  mutating func look(wall: WallInstant, now: ResolverInstant) {
    let expected = self.wall + (now - monotonic)
    let difference = wall - expected
    // Set back, the clock shows times again that it has shown before; set forward, it leaves some out.
    if difference > Self.tolerance || difference < .zero - Self.tolerance { doubtful = max(doubtful, wall, expected) }
    self.wall = wall
    monotonic = now
  }

  /// The wall clock's instant for one of the time line.
  func stamp(_ instant: ResolverInstant) -> WallInstant { wall + (instant - monotonic) }

  /// Where a stored answer's life lies on the time line.
  ///
  /// An answer of unknown age, since its stamps are from the future or of a clock that was set, counts as expired just now,
  /// beyond ``CachePolicy/grace``: it serves where nothing better can be had. No answer lives longer than this
  /// resolver's own policy allows, whatever a store says.
  func life(of answer: StoredAnswer, _ policy: CachePolicy) -> CacheLife {
    let age = wall - answer.asked
    guard answer.asked > doubtful, age >= .zero - Self.tolerance else {
      let past = monotonic.nanoseconds - 1
      return CacheLife(askedAt: past, expireAt: past)
    }
    let isNegative = if case .negative = answer.content { true } else { false }
    let longest = isNegative ? policy.maximumNegativeTTL : policy.maximumTTL
    let asked = monotonic - min(max(age, .zero), CacheLife.horizon)
    let lifetime = min(max(answer.expires - answer.asked, .zero), longest, CacheLife.horizon)
    return CacheLife(askedAt: asked.nanoseconds, expireAt: (asked + lifetime).nanoseconds)
  }
}
