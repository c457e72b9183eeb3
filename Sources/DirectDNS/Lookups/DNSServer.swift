// SPDX-License-Identifier: Apache-2.0
/// One server as it is configured; it never changes, and all its queries share it.
final class DNSServer: Sendable {
  /// The same for as long as the server is configured, and never given to another server.
  struct Number: Sendable, Hashable {
    let value: Int
  }

  let number: Number
  let configuration: ProviderConfiguration
  /// Where it is reached; nil if its own address has to be looked up first.
  let target: HTTPEndpoint?
  /// The provider's name.
  let name: String

  init(_ number: Number, _ configuration: ProviderConfiguration) {
    self.number = number
    self.configuration = configuration
    target = HTTPEndpoint(reachedWithoutDNS: configuration)
    name = configuration.provider.name
  }
}

extension HTTPEndpoint {
  /// The server of a provider that can be reached without DNS; nil for any other provider.
  init?(reachedWithoutDNS provider: ProviderConfiguration) {
    let url = provider.provider.url
    guard provider.bootstrap.isEmpty, case .name = url.host else {
      self.init(url: url, addresses: provider.bootstrap)
      return
    }
    // Plain http is allowed to localhost because it is this machine, so no DNS may say otherwise (RFC 6761 §6.3).
    guard let host = try? HostName(url.host), LocalZones().route(host) == .loopback else { return nil }
    self.init(url: url, addresses: [.loopback(.ipv4), .loopback(.ipv6)])
  }
}
