// SPDX-License-Identifier: Apache-2.0
/// What the cache knows of one name and one family.
struct CacheEntry: Sendable, Hashable {
  var content: Answer.Content
  var canonicalName: HostName?
  var source: UInt16
  var life: CacheLife

  var isNegative: Bool { if case .negative = content { true } else { false } }

  /// Makes the entry for an answer; nil if the answer is not to be kept.
  ///
  /// - Parameters:
  ///   - answer: what the provider said.
  ///   - source: who said it, as the cache numbers them.
  ///   - policy: how long answers live.
  ///   - asked: when the query was sent: the lifetime counts from then.
  ///   - now: when the reply came; at least one second is left from then.
  init?(_ answer: Answer, source: UInt16, policy: CachePolicy, asked: ResolverInstant, now: ResolverInstant) {
    guard let lifetime = policy.lifetime(of: answer) else { return nil }
    content = answer.content
    canonicalName = answer.canonicalName
    self.source = source
    life = CacheLife(
      askedAt: asked.nanoseconds,
      expireAt: max((asked + lifetime).nanoseconds, (now + .seconds(1)).nanoseconds))
  }

  init(content: Answer.Content, canonicalName: HostName?, source: UInt16, life: CacheLife) {
    self.content = content
    self.canonicalName = canonicalName
    self.source = source
    self.life = life
  }
}

/// What the cache knows of one name: an entry for each family that was asked for.
struct CachedName: Sendable, Hashable {
  /// One family's place.
  enum Slot: Sendable, Hashable {
    /// Nobody asked.
    case neverAsked
    /// Asked, with an outcome that is not kept: a failure, or a negative answer without a lifetime.
    case unknown
    case entry(CacheEntry)

    var entry: CacheEntry? { if case .entry(let entry) = self { entry } else { nil } }

    /// The addresses; setting them changes nothing where there are none.
    var addresses: [IPAddress] {
      get { if case .addresses(let addresses) = entry?.content { addresses } else { [] } }
      set {
        guard case .entry(var entry) = self, case .addresses = entry.content else { return }
        entry.content = .addresses(newValue)
        self = .entry(entry)
      }
    }

    /// Whether asking is likely to bring addresses: it brought some the last time, or nobody has asked yet.
    var mayHaveAddresses: Bool {
      switch self {
      case .neverAsked: true
      case .unknown: false
      case .entry(let entry): !entry.isNegative
      }
    }
  }

  var ipv4 = Slot.neverAsked
  var ipv6 = Slot.neverAsked
  /// Refreshed without being asked for, and never evicted.
  var isKeptAlive = false

  subscript(family: IPAddress.Family) -> Slot {
    get { family == .ipv4 ? ipv4 : ipv6 }
    set { if family == .ipv4 { ipv4 = newValue } else { ipv6 = newValue } }
  }

  /// Whether there is nothing worth a place in the table.
  var isEmpty: Bool { ipv4.entry == nil && ipv6.entry == nil && !isKeptAlive }
}
