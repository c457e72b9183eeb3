// SPDX-License-Identifier: Apache-2.0
/// What the cache knows about one family of one name.
struct CacheEntry: Sendable, Hashable {
  var content: Answer.Content
  var canonicalName: HostName?
  /// The code of its source; see ``SourceNames``.
  var source: UInt16
  var life: CacheLife

  var isNegative: Bool { if case .negative = content { true } else { false } }
}

extension CacheEntry {
  /// Makes the entry of an answer; nil if the answer is not to be kept.
  ///
  /// - Parameters:
  ///   - answer: the answer.
  ///   - source: the code of its source.
  ///   - policy: says how long answers live.
  ///   - asked: when the query was sent, from when the lifetime counts.
  ///   - now: when the reply came; the entry lives for at least another second.
  init?(_ answer: Answer, source: UInt16, policy: CachePolicy, asked: ResolverInstant, now: ResolverInstant) {
    guard let lifetime = policy.lifetime(of: answer) else { return nil }
    content = answer.content
    canonicalName = answer.canonicalName
    self.source = source
    life = CacheLife(
      askedAt: asked.nanoseconds,
      expireAt: max((asked + lifetime).nanoseconds, (now + .seconds(1)).nanoseconds))
  }
}

/// What the cache knows about one name: an entry for each family that was asked for.
struct CachedName: Sendable, Hashable {
  /// What is known about one family.
  enum Slot: Sendable, Hashable {
    /// Nothing: nobody has asked for it.
    case neverAsked
    /// Nothing: it was asked for, and the outcome is not kept, being a denial without a lifetime.
    case unknown
    /// It has addresses, which are not kept: of TTL 0, they are for those who wait for them alone (RFC 1035 §3.2.1).
    case notKept
    /// Nothing: it was asked for in vain, and is to be asked for again from that instant on, in nanoseconds of the
    /// resolver's time line.
    case failed(until: Int64)
    case entry(CacheEntry)

    /// What is noted of an answer that is not kept.
    static func unkept(_ answer: Answer) -> Slot { answer.addresses.isEmpty ? .unknown : .notKept }

    var entry: CacheEntry? { if case .entry(let entry) = self { entry } else { nil } }

    /// The addresses; setting them has no effect unless there are some.
    var addresses: [IPAddress] {
      get { if case .addresses(let addresses) = entry?.content { addresses } else { [] } }
      set {
        guard case .entry(var entry) = self, case .addresses = entry.content else { return }
        entry.content = .addresses(newValue)
        self = .entry(entry)
      }
    }

    /// Whether asking is likely to bring addresses: it did the last time, or nobody has asked yet.
    var mayHaveAddresses: Bool {
      switch self {
      case .neverAsked, .notKept: true
      case .unknown, .failed: false
      case .entry(let entry): !entry.isNegative
      }
    }
  }

  var ipv4 = Slot.neverAsked
  var ipv6 = Slot.neverAsked
  /// Whether the name is kept alive: refreshed without anybody asking for it, and evicted only after all others.
  var isKeptAlive = false

  subscript(family: IPAddress.Family) -> Slot {
    get { family == .ipv4 ? ipv4 : ipv6 }
    set { if family == .ipv4 { ipv4 = newValue } else { ipv6 = newValue } }
  }

  /// Whether there is nothing that the table has to keep.
  var isEmpty: Bool {
    // By patterns: to compare an entry with nil copies it.
    if case .entry = ipv4 { return false }
    if case .entry = ipv6 { return false }
    return !isKeptAlive
  }
}
