// SPDX-License-Identifier: Apache-2.0
/// One server as it is configured: shared by all that is sent to it, and never changed.
final class DNSServer: Sendable {
  /// Stays while the server is configured, and is never given to another.
  let number: Int
  let configuration: ProviderConfiguration
  /// Where it is reached; nil if its address has to be looked up first.
  let target: HTTPEndpoint?
  /// The provider's name.
  let name: String

  init(_ number: Int, _ configuration: ProviderConfiguration) {
    self.number = number
    self.configuration = configuration
    target = HTTPEndpoint(reachedWithoutDNS: configuration)
    name = configuration.provider.name
  }
}

extension HTTPEndpoint {
  /// The server of a provider that is reached without any DNS; nil for all others.
  init?(reachedWithoutDNS provider: ProviderConfiguration) {
    let url = provider.provider.url
    guard provider.bootstrap.isEmpty, case .name = url.host else {
      self.init(url: url, addresses: provider.bootstrap)
      return
    }
    // RFC 6761 §6.3: plain http is spoken with it since it is this machine, so nobody else may say where it is.
    guard let host = try? HostName(url.host), LocalZones().route(host) == .loopback else { return nil }
    self.init(url: url, addresses: [.ipv4(0x7F00_0001), .ipv6(high: 0, low: 1)])
  }
}
