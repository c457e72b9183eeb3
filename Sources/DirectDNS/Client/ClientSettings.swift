// SPDX-License-Identifier: Apache-2.0
internal import HTTPTypes

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

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
    configuration.connectionsPerName = old.connectionsPerName
    configuration.streamsPerConnection = old.streamsPerConnection
    configuration.threads = old.threads
    configuration.bufferSize = old.bufferSize
    try self.init(configuration)
  }
}
