// SPDX-License-Identifier: Apache-2.0
/// The public providers that this library knows by name.
enum Preset: String, CaseIterable, Sendable {
  case alidns, google, cloudflare, quad9, dnspod

  /// The names, for messages.
  static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }

  func configuration(
    _ credentials: ProviderCredentials, _ clientSubnet: IPNetwork?
  ) throws(DirectDNSError) -> ProviderConfiguration {
    switch self {
    case .alidns:
      let signature = try credentials.alidnsSignature(for: rawValue)
      return ProviderConfiguration(
        provider: JSONProvider(
          name: rawValue, url: try WebURL("https://dns.alidns.com/resolve"), signature: signature,
          clientSubnet: clientSubnet),
        bootstrap: Self.addresses("223.5.5.5", "223.6.6.6", "2400:3200::1", "2400:3200:baba::1"),
        // Free use is limited to some 20 queries a second and client.
        rateLimit: signature == nil ? RateLimit(perSecond: 20) : nil)
    case .google:
      return ProviderConfiguration(
        provider: JSONProvider(
          name: rawValue, url: try WebURL("https://dns.google/resolve"), clientSubnet: clientSubnet),
        bootstrap: Self.addresses("8.8.8.8", "8.8.4.4", "2001:4860:4860::8888", "2001:4860:4860::8844"))
    case .cloudflare:
      return ProviderConfiguration(
        provider: JSONProvider(
          name: rawValue, url: try WebURL("https://cloudflare-dns.com/dns-query"), clientSubnet: clientSubnet),
        bootstrap: Self.addresses("1.1.1.1", "1.0.0.1", "2606:4700:4700::1111", "2606:4700:4700::1001"))
    case .quad9:
      return ProviderConfiguration(
        provider: MessageProvider(
          name: rawValue, url: try WebURL("https://dns.quad9.net/dns-query"), clientSubnet: clientSubnet),
        bootstrap: Self.addresses("9.9.9.9", "149.112.112.112", "2620:fe::fe", "2620:fe::9"))
    case .dnspod:
      guard let token = credentials.token else {
        return ProviderConfiguration(
          provider: MessageProvider(
            name: rawValue, url: try WebURL("https://doh.pub/dns-query"), clientSubnet: clientSubnet),
          bootstrap: Self.addresses("1.12.12.12", "120.53.53.53"))
      }
      return ProviderConfiguration(
        provider: try DNSPodProvider(
          name: rawValue, url: try WebURL("https://119.29.29.99/d"), token: token, clientSubnet: clientSubnet))
    }
  }

  private static func addresses(_ texts: String...) -> [IPAddress] { texts.compactMap(IPAddress.init) }
}
