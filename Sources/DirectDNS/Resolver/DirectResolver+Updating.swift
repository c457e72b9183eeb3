// SPDX-License-Identifier: Apache-2.0
internal import Logging
internal import Synchronization

/// Changing the configuration of a running resolver, without losing what it knows.
extension DirectResolver {
  /// The present configuration.
  public var configuration: ResolverConfiguration { settings.configuration }

  /// The present settings.
  var settings: ResolverSettings { current.withLock(\.self) }

  /// The address families that a lookup asks for by default.
  @inline(__always)
  var families: AddressFamilies { AddressFamilies(rawValue: wantedFamilies.load(ordering: .relaxed)) }

  /// Changes the configuration, from the next lookup on.
  ///
  /// The cache stays, and so do lookups under way: no new lookup joins their queries, and if these fail, the new
  /// providers are asked, as far as there is time. Providers with the same name and origin as before keep their health
  /// and their request rate; the answer of a removed one reaches the lookups that wait for it, and is not kept. Answers
  /// in the cache keep their lifetime, except those of names that are now looked up elsewhere, such as a name that was
  /// pinned: they are forgotten, and lookups that wait for such a name get its pin at once, or go on to the system's
  /// DNS (those of its other records get the error that a new lookup would). If the system's DNS is switched off, its
  /// answers are forgotten. Names that ``keepAlive(_:)`` has set stay, except those that the old configuration had and
  /// the new one does not have; those of a warm-up all stay.
  ///
  /// If nothing differs from the present settings, nothing changes, and failures stay remembered, so that a file can be
  /// read again at any time. A provider of your own type is the same only if it is `Equatable` and equal, or the same
  /// object.
  ///
  /// Some values cannot be changed: `capacity`, `store`, `storeTimeout` and `observer` of the new configuration are
  /// ignored, and so are `trust` and `connectionsPerServer` if the transport is the caller's own. The files of `trust`
  /// are read again; if the same files are named as before and cannot be read, nothing changes. Over its life a
  /// resolver takes providers with at most 254 different names.
  ///
  /// Cached lookups do not become slower. The call itself does not wait, but may search the whole cache once.
  ///
  /// - Parameters:
  ///   - configuration: the new configuration; take a copy of ``configuration`` and change a part of it.
  ///   - system: the new system's DNS; nil to keep the present one.
  /// - Throws: `invalidConfiguration` that names the value that is wrong; then nothing has changed.
  public func update(
    _ configuration: ResolverConfiguration, system: (any SystemSource)? = nil
  ) throws(DirectDNSError) {
    let before = try updating.withLock { _ throws(DirectDNSError) in
      // Everything that can fail comes before the first change.
      try configuration.validate()
      let old = settings
      var configuration = configuration
      configuration.capacity = old.configuration.capacity
      // Checked for the present capacity, which cannot be changed.
      try configuration.validateKeepAlive()
      let trust = try trust(configuration.trust, after: old.configuration.trust)
      try Self.number(configuration.providers, in: cache.sources)

      configuration.store = old.configuration.store
      configuration.storeTimeout = old.configuration.storeTimeout
      configuration.observer = old.configuration.observer
      ownTransport?.update(trust, connections: configuration.connectionsPerServer)
      apply(
        ResolverSettings(configuration, system: system ?? old.systemSource, trust: trust ?? old.trust), inPlaceOf: old)
      return old
    }
    // Without the lock, since this may call the observer, which may call `update` again. If two updates run at the same
    // time, the machine is told the later settings twice.
    lookups.send { $0.update(settings, at: $1) }
    forgetMoved(from: before, to: settings)
    logger.info("configuration updated")
  }

  /// The new authorities of the resolver's own transport; nil to keep the present ones.
  private func trust(_ new: TrustStore, after old: TrustStore) throws(DirectDNSError) -> CurlTrust? {
    guard ownTransport != nil else { return nil }
    guard new == old else { return try new.resolved() }
    // The same files may have new content, when an authority's certificate was renewed.
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
    // It forgets what has failed.
    if !new.isSame(as: old) { bootstrap.update(system: new.system) }
  }

  /// Gives each provider's name a code in the cache.
  ///
  /// - Throws: `invalidConfiguration` if no code is left.
  static func number(_ providers: [ProviderConfiguration], in sources: SourceNames) throws(DirectDNSError) {
    for provider in providers where sources.code(ofProvider: provider.provider.name) == nil {
      throw DirectDNSError(
        .invalidConfiguration,
        "Provider \(provider.provider.name): a resolver takes providers of at most \(SourceNames.providerLimit) different names over its life. Use a name that it knows, or make another resolver."
      )
    }
  }

  // MARK: Names that are looked up elsewhere now

  private func forgetMoved(from old: ResolverSettings, to new: ResolverSettings) {
    let (before, present) = (old.configuration, new.configuration)
    let isSystemGone = old.system != nil && new.system == nil
    let haveProvidersCome = before.providers.isEmpty && !present.providers.isEmpty
    guard before.localZones != present.localZones || isSystemGone || haveProvidersCome else { return }
    let all = cache.all()
    var forgotten: Set<HostName> = []
    if isSystemGone || haveProvidersCome {
      // Of a name that providers are asked for, only what the system has said: the other family may be a provider's.
      // Beside providers its word that there is no address is not believed, since it may be a captive portal's. A local
      // name is refused without it, and goes with those that are looked up elsewhere.
      for (name, value) in all where present.route(for: name) == .providers {
        for family in IPAddress.Family.allCases {
          guard let entry = value[family].entry, entry.source == SourceNames.system, isSystemGone || entry.isNegative
          else { continue }
          let question = AddressQuestion(name, family)
          // Not as one that was asked for in vain: that would wait until the other family is due.
          _ = cache.store(nil, inAnswerTo: question, unkept: .neverAsked, now: clock.now)
          forgotten.insert(name)
        }
      }
    }
    for (name, value) in all where value.ipv4 != .neverAsked || value.ipv6 != .neverAsked {
      let isRefused = isSystemGone && present.route(for: name) == .system
      guard isRefused || present.routeChange(of: name, from: before) == .elsewhere else { continue }
      cache.forget(name, now: clock.now)
      forgotten.insert(name)
    }
    guard !forgotten.isEmpty else { return }
    // Those that are kept alive are asked for where they are looked up now.
    lookups.send { [forgotten] in $0.keptAlive.refreshSoon(forgotten, at: $1) }
  }
}
