// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

/// What is remembered of names: answers in the table, failures beside it.
///
/// Reading takes no lock; all that writes, and all that a read could not tell, takes one.
final class AnswerCache: Sendable {
  struct State {
    var policy: CachePolicy
    var failures: FailureCache
    /// How many of the table's names are kept alive.
    var keptAlive = 0
  }

  let capacity: Int
  let ranking = AddressRanking()
  /// What the source codes of its entries stand for.
  let sources = SourceNames()
  let table: AnswerTable
  /// Serialises the table's writers too.
  let state: Locked<State>
  /// When the network last changed: what was asked before is due.
  let epoch = Atomic<Int64>(.min)
  // The policy's times, each an atomic of its own: none of them depends on another.
  private let grace: Atomic<Int64>
  private let maximumStale: Atomic<Int64>
  private let refreshesAhead: Atomic<Bool>

  init(policy: CachePolicy, capacity: Int) {
    self.capacity = max(1, capacity)
    table = AnswerTable(capacity: self.capacity)
    state = Locked(State(policy: policy, failures: FailureCache(policy: policy, capacity: self.capacity)))
    let times = CacheTimes(policy)
    grace = Atomic(times.grace)
    maximumStale = Atomic(times.maximumStale)
    refreshesAhead = Atomic(times.refreshesAhead)
  }

  /// What the policy means for an answer that is there.
  @inline(__always)
  var times: CacheTimes {
    CacheTimes(
      grace: grace.load(ordering: .relaxed), maximumStale: maximumStale.load(ordering: .relaxed),
      refreshesAhead: refreshesAhead.load(ordering: .relaxed))
  }

  /// Goes on by another policy: answers that are there keep the lifetime that they came with.
  func update(_ policy: CachePolicy) {
    state.withLock { state in
      state.policy = policy
      state.failures.policy = policy
    }
    let times = CacheTimes(policy)
    grace.store(times.grace, ordering: .relaxed)
    maximumStale.store(times.maximumStale, ordering: .relaxed)
    refreshesAhead.store(times.refreshesAhead, ordering: .relaxed)
  }

  // MARK: Reading

  /// A name's record, as it is just now.
  @inline(__always)
  func read(_ name: HostName) -> AnswerTable.Reading? { table.read(name) }

  /// The record of a name as people write it.
  @inline(__always)
  func read(spelled text: String) -> AnswerTable.Reading? { table.read(spelled: text) }

  /// What a lookup gets from a record.
  @inline(__always)
  func verdict(
    _ reading: AnswerTable.Reading, _ wanted: AddressFamilies, _ expired: ExpiredUse, _ now: ResolverInstant
  ) -> CacheVerdict {
    CacheVerdict(
      ipv4: FamilyView(kind: reading.shape.kind4, life: reading.life4),
      ipv6: FamilyView(kind: reading.shape.kind6, life: reading.life6), wanted: wanted, expired: expired, times: times,
      epoch: epoch.load(ordering: .relaxed), at: now)
  }

  /// Whether a record's addresses still stand in the order of use.
  @inline(__always)
  func isInOrder(_ reading: AnswerTable.Reading, at now: ResolverInstant) -> Bool {
    table.isInOrder(reading, ranking, at: now)
  }

  /// A record anew, after its addresses were put in order; nil if it was written just now.
  @inline(never)
  func reordered(_ reading: AnswerTable.Reading, at now: ResolverInstant) -> AnswerTable.Reading? {
    state.withLock { _ in
      guard table.isIntact(reading, seconds: now.wholeSeconds) else { return nil }
      return reordered(table.name(of: reading), at: now)
    }
  }

  /// The same, under the lock.
  private func reordered(_ name: HostName, at now: ResolverInstant) -> AnswerTable.Reading? {
    if let value = table.value(name) { write(value, for: name, isNew: false, now: now) }
    return table.read(name)
  }

  /// Writes the answer that was read, the preferred family's addresses first.
  ///
  /// - Parameters:
  ///   - found: a resolution that is empty.
  ///   - reading: the record.
  ///   - families: which of its families are handed out.
  ///   - freshness: where they stand in their life.
  ///   - prefersIPv6: whether IPv6 is the preferred family.
  ///   - turn: which of the equally good addresses come first.
  ///   - now: the present.
  /// - Returns: false if the record changed while it was read: what was written is not to be used.
  @inline(__always)
  func fill(
    _ found: inout Resolution, from reading: AnswerTable.Reading, _ families: AddressFamilies,
    _ freshness: Resolution.Freshness, prefersIPv6: Bool, turn: AddressOrder.Turn, at now: ResolverInstant
  ) -> Bool {
    table.append(families, of: reading, prefersIPv6: prefersIPv6, turn: turn, to: &found.addresses)
    if reading.shape.canonical4 | reading.shape.canonical6 != 0 {
      found.canonicalText = table.canonicalText(families, of: reading, prefersIPv6: prefersIPv6)
    }
    guard table.isIntact(reading, seconds: now.wholeSeconds) else { return false }
    let uses4 = families.contains(AddressFamilies.ipv4)
    let uses6 = families.contains(AddressFamilies.ipv6)
    // Of two families, the one that was asked for earlier and ends earlier.
    let expires = min(uses4 ? reading.life4.expireAt : .max, uses6 ? reading.life6.expireAt : .max)
    found.freshness = freshness
    found.source = sources[uses6 && (prefersIPv6 || !uses4) ? reading.shape.source6 : reading.shape.source4]
    found.ageNanoseconds = max(0, now.nanoseconds &- asked(families, of: reading))
    found.timeToLiveNanoseconds = expires &- now.nanoseconds
    return true
  }

  /// When the earlier one of the families was asked for.
  @inline(__always)
  private func asked(_ families: AddressFamilies, of reading: AnswerTable.Reading) -> Int64 {
    let uses4 = families.contains(AddressFamilies.ipv4)
    let uses6 = families.contains(AddressFamilies.ipv6)
    return min(uses4 ? reading.life4.askedAt : .max, uses6 ? reading.life6.askedAt : .max)
  }

  /// What a lookup gets, read under the lock: for a name that could not be read without it, and for all that is not
  /// simply fresh; the addresses stand in the order of use.
  ///
  /// The first use of an answer begins where its server says: what was asked for since `start` takes no turns yet.
  func find(
    _ name: HostName, _ wanted: AddressFamilies, _ expired: ExpiredUse, prefersIPv6: Bool,
    since start: ResolverInstant? = nil, at now: ResolverInstant
  ) -> Found? {
    state.withLock { _ in
      guard var reading = table.read(name) else { return nil }
      if !isInOrder(reading, at: now) { reading = reordered(name, at: now) ?? reading }
      let verdict = verdict(reading, wanted, expired, now)
      let served: (AddressFamilies, Resolution.Freshness)? =
        switch verdict {
        case .serve(let families, let freshness, _): (families, freshness)
        case .wait(let families): (families, .stale)
        case .negative, .miss: nil
        }
      guard let (families, freshness) = served else { return Found(verdict: verdict) }
      let isNew = start.map { asked(families, of: reading) >= $0.nanoseconds } ?? false
      var resolution = Resolution()
      let isFilled = fill(
        &resolution, from: reading, families, freshness, prefersIPv6: prefersIPv6,
        turn: isNew ? .first : AddressOrder.Turn(at: now), at: now)
      return Found(verdict: verdict, resolution: isFilled ? resolution : nil)
    }
  }

  /// A verdict, and the answer that goes with it where there is one.
  struct Found {
    var verdict: CacheVerdict
    var resolution: Resolution?
  }

  /// Where an entry stands in its life, for a caller who allows expired answers.
  func phase(of entry: CacheEntry, at now: ResolverInstant) -> CachePhase {
    times.phase(
      of: entry.life, isNegative: entry.isNegative, expired: .allowed, epoch: epoch.load(ordering: .relaxed), at: now)
  }

  /// What is remembered of a question that spares asking it: a fresh negative answer, or a failure.
  ///
  /// - Parameters:
  ///   - question: the name and the family.
  ///   - hasRecord: false where the table is known not to have the name.
  ///   - now: the present.
  /// - Returns: it, if there is any.
  func remembered(_ question: AddressQuestion, hasRecord: Bool = true, at now: ResolverInstant) -> Remembered? {
    state.withLock { state in
      if let error = state.failures.error(for: question, at: now) { return .failure(error) }
      guard hasRecord, let entry = table.value(question.host)?[question.family].entry,
        case .negative(let negative) = entry.content, phase(of: entry, at: now) == .fresh
      else { return nil }
      return .negative(negative, source: entry.source, entry.life)
    }
  }

  /// What spares asking a question.
  enum Remembered: Sendable {
    case negative(Answer.Negative, source: UInt16, CacheLife)
    case failure(DirectDNSError)
  }

  /// Whether a provider's answer is there that may be used, be it expired.
  func hasProviderEntry(_ question: AddressQuestion, at now: ResolverInstant) -> Bool {
    guard let entry = value(question.host)?[question.family].entry else { return false }
    return entry.source != SourceNames.system && phase(of: entry, at: now) != .gone
  }

  /// What is known of a name.
  func value(_ name: HostName) -> CachedName? { state.withLock { _ in table.value(name) } }

  /// Every name in the cache, in no order.
  func all() -> [(name: HostName, value: CachedName)] {
    state.withLock { _ in
      var all: [(name: HostName, value: CachedName)] = []
      all.reserveCapacity(table.count)
      table.visit { name, value, _ in
        all.append((name, value))
        return true
      }
      return all
    }
  }

  var count: Int { state.withLock { _ in table.count } }
  var byteCount: Int { state.withLock { _ in table.byteCount } }
}

extension ResolverInstant {
  /// Whole seconds, as far as telling recent from long ago needs them.
  @inline(__always)
  var wholeSeconds: UInt32 { UInt32(truncatingIfNeeded: nanoseconds / 1_000_000_000) }
}
