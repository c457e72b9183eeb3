// SPDX-License-Identifier: Apache-2.0
internal import HTTPTypes

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Changing the configuration of a running client, without losing connections.
extension DirectClient {
  /// The present configuration.
  public var configuration: DirectClientConfiguration { settings.configuration }

  var settings: ClientSettings { current.withLock(\.self) }

  /// Changes the configuration, from the next request on.
  ///
  /// A request under way keeps its timeouts and its rules for redirects, while the hops that follow are judged by the
  /// new policy, unless the request has one of its own (``RequestOptions/policy``). Connections stay open, but none is
  /// used that the new policy forbids, since each request's addresses are judged first.
  ///
  /// Some values cannot be changed, because connections were made with them: `trust`, `identity`, `minimumTLS`,
  /// `attemptDelay`, `connections`, `connectionsPerOrigin`, `streamsPerConnection`, `threads` and `bufferSize` of the
  /// new configuration are ignored. Make another client to change them.
  ///
  /// - Parameter configuration: the new configuration; take a copy of ``configuration`` and change a part of it.
  /// - Throws: `invalidConfiguration` that names the value that is wrong; then nothing has changed.
  public func update(_ configuration: DirectClientConfiguration) throws(DirectDNSError) {
    try update { $0 = configuration }
  }

  /// Changes a part of the configuration; what another task changes meanwhile is not lost.
  package func update(
    _ change: (inout DirectClientConfiguration) throws(DirectDNSError) -> Void
  ) throws(DirectDNSError) {
    try current.withLock { current throws(DirectDNSError) in
      var configuration = current.configuration
      try change(&configuration)
      current = try ClientSettings(configuration, after: current.configuration)
    }
  }
}

/// A client's present settings: a request reads them as a whole for each hop, and an update replaces them by others.
final class ClientSettings: Sendable {
  let configuration: DirectClientConfiguration
  let rewriter: RequestRewriter
  let proxies: ProxyRule
  /// The field lines of a GET that has no fields of its own.
  let plainLines: FieldLines

  init(_ configuration: DirectClientConfiguration) throws(DirectDNSError) {
    try configuration.validate()
    self.configuration = configuration
    rewriter = RequestRewriter(form: .pinned, policy: configuration.policy, direct: configuration.direct)
    plainLines = FieldLines(.get, [:], .none, cookie: nil, configuration)
    proxies = try ProxyRule(configuration.proxy, environment: ProcessInfo.processInfo.environment)
  }

  /// Takes over the part of another configuration that a running client can change.
  convenience init(_ configuration: DirectClientConfiguration, after old: DirectClientConfiguration)
    throws(DirectDNSError)
  {
    var configuration = configuration
    // The loops and their connections were made with these.
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

  /// The settings of a request, which may have a policy and a jar of its own.
  func adjusted(by options: RequestOptions) -> ClientSettings {
    options.policy == nil && options.cookies == nil ? self : ClientSettings(self, options)
  }

  private init(_ settings: ClientSettings, _ options: RequestOptions) {
    var configuration = settings.configuration
    if let policy = options.policy { configuration.policy = policy }
    if let cookies = options.cookies { configuration.cookies = cookies }
    self.configuration = configuration
    rewriter = RequestRewriter(form: .pinned, policy: configuration.policy, direct: configuration.direct)
    proxies = settings.proxies
    plainLines = settings.plainLines
  }
}
