// SPDX-License-Identifier: Apache-2.0
public import DirectDNS

/// The resolvers and clients that follow the configuration: an update applies to all of them or to none.
///
/// They belong to others, and are dropped when their owner releases them or shuts them down.
struct ConfiguredObjects: Sendable {
  /// One of them, which it keeps alive.
  private struct Object {
    let apply: @Sendable (DirectSettings) throws(DirectDNSError) -> Void
  }

  /// Why settings could not be applied.
  struct Fault: Error {
    var error: DirectDNSError
    /// Whether some objects had applied them, and were set back.
    var wentBack: Bool
  }

  /// Each of them; nil once it was dropped.
  private var objects: [@Sendable () -> Object?] = []

  /// Adds a resolver; `adjust` makes the owner's changes to the settings.
  mutating func add(_ resolver: DirectResolver, _ adjust: @escaping @Sendable (inout ResolverConfiguration) -> Void) {
    add { [weak resolver] () -> Object? in
      guard let resolver, !resolver.hasEnded else { return nil }
      return Object { settings throws(DirectDNSError) in try settings.apply(to: resolver, adjust) }
    }
  }

  /// Adds a client; `adjust` makes the owner's changes to the settings.
  mutating func add(_ client: DirectClient, _ adjust: @escaping @Sendable (inout DirectClientConfiguration) -> Void) {
    add { [weak client] () -> Object? in
      guard let client, !client.hasEnded else { return nil }
      return Object { settings throws(DirectDNSError) in try settings.apply(to: client, adjust) }
    }
  }

  private mutating func add(_ object: @escaping @Sendable () -> Object?) {
    objects.removeAll { $0() == nil }
    objects.append(object)
  }

  /// Applies other settings to all of them, or to none.
  ///
  /// - Parameters:
  ///   - settings: the settings.
  ///   - before: the settings that all of them have now.
  /// - Throws: the first error; objects that had applied the settings are set back to `before`.
  func apply(_ settings: DirectSettings, orGoBackTo before: DirectSettings) throws(Fault) {
    // All of them at first: one that is released in between would be neither updated nor set back.
    let objects = objects.compactMap { $0() }
    var changed = 0
    do throws(DirectDNSError) {
      for object in objects {
        try object.apply(settings)
        changed += 1
      }
    } catch {
      // The earlier settings are valid for all of them, since they were applied before.
      for object in objects.prefix(changed) { try? object.apply(before) }
      throw Fault(error: error, wentBack: changed > 0)
    }
  }
}

extension DirectSettings {
  /// Sets what these settings say about requests in a client's configuration.
  public func apply(to configuration: inout DirectClientConfiguration) {
    configuration.policy = addressPolicy
    configuration.direct = direct
    configuration.lookup.expired = lookup.expired
  }

  func apply(
    to resolver: DirectResolver, _ adjust: (inout ResolverConfiguration) -> Void
  ) throws(DirectDNSError) {
    var configuration = self.resolver
    adjust(&configuration)
    try resolver.update(configuration, system: SystemDNS(servers: systemServers))
  }

  func apply(
    to client: DirectClient, _ adjust: (inout DirectClientConfiguration) -> Void
  ) throws(DirectDNSError) {
    try client.update { configuration throws(DirectDNSError) in
      apply(to: &configuration)
      adjust(&configuration)
    }
  }
}
