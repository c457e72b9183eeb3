// SPDX-License-Identifier: Apache-2.0
/// What a resolver's cache holds of one name and one family, for inspection.
public struct CachedAnswer: Sendable, Hashable {
  /// The name.
  public var host: HostName
  /// The family.
  public var family: IPAddress.Family
  /// The addresses, or the kind of negative answer.
  public var content: Answer.Content
  /// The end of the CNAME chain, where the name is an alias.
  public var canonicalName: HostName?
  /// Where the answer stands in its life.
  public var freshness: Resolution.Freshness
  /// Where it came from.
  public var source: Resolution.Source
  /// The time since it was asked for.
  public var age: Duration
  /// What is left of its lifetime; negative once it has expired.
  public var timeLeft: Duration
  /// Whether the name is refreshed without being asked for.
  public var isKeptAlive: Bool

  /// Creates one of its parts: for a test.
  public init(
    host: HostName, family: IPAddress.Family, content: Answer.Content, canonicalName: HostName? = nil,
    freshness: Resolution.Freshness, source: Resolution.Source, age: Duration, timeLeft: Duration,
    isKeptAlive: Bool = false
  ) {
    self.host = host
    self.family = family
    self.content = content
    self.canonicalName = canonicalName
    self.freshness = freshness
    self.source = source
    self.age = age
    self.timeLeft = timeLeft
    self.isKeptAlive = isKeptAlive
  }
}

/// How much a resolver's cache holds.
public struct CacheStatistics: Sendable, Hashable {
  /// Names with at least one answer.
  public var names: Int
  /// Bytes that the table has taken from the system.
  public var bytes: Int

  /// Creates one of its parts: for a test.
  public init(names: Int, bytes: Int) {
    self.names = names
    self.bytes = bytes
  }
}

extension DirectResolver {
  /// How much the cache holds.
  public var cacheStatistics: CacheStatistics { CacheStatistics(names: cache.count, bytes: cache.byteCount) }

  /// What the cache holds, by name.
  ///
  /// It costs a copy of the whole cache.
  public func snapshot() -> [CachedAnswer] {
    let now = clock.now
    return cache.all().flatMap { name, value in
      IPAddress.Family.allCases.compactMap { family -> CachedAnswer? in
        guard let entry = value[family].entry else { return nil }
        let phase = cache.phase(of: entry, at: now)
        return CachedAnswer(
          host: name, family: family, content: entry.content, canonicalName: entry.canonicalName,
          freshness: Resolution.Freshness(phase), source: cache.sources[Int(entry.source)],
          age: .nanoseconds(max(0, now.nanoseconds - entry.life.askedAt)),
          timeLeft: .nanoseconds(entry.life.expireAt - now.nanoseconds), isKeptAlive: value.isKeptAlive)
      }
    }.sorted { ($0.host, $0.family == .ipv4 ? 0 : 1) < ($1.host, $1.family == .ipv4 ? 0 : 1) }
  }

  /// The names that an address stands for: the reverse of the pins and of the answers in the cache, expired ones too.
  ///
  /// It is what a cookie that was filed under an address needs to find its host; see ``CookieJar`` and its `repair`.
  /// It costs a look at the whole cache.
  ///
  /// - Returns: the names in their order; empty when none is known.
  public func names(of address: IPAddress) -> [HostName] {
    let pinned = settings.configuration.localZones.pins.filter { $0.value.contains(address) }.map(\.key)
    let cached = cache.all().compactMap { name, value -> HostName? in
      guard case .addresses(let addresses)? = value[address.family].entry?.content else { return nil }
      return addresses.contains(address) ? name : nil
    }
    return Set(pinned + cached).sorted()
  }
}
