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
  private let limit: Duration
  /// What ends leases in the background, by their holders.
  private let ending = Locked<[String: Task<Void, Never>]>([:])

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
    self.limit = limit
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
  ///
  /// - Parameters:
  ///   - question: the question.
  ///   - reply: called as a ``StoreReader/Reply`` is.
  func read(_ question: AddressQuestion, reply: @escaping @Sendable (StoreReading<CacheEntry>) -> Void) {
    let found = { @Sendable [self] (answer: StoredAnswer) in
      let (name, life) = (answer.canonicalName, readClocks().life(of: answer, policy.withLock(\.self)))
      reply(.found(CacheEntry(content: answer.content, canonicalName: name, source: SourceNames.store, life: life)))
    }
    // A change that has yet to be written is newer than what the store has.
    switch writer.pending(question) {
    case .keep(let pending)?: found(pending)
    case .forget?: reply(.nothing)
    case nil:
      reader.read(question) { reading in
        switch reading {
        case .found(let stored) where stored.content.fits(question.family): found(stored)
        case .found, .nothing: reply(.nothing)
        case .late: reply(.late)
        case .unavailable: reply(.unavailable)
        }
      }
    }
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
    // Not waited for: a call that is slow or never returns must not hold up what is written after it.
    writer.add(change, to: question) { self.endSoon(lease) }
  }

  /// Has the answer to a question removed.
  func forget(_ question: AddressQuestion) { writer.add(.forget(clock.wallNow), to: question) }

  /// Whether a read is under way, even if nobody waits for it any more.
  var isReading: Bool { reader.isReading }

  /// Writes everything that has yet to be written, until that instant at most, and gives the leases that are being ended
  /// as long as a lookup gives the store: of a process that is gone before, others would wait for nobody.
  func flush(until instant: ResolverInstant) async -> StoreFlush {
    let flush = await writer.flush(until: instant)
    if ending.withLock({ !$0.isEmpty }) {
      _ = await Deadline.wait(until: min(instant, clock.now + limit), clock) { [ending] in
        while !Task.isCancelled, let task = ending.withLock({ $0.values.first }) { await task.value }
      }
    }
    return flush
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

  /// Ends a lease in the background; if that fails, it expires.
  func endSoon(_ lease: StoreLease) {
    guard let fleet else { return }
    ending.withLock { [ending] tasks in
      tasks[lease.holder] = Task {
        do throws(DirectDNSError) { try await fleet.endLease(on: lease.question, holder: lease.holder) } catch {}
        ending.withLock { $0[lease.holder] = nil }
      }
    }
  }
}
