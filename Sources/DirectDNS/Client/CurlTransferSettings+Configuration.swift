// SPDX-License-Identifier: Apache-2.0
extension CurlTransferSettings {
  /// The settings of each of a client's loops.
  init(_ configuration: DirectClientConfiguration) throws(DirectDNSError) {
    let identity = configuration.identity
    for file in [identity?.certificate, identity?.key].compactMap(\.self) where !FileReader(file).isReadable {
      throw DirectDNSError(.invalidConfiguration, "identity: \(file) cannot be read. Check its path and rights.")
    }
    self.init(
      trust: try configuration.trust.resolved(), certificate: identity?.certificate, key: identity?.key,
      keyPassword: identity?.password?.text, requiresTLS13: configuration.minimumTLS == .v13,
      limits: PoolLimits(
        connections: max(1, configuration.connections / configuration.threads),
        connectionsPerRoute: configuration.connectionsPerName, streams: configuration.streamsPerConnection,
        attemptDelay: configuration.attemptDelay.wholeMilliseconds),
      bufferSize: configuration.bufferSize)
  }
}
