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

  /// Writes what is yet to be written, until then at most.
  func flush(until instant: ResolverInstant) async -> (unwritten: Int, reason: DirectDNSError?) {
    await writer.flush(until: instant)
  }

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
