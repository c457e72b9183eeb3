// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

/// What changes what is remembered: answers, failures, names to be kept, other networks.
extension AnswerCache {
  /// Keeps an entry in place of what was known of that family; nil, an answer that is not to be kept, still takes the
  /// place of the one before it.
  ///
  /// - Returns: the number of names that had to go.
  func store(_ entry: CacheEntry?, inAnswerTo question: AddressQuestion, now: ResolverInstant) -> Int {
    state.withLock { state in
      state.failures.forget(question)
      return change(question.host, now: now, &state) { value in
        value[question.family] = entry.map(CachedName.Slot.entry) ?? .unknown
      }
    }
  }

  /// Keeps an entry as it is.
  @discardableResult
  func store(_ entry: CacheEntry, for question: AddressQuestion, now: ResolverInstant) -> Int {
    state.withLock { state in
      change(question.host, now: now, &state) { $0[question.family] = .entry(entry) }
    }
  }

  /// Notes that a family was asked for in vain: its answer stays what it is, and others are not kept waiting for it.
  ///
  /// - Parameters:
  ///   - error: why there is no new answer.
  ///   - question: the name and the family.
  ///   - servers: who failed it.
  ///   - now: the present.
  func remember(
    _ error: DirectDNSError, for question: AddressQuestion, by servers: [FailureCache.Server] = [],
    now: ResolverInstant
  ) {
    state.withLock { state in
      let value = table.value(question.host)
      // One that has not expired is refreshed ahead of need: for that, the failure itself is pause enough.
      let hasExpired = value?[question.family].entry.map { !$0.isNegative && $0.life.expireAt <= now.nanoseconds }
      state.failures.note(
        error, for: question, by: servers, recheck: hasExpired == true ? state.policy.failureRecheck : .zero, at: now)
      if value?[question.family] == .neverAsked {
        change(question.host, now: now, &state) { $0[question.family] = .unknown }
      }
    }
  }

  /// Whether an entry may be refreshed now: not if the last try failed a moment ago.
  func mayRefresh(_ question: AddressQuestion, at now: ResolverInstant) -> Bool {
    state.withLock { $0.failures.mayRefresh(question, at: now) }
  }

  /// A server answered: what it failed may soon be asked for again.
  ///
  /// - Returns: the number of questions that need not wait as long as before.
  func answered(by server: FailureCache.Server, at now: ResolverInstant) -> Int {
    state.withLock { $0.failures.answered(by: server, at: now) }
  }

  /// When a question may be asked again because a server that failed it has answered since; nil for all others.
  func releasedAt(_ question: AddressQuestion) -> ResolverInstant? {
    state.withLock { $0.failures.releasedAt(question) }
  }

  @discardableResult
  private func change(
    _ name: HostName, now: ResolverInstant, _ state: inout State, _ body: (inout CachedName) -> Void
  ) -> Int {
    let known = table.value(name)
    var value = known ?? CachedName()
    body(&value)
    guard !value.isEmpty else {
      if known?.isKeptAlive == true { state.keptAlive -= 1 }
      if known != nil { table.remove(name) }
      return 0
    }
    var evicted = 0
    if known == nil {
      while table.count >= capacity, let victim = leastUseful(table.count - state.keptAlive, at: now) {
        table.remove(victim.name)
        if victim.isKeptAlive { state.keptAlive -= 1 }
        for family in IPAddress.Family.allCases { state.failures.forgetWait(of: AddressQuestion(victim.name, family)) }
        evicted += 1
      }
    }
    if value.isKeptAlive != (known?.isKeptAlive ?? false) { state.keptAlive += value.isKeptAlive ? 1 : -1 }
    write(value, for: name, isNew: known == nil, now: now)
    return evicted
  }

  /// Writes what is known of a name, its addresses in the order of use.
  func write(_ value: CachedName, for name: HostName, isNew: Bool, now: ResolverInstant) {
    guard value.ipv4.addresses.count + value.ipv6.addresses.count > 1 else {
      return table.store(value, for: name, isNew: isNew, lastUsed: now.wholeSeconds)
    }
    var ordered = value
    ordered.ipv4.addresses = Array(value.ipv4.addresses.prefix(Answer.addressLimit))
    ordered.ipv6.addresses = Array(value.ipv6.addresses.prefix(Answer.addressLimit))
    // Before the order is made: what is heard meanwhile makes it anew.
    let revision = ranking.revision(of: ordered.ipv4.addresses) &+ ranking.revision(of: ordered.ipv6.addresses)
    let order4 = ranking.order(ordered.ipv4.addresses, at: now)
    let order6 = ranking.order(ordered.ipv6.addresses, at: now)
    ordered.ipv4.addresses = order4.addresses
    ordered.ipv6.addresses = order6.addresses
    let order = RecordOrder(
      equals4: order4.equals, equals6: order6.equals,
      changesAt: [order4.changesAt, order6.changesAt].compactMap(\.self).min(), revision: revision)
    table.store(ordered, for: name, order: order, isNew: isNew, lastUsed: now.wholeSeconds)
  }

  /// Of sixteen names from a random place on, the least useful one: one that can serve nobody, else the one
  /// whose last use is longest ago; of equals the first by name, so that the same goes each time.
  ///
  /// A name that is kept alive stays unless there are no others, or so few that none is among the next 256: a cache that
  /// has hardly room for anything else does not look through all of them for each new name.
  ///
  /// - Parameters:
  ///   - others: how many names are not kept alive: without any there is nothing to look for, and the search ends with
  ///     the last of few.
  ///   - now: the present.
  /// - Returns: the name; nil if there is none at all.
  private func leastUseful(_ others: Int, at now: ResolverInstant) -> (name: HostName, isKeptAlive: Bool)? {
    var (seen, looked) = (0, 0)
    var worst: (Int, UInt32, name: HostName)?
    var last: HostName?
    table.visit(from: .random(in: .min ... .max)) { name, value, lastUsed in
      last = name
      looked += 1
      guard !value.isKeptAlive else { return others > 0 && looked < 256 }
      seen += 1
      let rank = (usefulness(of: value, at: now), lastUsed, name: name)
      if worst.map({ rank < $0 }) ?? true { worst = rank }
      return seen < min(16, others)
    }
    return worst.map { (name: $0.name, isKeptAlive: false) } ?? last.map { (name: $0, isKeptAlive: true) }
  }

  private func usefulness(of value: CachedName, at now: ResolverInstant) -> Int {
    let phases = [value.ipv4, value.ipv6].compactMap(\.entry).map {
      times.phase(of: $0.life, isNegative: $0.isNegative, expired: .allowed, epoch: .min, at: now)
    }
    return phases.allSatisfy { $0 == .gone } ? 0 : 1
  }

  /// Marks names as kept alive, or no longer so.
  func keepAlive(_ names: Set<HostName>, now: ResolverInstant) {
    state.withLock { state in
      var marked: [HostName] = []
      table.visit { name, value, _ in
        if value.isKeptAlive, !names.contains(name) { marked.append(name) }
        return true
      }
      for name in marked { change(name, now: now, &state) { $0.isKeptAlive = false } }
      for name in names { change(name, now: now, &state) { $0.isKeptAlive = true } }
    }
  }

  /// Forgets a name, its failures too; it stays kept alive if it was.
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

  /// Forgets all failures, and makes every entry due at once: what it says stays, and is refreshed when next used.
  func networkDidChange(now: ResolverInstant) {
    epoch.store(now.nanoseconds, ordering: .relaxed)
    forgetFailures()
  }

  /// Forgets all failures: who failed may not be who is asked next.
  func forgetFailures() {
    state.withLock { $0.failures.forgetAll() }
  }
}
