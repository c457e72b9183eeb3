// SPDX-License-Identifier: Apache-2.0
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
  /// `connections`, `connectionsPerName`, `streamsPerConnection`, `threads` and `bufferSize` of the new configuration
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
