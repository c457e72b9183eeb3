// SPDX-License-Identifier: Apache-2.0
/// What is known of names without asking, in the order of use.
struct KnownAnswers: Sendable {
  let cache: AnswerCache
  let sources: SourceNames

  /// What a lookup gets from the cache when it is not simply fresh; the addresses stand in the order of use.
  ///
  /// The first use of an answer begins where its server says: what was asked for since `start` takes no turns yet.
  func settle(
    _ host: HostName, _ wanted: AddressFamilies, _ expired: ExpiredUse, prefersIPv6: Bool,
    since start: ResolverInstant? = nil, at now: ResolverInstant
  ) -> AnswerCache.Settled? {
    cache.settle(
      host, wanted: wanted, expired: expired, prefersIPv6: prefersIPv6, sources: sources, since: start, at: now)
  }

  /// The addresses that came, the preferred family's first; nil if none came.
  func resolution(_ outcomes: FamilyOutcomes, prefersIPv6: Bool, at now: ResolverInstant) -> Resolution? {
    var addresses = AddressList()
    var firstCount = 0
    var life: CacheLife?
    var source: Resolution.Source?
    var canonicalName: HostName?
    var isStored = false
    func add(_ outcome: QueryOutcome?) {
      guard case .answered(let answer, let from, let answerLife) = outcome, case .addresses(let found) = answer.content,
        !found.isEmpty
      else { return }
      if addresses.isEmpty { firstCount = found.count }
      for address in found { addresses.append(address) }
      life = CacheLife(
        askedAt: min(life?.askedAt ?? .max, answerLife.askedAt),
        expireAt: min(life?.expireAt ?? .max, answerLife.expireAt))
      source = source ?? from
      isStored = isStored || from == .store
      canonicalName = canonicalName ?? answer.canonicalName
    }
    add(prefersIPv6 ? outcomes.ipv6 : outcomes.ipv4)
    add(prefersIPv6 ? outcomes.ipv4 : outcomes.ipv6)
    guard let life, let source else { return nil }
    // The first use of an answer begins where its server says; what comes from a store was used before.
    cache.ranking.order(&addresses, firstCount: firstCount, takesTurns: isStored, at: now)
    return Resolution(
      addresses: addresses, canonicalName: canonicalName, freshness: .fresh, source: source,
      ageNanoseconds: max(0, now.nanoseconds - life.askedAt),
      timeToLiveNanoseconds: max(0, life.expireAt - now.nanoseconds))
  }
}
