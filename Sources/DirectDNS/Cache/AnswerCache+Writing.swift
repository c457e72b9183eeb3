// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

/// Changes to the cache: answers, failures, names that are kept alive, another network.
extension AnswerCache {
  /// Writes an answer, and forgets the question's failures.
  ///
  /// - Parameters:
  ///   - entry: the answer; nil for one that is not to be kept, which still replaces the one before.
  ///   - question: the question.
  ///   - unkept: what is noted in place of an answer that is not to be kept.
  ///   - now: the present.
  /// - Returns: the number of names that were evicted.
  func store(
    _ entry: CacheEntry?, inAnswerTo question: AddressQuestion, unkept: CachedName.Slot = .unknown,
    now: ResolverInstant
  ) -> Int {
    state.withLock { state in
      state.failures.forget(question)
      return change(question.host, now: now, &state) { value in
        value[question.family] = entry.map(CachedName.Slot.entry) ?? unkept
      }
    }
  }

  /// Writes an entry from the store; failures stay.
  @discardableResult
  func store(_ entry: CacheEntry, for question: AddressQuestion, now: ResolverInstant) -> Int {
    state.withLock { state in
      change(question.host, now: now, &state) { $0[question.family] = .entry(entry) }
    }
  }

  /// Remembers that a question has failed; an answer that is there stays.
  ///
  /// - Parameters:
  ///   - error: why there is no new answer.
  ///   - question: the name and the family.
  ///   - servers: the servers that failed it.
  ///   - now: the present.
  func remember(
    _ error: DirectDNSError, for question: AddressQuestion, by servers: [FailureCache.Server] = [],
    now: ResolverInstant
  ) {
    state.withLock { state in
      let value = table.value(question.host)
      // If the answer has not expired, the usual pause after a failure is enough.
      let hasExpired = value?[question.family].entry.map { !$0.isNegative && $0.life.expireAt <= now.nanoseconds }
      let recheck = hasExpired == true ? state.failures.policy.failureRecheck : .zero
      state.failures.note(error, for: question, by: servers, recheck: recheck, at: now)
      noteAsked(question, .failed(until: now.nanoseconds), value, now: now, &state)
    }
  }

  /// Notes that a family was asked for and brought nothing to keep, if the name has a record.
  func noteAsked(_ question: AddressQuestion, as unkept: CachedName.Slot = .unknown, now: ResolverInstant) {
    state.withLock { noteAsked(question, unkept, table.value(question.host), now: now, &$0) }
  }

  private func noteAsked(
    _ question: AddressQuestion, _ unkept: CachedName.Slot, _ value: CachedName?, now: ResolverInstant,
    _ state: inout State
  ) {
    guard let slot = value?[question.family], slot.entry == nil else { return }
    let failed = state.failures.refreshAt(question).map { CachedName.Slot.failed(until: $0.nanoseconds) }
    // That an answer was not kept is noted once; a failure each time, since each is remembered for longer.
    guard let noted = failed ?? (slot == .neverAsked ? unkept : nil) else { return }
    change(question.host, now: now, &state) { $0[question.family] = noted }
  }

  /// Notes that a family which failed beside the other one has failed once more.
  ///
  /// That is for failures which are not remembered: after the first one's time each lookup would ask for it.
  func failedAgain(_ question: AddressQuestion, until instant: ResolverInstant, now: ResolverInstant) {
    state.withLock { state in
      guard case .failed(let before)? = table.value(question.host)?[question.family], before < instant.nanoseconds
      else { return }
      change(question.host, now: now, &state) { $0[question.family] = .failed(until: instant.nanoseconds) }
    }
  }

  /// Whether an entry may be refreshed now; not if the last attempt failed a moment ago.
  func mayRefresh(_ question: AddressQuestion, at now: ResolverInstant) -> Bool {
    state.withLock { $0.failures.mayRefresh(question, at: now) }
  }

  /// A server has answered: the questions that it failed may soon be asked again.
  ///
  /// - Returns: how many questions have to wait less long now.
  func answered(by server: FailureCache.Server, at now: ResolverInstant) -> Int {
    state.withLock { state in
      let released = state.failures.answered(by: server, at: now)
      for question in released { noteEnd(ofWait: question, now: now, &state) }
      return released.count
    }
  }

  /// Notes in a name's record that a family which failed is asked for sooner: lookups read the instant there, without the
  /// lock.
  private func noteEnd(ofWait question: AddressQuestion, now: ResolverInstant, _ state: inout State) {
    guard case .failed(let before)? = table.value(question.host)?[question.family] else { return }
    let end = state.failures.refreshAt(question) ?? now
    guard end.nanoseconds < before else { return }
    change(question.host, now: now, &state) { $0[question.family] = .failed(until: end.nanoseconds) }
  }

  /// When a question may be asked again because a server that failed it has answered since; nil for any other question.
  func releasedAt(_ question: AddressQuestion) -> ResolverInstant? {
    state.withLock { $0.failures.releasedAt(question) }
  }

  /// Changes what is known about a name; evicts others if there is no room, or removes the name if nothing is left.
  @discardableResult
  private func change(
    _ name: HostName, now: ResolverInstant, _ state: inout State, _ body: (inout CachedName) -> Void
  ) -> Int {
    let known = table.value(name)
    let (isNew, wasKeptAlive) = (known == nil, known?.isKeptAlive ?? false)
    // It may have been evicted when there was no room for anything else.
    var value = known ?? CachedName(isKeptAlive: state.keptNames.contains(name))
    body(&value)
    guard !value.isEmpty else {
      if wasKeptAlive { state.keptCount -= 1 }
      if !isNew { table.remove(name) }
      return 0
    }
    var evicted = 0
    if isNew {
      while table.count >= capacity {
        guard let victim = leastUseful(table.count - state.keptCount, for: value, at: now) else { return evicted }
        table.remove(victim.name)
        if victim.isKeptAlive { state.keptCount -= 1 }
        for family in IPAddress.Family.allCases { state.failures.forgetWait(of: AddressQuestion(victim.name, family)) }
        evicted += 1
      }
    }
    if value.isKeptAlive != wasKeptAlive { state.keptCount += value.isKeptAlive ? 1 : -1 }
    write(value, for: name, isNew: isNew, now: now)
    return evicted
  }

  /// Writes a name to the table, with its addresses in the order of use.
  func write(_ value: CachedName, for name: HostName, isNew: Bool, now: ResolverInstant) {
    guard value.ipv4.addresses.count + value.ipv6.addresses.count > 1 else {
      return table.store(value, for: name, isNew: isNew, lastUsed: now.wholeSeconds)
    }
    var ordered = value
    ordered.ipv4.addresses = Array(value.ipv4.addresses.prefix(Answer.addressLimit))
    ordered.ipv6.addresses = Array(value.ipv6.addresses.prefix(Answer.addressLimit))
    // Read before the order is made, so that a report in between makes the order outdated.
    let revision = ranking.revision(of: ordered.ipv4.addresses) &+ ranking.revision(of: ordered.ipv6.addresses)
    let order4 = ranking.order(ordered.ipv4.addresses, at: now)
    let order6 = ranking.order(ordered.ipv6.addresses, at: now)
    ordered.ipv4.addresses = order4.addresses
    ordered.ipv6.addresses = order6.addresses
    let order = RecordOrder(
      equals4: order4.equals, equals6: order6.equals,
      behind: order4.isBehind(order6) ? .ipv4 : order6.isBehind(order4) ? .ipv6 : nil,
      changesAt: [order4.changesAt, order6.changesAt].compactMap(\.self).min(), revision: revision)
    table.store(ordered, for: name, order: order, isNew: isNew, lastUsed: now.wholeSeconds)
  }

  /// The least useful of sixteen names, beginning at a random place of the table.
  ///
  /// That is one whose answers can serve nobody any more, or else the one that was used longest ago; among equals the
  /// first by name, so that a simulation can be repeated. Names that are kept alive are passed over, and stay while
  /// there are others. A cache nearly full of them must not be searched completely for each new name: it is for one that
  /// is kept alive itself, which happens once for each.
  ///
  /// - Parameters:
  ///   - others: how many names are not kept alive, so that the search can end when all of them have been seen; if there
  ///     are none, with the first name.
  ///   - value: what is known about the name that needs room.
  ///   - now: the present.
  /// - Returns: the name; nil if there is no room for the new one.
  private func leastUseful(
    _ others: Int, for value: CachedName, at now: ResolverInstant
  ) -> (name: HostName, isKeptAlive: Bool)? {
    let start = UInt64.random(in: .min ... .max)
    var seen = 0
    var worst: (rank: (Int, UInt32), words: RecordWords)?
    let limit = value.isKeptAlive ? Int.max : 4096
    table.visit(from: start, among: limit, skipsKeptAlive: others > 0) { words in
      seen += 1
      let rank = (usefulness(of: words, at: now), words.lastUsed)
      let isWorse = worst.map { rank < $0.rank || rank == $0.rank && words.isNamedBefore($0.words) } ?? true
      if isWorse { worst = (rank, words) }
      return seen < min(16, others)
    }
    return worst.map { (name: HostName(canonical: $0.words.name), isKeptAlive: others == 0) }
  }

  /// From the words alone: sixteen names are looked at for each one that comes to a full cache.
  private func usefulness(of words: RecordWords, at now: ResolverInstant) -> Int {
    func serves(_ family: FamilyView) -> Bool {
      family.kind.hasAnswer
        && times.phase(of: family.life, isNegative: family.kind.isNegative, expired: .allowed, epoch: .min, at: now)
          != .gone
    }
    return serves(words.ipv4) || serves(words.ipv6) ? 1 : 0
  }

  /// Sets which names are marked as kept alive.
  func keepAlive(_ names: Set<HostName>, now: ResolverInstant) {
    state.withLock { state in
      let marked = exchange(&state.keptNames, with: names)
      for name in marked.subtracting(names) { change(name, now: now, &state) { $0.isKeptAlive = false } }
      for name in names { change(name, now: now, &state) { $0.isKeptAlive = true } }
    }
  }

  /// Forgets a name and its failures; it stays marked as kept alive.
  func forget(_ name: HostName, now: ResolverInstant) {
    state.withLock { state in
      for family in IPAddress.Family.allCases {
        state.failures.forget(AddressQuestion(name, family))
      }
      change(name, now: now, &state) { value in
        value.ipv4 = .neverAsked
        value.ipv6 = .neverAsked
      }
    }
  }

  /// Forgets all failures, and makes every answer due: it still serves, and is refreshed when it is next used.
  func networkDidChange(now: ResolverInstant) {
    epoch.store(now.nanoseconds, ordering: .relaxed)
    forgetFailures(now: now)
  }

  /// Forgets all failures, because other servers may be asked from now on.
  func forgetFailures(now: ResolverInstant) {
    state.withLock { state in
      for question in state.failures.forgetAll() { noteEnd(ofWait: question, now: now, &state) }
    }
  }
}
