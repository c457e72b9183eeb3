// SPDX-License-Identifier: Apache-2.0
internal import Logging
internal import Synchronization

/// Going on by another configuration, without losing what is known.
extension DirectResolver {
  /// How it behaves at the moment.
  public var configuration: ResolverConfiguration { settings.configuration }

  /// What holds at the moment.
  var settings: ResolverSettings { current.withLock(\.self) }

  /// The system's DNS; nil where it is off.
  var system: (any SystemSource)? { settings.system }

  /// The families that a lookup asks for unless its caller says otherwise.
  @inline(__always)
  var families: AddressFamilies { AddressFamilies(rawValue: wantedFamilies.load(ordering: .relaxed)) }

  /// Goes on by another configuration, from the next lookup on.
  ///
  /// The cache stays, and so do lookups under way; of providers whose name and origin stay, the health and what is left
  /// of their rate stay. Answers that are known keep the lifetime that they came with, except those of names that are
  /// now looked up elsewhere, such as a name that was pinned: they are forgotten. Names to be kept alive that were set
  /// by ``keepAlive(_:)`` stay, unless the configuration had them and has them no longer.
  ///
  /// What a resolver is built around stays as it was made: `capacity`, `store`, `storeTimeout` and `observer` of the
  /// new configuration are ignored; and so are `trust` and `connectionsPerServer` where the transport is the caller's own. The files of `trust` are
  /// read again; one that is named as before and cannot be read changes nothing. Over its life a resolver takes providers of at most 254 different names.
  ///
  /// A cached lookup costs what it did before. The call itself waits for nothing and may look through the cache once.
  ///
  /// - Parameters:
  ///   - configuration: how it behaves from now on; make it from ``configuration`` to change a part.
  ///   - system: the system's DNS from now on; nil leaves it as it is.
  /// - Throws: `invalidConfiguration` that names the value that is wrong; nothing has changed then.
  public func update(
    _ configuration: ResolverConfiguration, system: (any SystemSource)? = nil
  ) throws(DirectDNSError) {
    let before = try updating.withLock { _ throws(DirectDNSError) in
      // All that can fail comes before the first change.
      try configuration.validate()
      let old = settings
      var configuration = configuration
      configuration.capacity = old.configuration.capacity
      // The room is the one that there is, not the one that the next resolver has.
      try configuration.validateKeepAlive()
      let trust = try trust(configuration.trust, after: old.configuration.trust)
      try Self.number(configuration.providers, in: cache.sources)

      configuration.store = old.configuration.store
      configuration.storeTimeout = old.configuration.storeTimeout
      configuration.observer = old.configuration.observer
      ownTransport?.update(trust, connections: configuration.connectionsPerServer)
      apply(ResolverSettings(configuration, system: system ?? old.systemSource), inPlaceOf: old)
      return old.configuration.localZones
    }
    // Without the lock: what follows may call the observer, who may update again. Of two at a time the later one's
    // settings are told twice.
    lookups.tell { $0.update(settings, at: $1) }
    forgetMoved(from: before, to: self.configuration.localZones)
    logger.info("configuration updated")
  }

  /// Whom the resolver's own transport trusts from now on; nil for those whom it trusts already.
  private func trust(_ new: TrustStore, after old: TrustStore) throws(DirectDNSError) -> CurlTrust? {
    guard ownTransport != nil else { return nil }
    guard new == old else { return try new.resolved() }
    // Files are replaced where they lie, when an authority's certificate runs out.
    return try? new.resolved(waits: false)
  }

  private func apply(_ new: ResolverSettings, inPlaceOf old: ResolverSettings) {
    let (configuration, before) = (new.configuration, old.configuration)
    current.withLock { $0 = new }
    wantedFamilies.store(configuration.families.rawValue, ordering: .relaxed)
    if configuration.cache != before.cache {
      cache.update(configuration.cache)
      store?.update(configuration.cache)
    }
    bootstrap.update(system: new.system)
  }

  /// Gives each provider's name a code in the cache.
  static func number(_ providers: [ProviderConfiguration], in sources: SourceNames) throws(DirectDNSError) {
    for provider in providers where sources.code(ofProvider: provider.provider.name) == nil {
      throw DirectDNSError(
        .invalidConfiguration,
        "Provider \(provider.provider.name): a resolver takes providers of at most \(SourceNames.providerLimit) different names over its life. Use a name that it knows, or make another resolver."
      )
    }
  }

  // MARK: Names that are looked up elsewhere now

  private func forgetMoved(from old: LocalZones, to new: LocalZones) {
    guard old != new else { return }
    for (name, value) in cache.all() where value.ipv4 != .neverAsked || value.ipv6 != .neverAsked {
      if old.route(name) != new.route(name) { cache.forget(name, now: clock.now) }
    }
  }
}
