// SPDX-License-Identifier: Apache-2.0
public import DirectDNS

/// The resolvers and clients that follow the configuration: an update applies to all of them or to none.
///
/// They belong to others, and are dropped when their owner releases them or shuts them down.
struct ConfiguredObjects: Sendable {
  private struct Kept<Object: AnyObject & Sendable, Configuration>: Sendable {
    weak var object: Object?
    /// The owner's changes to the settings.
    let adjust: @Sendable (inout Configuration) -> Void
  }

  /// Why settings could not be applied.
  struct Fault: Error {
    var error: DirectDNSError
    /// Whether some objects had applied them, and were set back.
    var wentBack: Bool
  }

  private var resolvers: [Kept<DirectResolver, ResolverConfiguration>] = []
  private var clients: [Kept<DirectClient, DirectClientConfiguration>] = []

  mutating func add(_ resolver: DirectResolver, _ adjust: @escaping @Sendable (inout ResolverConfiguration) -> Void) {
    resolvers.removeAll { $0.object?.hasEnded ?? true }
    resolvers.append(Kept(object: resolver, adjust: adjust))
  }

  mutating func add(_ client: DirectClient, _ adjust: @escaping @Sendable (inout DirectClientConfiguration) -> Void) {
    clients.removeAll { $0.object?.hasEnded ?? true }
    clients.append(Kept(object: client, adjust: adjust))
  }

  /// Applies other settings to all of them, or to none.
  ///
  /// - Parameters:
  ///   - settings: the settings.
  ///   - before: the settings that all of them have now.
  /// - Throws: the first error; objects that had applied the settings are set back to `before`.
  func apply(_ settings: DirectSettings, orGoBackTo before: DirectSettings) throws(Fault) {
    // Strong references until the end: an object that is released in between would be neither updated nor set back.
    let resolvers = resolvers.compactMap { kept in kept.object.map { ($0, kept.adjust) } }.filter { !$0.0.hasEnded }
    let clients = clients.compactMap { kept in kept.object.map { ($0, kept.adjust) } }.filter { !$0.0.hasEnded }
    var changed = 0
    do throws(DirectDNSError) {
      for (resolver, adjust) in resolvers {
        try settings.apply(to: resolver, adjust)
        changed += 1
      }
      for (client, adjust) in clients {
        try settings.apply(to: client, adjust)
        changed += 1
      }
    } catch {
      // The earlier settings are valid for all of them, since they were applied before.
      for (resolver, adjust) in resolvers.prefix(changed) { try? before.apply(to: resolver, adjust) }
      for (client, adjust) in clients.prefix(max(0, changed - resolvers.count)) {
        try? before.apply(to: client, adjust)
      }
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
