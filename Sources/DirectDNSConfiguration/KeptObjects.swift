// SPDX-License-Identifier: Apache-2.0
public import DirectDNS

/// The resolvers and clients that are kept to settings, all of them or none.
///
/// They are somebody else's: one is forgotten when its owner lets it go or shuts it down.
struct KeptObjects: Sendable {
  private struct Kept<Object: AnyObject & Sendable, Configuration>: Sendable {
    weak var object: Object?
    /// What its owner knows better than the settings.
    let adjust: @Sendable (inout Configuration) -> Void
  }

  /// Why settings could not be applied.
  struct Fault: Error {
    var error: DirectDNSError
    /// Whether some had taken them on before, and went back.
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

  /// Has all of them go on by other settings, or none.
  ///
  /// - Parameters:
  ///   - settings: the settings.
  ///   - before: those that all of them have gone by.
  /// - Throws: the first one's reason; those who had taken the settings on are back at what held before.
  func apply(_ settings: DirectSettings, orGoBackTo before: DirectSettings) throws(Fault) {
    // Held until the end: who is let go meanwhile would be neither here nor there.
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
      // What held before is good for all of them: they held to it.
      for (resolver, adjust) in resolvers.prefix(changed) { try? before.apply(to: resolver, adjust) }
      for (client, adjust) in clients.prefix(max(0, changed - resolvers.count)) {
        try? before.apply(to: client, adjust)
      }
      throw Fault(error: error, wentBack: changed > 0)
    }
  }
}

extension DirectSettings {
  /// Sets what these settings say about a client's requests.
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
    var configuration = client.configuration
    apply(to: &configuration)
    adjust(&configuration)
    try client.update(configuration)
  }
}
