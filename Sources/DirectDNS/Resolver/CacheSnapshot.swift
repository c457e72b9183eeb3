// SPDX-License-Identifier: Apache-2.0
/// One family's answer about one name in a resolver's cache, for inspection.
public struct CachedAnswer: Sendable, Hashable {
  /// The name.
  public var host: HostName
  /// The family.
  public var family: IPAddress.Family
  /// The addresses, or the kind of negative answer.
  public var content: Answer.Content
  /// The end of the CNAME chain; nil if the name is no alias.
  public var canonicalName: HostName?
  /// Where the answer stands in its life.
  public var freshness: Resolution.Freshness
  /// Where it came from.
  public var source: Resolution.Source
  /// The time since it was asked for.
  public var age: Duration
  /// The rest of its lifetime; negative once it has expired.
  public var timeLeft: Duration
  /// Whether the name is kept alive.
  public var isKeptAlive: Bool

  /// Creates one from its parts, for a test.
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

/// The size of a resolver's cache.
public struct CacheStatistics: Sendable, Hashable {
  /// Names with at least one answer.
  public var names: Int
  /// The memory of the table in bytes.
  public var bytes: Int

  /// Creates one from its parts, for a test.
  public init(names: Int, bytes: Int) {
    self.names = names
    self.bytes = bytes
  }
}

extension DirectResolver {
  /// The size of the cache.
  public var cacheStatistics: CacheStatistics { CacheStatistics(names: cache.count, bytes: cache.byteCount) }

  /// All answers in the cache, sorted by name.
  ///
  /// It copies the whole cache.
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

  /// The names that have an address, by the pins and by the answers in the cache, including expired ones.
  ///
  /// By this a cookie that was filed under an address finds its host; see ``CookieJar`` and its `repair`. It searches
  /// the whole cache.
  ///
  /// - Returns: the names, sorted; empty if none is known.
  public func names(of address: IPAddress) -> [HostName] {
    let pinned = settings.configuration.localZones.pins.filter { $0.value.contains(address) }.map(\.key)
    let cached = cache.all().compactMap { name, value -> HostName? in
      guard case .addresses(let addresses)? = value[address.family].entry?.content else { return nil }
      return addresses.contains(address) ? name : nil
    }
    return Set(pinned + cached).sorted()
  }
}
