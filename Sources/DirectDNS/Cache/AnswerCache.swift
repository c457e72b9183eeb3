// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

/// The cache: answers in a table that is read without a lock, and remembered failures.
///
/// Everything that writes takes a lock, and so does a read that has failed without one.
final class AnswerCache: Sendable {
  struct State {
    /// Also holds the policy.
    var failures: FailureCache
    /// The names that are kept alive, whether the table has them or not.
    var keptNames: Set<HostName> = []
    /// How many of the table's names are kept alive.
    var keptCount = 0
  }

  /// A verdict, and the answer that goes with it, if any.
  struct Found {
    var verdict: CacheVerdict
    var resolution: Resolution?
  }

  let capacity: Int
  let ranking = AddressRanking()
  /// The sources that entries refer to by codes.
  let sources = SourceNames()
  let table: AnswerTable
  /// Its lock also serialises the writers of the table.
  let state: Locked<State>
  /// When the network last changed; answers that were asked for before are due.
  let epoch = Atomic<Int64>(.min)
  // The policy's times as atomics, which need not change together since none depends on another.
  private let grace: Atomic<Int64>
  private let maximumStale: Atomic<Int64>
  private let refreshesAhead: Atomic<Bool>

  init(policy: CachePolicy, capacity: Int) {
    self.capacity = max(1, capacity)
    table = AnswerTable(capacity: self.capacity)
    state = Locked(State(failures: FailureCache(policy: policy, capacity: self.capacity)))
    let times = CacheTimes(policy)
    grace = Atomic(times.grace)
    maximumStale = Atomic(times.maximumStale)
    refreshesAhead = Atomic(times.refreshesAhead)
  }

  /// The policy's times.
  @inline(__always)
  var times: CacheTimes {
    CacheTimes(
      grace: grace.load(ordering: .relaxed), maximumStale: maximumStale.load(ordering: .relaxed),
      refreshesAhead: refreshesAhead.load(ordering: .relaxed))
  }

  /// Takes over another policy; answers in the cache keep their lifetime.
  func update(_ policy: CachePolicy) {
    state.withLock { $0.failures.policy = policy }
    let times = CacheTimes(policy)
    grace.store(times.grace, ordering: .relaxed)
    maximumStale.store(times.maximumStale, ordering: .relaxed)
    refreshesAhead.store(times.refreshesAhead, ordering: .relaxed)
  }

  // MARK: Reading

  /// Reads the record of a name.
  @inline(__always)
  func read(_ name: HostName) -> AnswerTable.Reading? { table.read(name) }

  /// Reads the record of a name as people write it.
  @inline(__always)
  func read(spelled text: String) -> AnswerTable.Reading? { table.read(spelled: text) }

  /// Decides what a lookup gets from a record.
  @inline(__always)
  func verdict(
    _ reading: AnswerTable.Reading, _ wanted: AddressFamilies, _ expired: ExpiredUse, _ now: ResolverInstant
  ) -> CacheVerdict {
    verdict(
      FamilyView(kind: reading.shape.kind4, life: reading.life4),
      FamilyView(kind: reading.shape.kind6, life: reading.life6), wanted, expired, now)
  }

  /// Decides what a lookup gets from what is known about both families.
  @inline(__always)
  func verdict(
    _ ipv4: FamilyView, _ ipv6: FamilyView, _ wanted: AddressFamilies, _ expired: ExpiredUse, _ now: ResolverInstant
  ) -> CacheVerdict {
    CacheVerdict(
      ipv4: ipv4, ipv6: ipv6, wanted: wanted, expired: expired, times: times, epoch: epoch.load(ordering: .relaxed),
      at: now)
  }

  /// Whether a family of these has addresses that are not kept, so that they are not in the record.
  @inline(__always)
  func lacksUnkept(_ reading: AnswerTable.Reading, _ families: AddressFamilies) -> Bool {
    families.contains(AddressFamilies.ipv4) && reading.shape.kind4 == .notKept
      || families.contains(AddressFamilies.ipv6) && reading.shape.kind6 == .notKept
  }

  /// Whether a record's addresses are still in the right order.
  @inline(__always)
  func isInOrder(_ reading: AnswerTable.Reading, at now: ResolverInstant) -> Bool {
    table.isInOrder(reading, ranking, at: now)
  }

  /// Puts a record's addresses in order, and reads it again; nil if it has just been changed by somebody else.
  @inline(never)
  func reordered(_ reading: AnswerTable.Reading, at now: ResolverInstant) -> AnswerTable.Reading? {
    state.withLock { _ in
      guard table.confirm(reading, seconds: now.wholeSeconds) else { return nil }
      return reordered(table.name(of: reading), at: now)
    }
  }

  /// The same, under the lock.
  private func reordered(_ name: HostName, at now: ResolverInstant) -> AnswerTable.Reading? {
    if let value = table.value(name) { write(value, for: name, isNew: false, now: now) }
    return table.read(name)
  }

  /// Copies an answer from a record, the preferred family's addresses first.
  ///
  /// - Parameters:
  ///   - found: an empty resolution, which is filled.
  ///   - reading: the record.
  ///   - families: which families are copied.
  ///   - freshness: their freshness.
  ///   - prefersIPv6: whether IPv6 is the preferred family.
  ///   - turn: which of the equally good addresses come first.
  ///   - now: the present.
  /// - Returns: false if the record changed meanwhile, so that the copy must not be used.
  @inline(__always)
  func fill(
    _ found: inout Resolution, from reading: AnswerTable.Reading, _ families: AddressFamilies,
    _ freshness: Resolution.Freshness, prefersIPv6: Bool, turn: AddressOrder.Turn, at now: ResolverInstant
  ) -> Bool {
    table.append(families, of: reading, prefersIPv6: prefersIPv6, turn: turn, to: &found.addresses)
    if reading.shape.canonical4 | reading.shape.canonical6 != 0 {
      found.canonicalText = table.canonicalText(families, of: reading, prefersIPv6: prefersIPv6)
    }
    guard table.confirm(reading, seconds: now.wholeSeconds) else { return false }
    let uses4 = families.contains(AddressFamilies.ipv4)
    let uses6 = families.contains(AddressFamilies.ipv6)
    // Of two families, the earlier instants count.
    let expires = min(uses4 ? reading.life4.expireAt : .max, uses6 ? reading.life6.expireAt : .max)
    found.freshness = freshness
    found.source = sources[uses6 && (prefersIPv6 || !uses4) ? reading.shape.source6 : reading.shape.source4]
    found.ageNanoseconds = max(0, now.nanoseconds &- asked(families, of: reading))
    found.timeToLiveNanoseconds = expires &- now.nanoseconds
    return true
  }

  /// When the families were asked for; of two, the earlier instant.
  @inline(__always)
  private func asked(_ families: AddressFamilies, of reading: AnswerTable.Reading) -> Int64 {
    let uses4 = families.contains(AddressFamilies.ipv4)
    let uses6 = families.contains(AddressFamilies.ipv6)
    return min(uses4 ? reading.life4.askedAt : .max, uses6 ? reading.life6.askedAt : .max)
  }

  /// What a lookup gets, read under the lock: for a name that could not be read without it, or whose answer is not
  /// fresh.
  ///
  /// The addresses are in the order of use. An answer that was asked for after `start` is used for the first time, and
  /// keeps its server's order. With `addsStale`, the stale addresses of a family go along with those of the other one that
  /// are served at once: they are better than none for a caller who would not learn of fresh ones.
  func find(
    _ name: HostName, _ wanted: AddressFamilies, _ expired: ExpiredUse, prefersIPv6: Bool, addsStale: Bool = false,
    since start: ResolverInstant? = nil, at now: ResolverInstant
  ) -> Found? {
    state.withLock { _ in
      guard var reading = table.read(name) else { return nil }
      if !isInOrder(reading, at: now) { reading = reordered(name, at: now) ?? reading }
      let verdict = verdict(reading, wanted, expired, now)
      let served: (AddressFamilies, Resolution.Freshness)? =
        switch verdict {
        case .serve(let families, let freshness, let refresh):
          if addsStale, refresh,
            case .wait(let stale) = self.verdict(reading, wanted.subtracting(families), expired, now)
          {
            (families.union(stale), .stale)
          } else {
            (families, freshness)
          }
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

  /// The phase of an entry's life, for a caller who allows expired answers.
  func phase(of entry: CacheEntry, at now: ResolverInstant) -> CachePhase {
    times.phase(
      of: entry.life, isNegative: entry.isNegative, expired: .allowed, epoch: epoch.load(ordering: .relaxed), at: now)
  }

  /// Why a question need not be asked: a fresh negative answer, or a failure that is remembered.
  ///
  /// - Parameters:
  ///   - question: the name and the family.
  ///   - hasRecord: false if it is known already that the table does not have the name.
  ///   - now: the present.
  /// - Returns: the answer or the failure; nil if the question has to be asked.
  func remembered(
    _ question: AddressQuestion, hasRecord: Bool = true, at now: ResolverInstant
  ) -> Result<CacheEntry, DirectDNSError>? {
    state.withLock { state in
      if let error = state.failures.error(for: question, at: now) { return .failure(error) }
      guard hasRecord, let entry = table.value(question.host)?[question.family].entry, entry.isNegative,
        phase(of: entry, at: now) == .fresh
      else { return nil }
      return .success(entry)
    }
  }

  /// Whether there is a provider's answer that may be used, even if it has expired.
  func hasProviderEntry(_ question: AddressQuestion, at now: ResolverInstant) -> Bool {
    guard let entry = value(question.host)?[question.family].entry else { return false }
    return entry.source != SourceNames.system && phase(of: entry, at: now) != .gone
  }

  /// Everything that the table has about a name.
  func value(_ name: HostName) -> CachedName? { state.withLock { _ in table.value(name) } }

  /// All names in the cache, in no particular order.
  func all() -> [(name: HostName, value: CachedName)] {
    state.withLock { _ in
      var all: [(name: HostName, value: CachedName)] = []
      all.reserveCapacity(table.count)
      table.visit { words in
        all.append((HostName(canonical: words.name), words.value))
        return true
      }
      return all
    }
  }

  var count: Int { state.withLock { _ in table.count } }
  var byteCount: Int { state.withLock { _ in table.byteCount } }
}

extension ResolverInstant {
  /// Whole seconds in 32 bits, which is enough to compare ages.
  @inline(__always)
  var wholeSeconds: UInt32 { UInt32(truncatingIfNeeded: nanoseconds / 1_000_000_000) }
}
