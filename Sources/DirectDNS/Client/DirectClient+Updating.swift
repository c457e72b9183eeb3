// SPDX-License-Identifier: Apache-2.0
internal import HTTPTypes

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Going on by another configuration, without losing connections.
extension DirectClient {
  /// How it behaves at the moment.
  public var configuration: DirectClientConfiguration { settings.configuration }

  /// What holds at the moment.
  var settings: ClientSettings { current.withLock(\.self) }

  /// Goes on by another configuration, from the next request on.
  ///
  /// A request under way keeps its time-outs and its rules for redirects; where it is redirected to is judged by the
  /// policy of then. Connections stay, and none is used that the new policy forbids: each request's addresses are
  /// judged before one is chosen.
  ///
  /// What the connections were made of stays as it was: `trust`, `identity`, `minimumTLS`, `attemptDelay`,
  /// `connections`, `connectionsPerOrigin`, `streamsPerConnection`, `threads` and `bufferSize` of the new configuration
  /// are ignored. Make another client to change them.
  ///
  /// - Parameter configuration: how it behaves from now on; make it from ``configuration`` to change a part.
  /// - Throws: `invalidConfiguration` that names the value that is wrong; nothing has changed then.
  public func update(_ configuration: DirectClientConfiguration) throws(DirectDNSError) {
    try current.withLock { current throws(DirectDNSError) in
      current = try ClientSettings(configuration, after: current.configuration)
    }
  }
}

/// What a client goes by at the moment: a request reads it as a whole for each hop, and an update puts another in its
/// place.
final class ClientSettings: Sendable {
  let configuration: DirectClientConfiguration
  let rewriter: RequestRewriter
  let proxies: ProxyRule
  /// The lines of a GET without fields of its own.
  let plainLines: FieldLines

  init(_ configuration: DirectClientConfiguration) throws(DirectDNSError) {
    try configuration.validate()
    self.configuration = configuration
    rewriter = RequestRewriter(form: .pinned, policy: configuration.policy, direct: configuration.direct)
    plainLines = FieldLines(.get, [:], .none, cookie: nil, configuration)
    proxies = try ProxyRule(configuration.proxy, environment: ProcessInfo.processInfo.environment)
  }

  /// Another configuration, as far as a client that runs can take it on.
  convenience init(_ configuration: DirectClientConfiguration, after old: DirectClientConfiguration)
    throws(DirectDNSError)
  {
    var configuration = configuration
    // The loops and their connections were made of these.
    configuration.trust = old.trust
    configuration.identity = old.identity
    configuration.minimumTLS = old.minimumTLS
    configuration.attemptDelay = old.attemptDelay
    configuration.connections = old.connections
    configuration.connectionsPerOrigin = old.connectionsPerOrigin
    configuration.streamsPerConnection = old.streamsPerConnection
    configuration.threads = old.threads
    configuration.bufferSize = old.bufferSize
    try self.init(configuration)
  }
}

extension CurlTransferSettings {
  /// The settings of each of a client's loops.
  init(_ configuration: DirectClientConfiguration) throws(DirectDNSError) {
    let identity = configuration.identity
    try identity?.check()
    self.init(
      trust: try configuration.trust.resolved(), certificate: identity?.certificate, key: identity?.key,
      keyPassword: identity?.password?.text, requiresTLS13: configuration.minimumTLS == .v13,
      limits: PoolLimits(
        connections: max(1, configuration.connections / configuration.threads),
        connectionsPerRoute: configuration.connectionsPerOrigin, streams: configuration.streamsPerConnection,
        attemptDelay: configuration.attemptDelay.wholeMilliseconds),
      bufferSize: configuration.bufferSize)
  }
}
