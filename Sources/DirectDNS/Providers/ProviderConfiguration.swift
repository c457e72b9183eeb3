// SPDX-License-Identifier: Apache-2.0
/// A provider as a resolver uses it: the format, the addresses to reach it at, and how often it may be asked.
public struct ProviderConfiguration: Sendable {
  /// The wire format and the endpoint.
  public var provider: any Provider
  /// Addresses of the endpoint's host, so that no DNS is needed to reach it.
  ///
  /// Empty if the host is an address itself, if it is pinned (``LocalZones/pins``), or if the system's DNS is to be
  /// asked for its name.
  public var bootstrap: [IPAddress]
  /// The request rate; unlimited by default.
  public var rateLimit: RateLimit?

  /// Creates a configuration.
  public init(provider: any Provider, bootstrap: [IPAddress] = [], rateLimit: RateLimit? = nil) {
    self.provider = provider
    self.bootstrap = bootstrap
    self.rateLimit = rateLimit
  }

  /// Which servers may be asked over plain http in formats that require https (RFC 8484 §5, JSON).
  public enum PlainHTTP: Sendable, Hashable {
    /// Only those on this machine. The default.
    case loopbackOnly
    /// Any server: anyone on the way can read and change the answers.
    case anywhere
  }

  /// Reads a preset's name, or an endpoint's URL.
  ///
  /// URLs: `doh+https://…` (RFC 8484, GET), `doh-post+https://…`, `json+https://…`, `dnspod+http(s)://…`,
  /// `emas+http(s)://…`. A query is kept, a user name or a password is refused, and `{?dns}` or `{&dns}` may stay at
  /// the end. `https://…/dns-query` means `doh+https://…/dns-query`.
  ///
  /// - Parameters:
  ///   - text: the name or the URL.
  ///   - bootstrap: the value of ``bootstrap``; by default nil, for a preset's own addresses, and none for a URL.
  ///   - credentials: the account and its secrets; none by default.
  ///   - clientSubnet: the network that the provider is told (ECS); none by default.
  ///   - plainHTTP: which servers may be asked over plain http; by default only those on this machine.
  /// - Throws: an error of code ``DirectDNSError/Code/invalidConfiguration`` that names the part that is wrong.
  public init(
    _ text: String, bootstrap: [IPAddress]? = nil, credentials: ProviderCredentials = ProviderCredentials(),
    clientSubnet: IPNetwork? = nil, plainHTTP: PlainHTTP = .loopbackOnly
  ) throws(DirectDNSError) {
    if let preset = Preset(rawValue: text) {
      self = try preset.configuration(credentials, clientSubnet)
    } else {
      let endpoint = try ProviderEndpoint(text)
      self.init(provider: try endpoint.provider(credentials, clientSubnet, plainHTTP))
    }
    if let bootstrap { self.bootstrap = bootstrap }
  }
}

/// An endpoint by URL: the format before the `+`, the URL after it.
private struct ProviderEndpoint {
  enum Format: String, CaseIterable { case doh, dohPost = "doh-post", json, dnspod, emas }

  let format: Format
  let url: WebURL

  init(_ text: String) throws(DirectDNSError) {
    guard let (format, written) = Self.parts(text) else {
      let formats = Format.allCases.map(\.rawValue).joined(separator: ", ")
      let shown = DirectDNSError.quoted(text.prefixBeforeSecrets)
      guard !text.prefix(while: { $0 != ":" }).contains(",") else {
        throw DirectDNSError(.invalidConfiguration, "\(shown) has a comma. Give each provider by itself.")
      }
      let advice =
        Self.isWebURL(text)
        ? "does not say in which format it is asked: put one of \(formats) and a + in front of it. For DNS messages (RFC 8484) that is doh+https://…"
        : "is not a provider. Use one of \(Preset.names), or a URL with its format: FORMAT+https://… where FORMAT is one of \(formats)."
      throw DirectDNSError(.invalidConfiguration, "\(shown) \(advice)")
    }
    var rest = written
    // RFC 8484's templates: `{?dns}` begins a query, `{&dns}` continues one.
    for template in ["{?dns}", "{&dns}"] where rest.hasSuffix(template) { rest.removeLast(template.count) }
    do {
      url = try WebURL(rest)
    } catch {
      throw DirectDNSError(
        .invalidConfiguration, "Provider \(format.rawValue)+…: \(error.clause).", underlying: error)
    }
    guard url.scheme == .http || url.scheme == .https else {
      throw DirectDNSError(
        .invalidConfiguration, "Provider \(format.rawValue)+\(url.originText): DNS goes over http or https only.")
    }
    guard !url.hasUserInfo else {
      throw DirectDNSError(
        .invalidConfiguration,
        "Provider \(format.rawValue)+\(url.originText): no user name or password is sent to a provider. Leave what stands before the @ out of its URL; a key may stand in the path or the query."
      )
    }
    guard !(rest.contains("{") && rest.contains("}")) else {
      throw DirectDNSError(
        .invalidConfiguration,
        "Provider \(format.rawValue)+\(url.originText): of templates its URL may have {?dns} or {&dns} alone, at its end (RFC 8484). Leave others out, and write braces that are meant as %7B and %7D."
      )
    }
    guard url.effectivePort != 0 else {
      throw DirectDNSError(
        .invalidConfiguration,
        "Provider \(format.rawValue)+\(url.originText): nothing can be connected to at port 0. Name the server's port.")
    }
    self.format = format
  }

  /// The format and the URL; nil if no format is named and none follows from the URL.
  private static func parts(_ text: String) -> (Format, String)? {
    if let plus = text.firstIndex(of: "+"), let format = Format(rawValue: String(text[..<plus])) {
      return (format, String(text[text.index(after: plus)...]))
    }
    // The path of all examples in RFC 8484, which nearly every server of DNS messages uses.
    let path = text.prefix { !"?#{".contains($0) }
    return isWebURL(text) && path.hasSuffix("/dns-query") ? (.doh, text) : nil
  }

  private static func isWebURL(_ text: String) -> Bool {
    ["https://", "http://"].contains { text.prefix($0.count).lowercased() == $0 }
  }

  func provider(
    _ credentials: ProviderCredentials, _ clientSubnet: IPNetwork?, _ plainHTTP: ProviderConfiguration.PlainHTTP
  ) throws(DirectDNSError) -> any Provider {
    let name = "\(url.host)"
    switch format {
    case .doh, .dohPost:
      try checkPlainHTTP(plainHTTP)
      return MessageProvider(
        name: name, url: url, method: format == .doh ? .get : .post, clientSubnet: clientSubnet)
    case .json:
      try checkPlainHTTP(plainHTTP)
      return JSONProvider(
        name: name, url: url, signature: try credentials.alidnsSignature(for: name), clientSubnet: clientSubnet)
    case .dnspod:
      return try DNSPodProvider(name: name, url: url, token: credentials.token, clientSubnet: clientSubnet)
    case .emas:
      return try EMASProvider(name: name, url: url, credentials: credentials, clientSubnet: clientSubnet)
    }
  }

  private func checkPlainHTTP(_ plainHTTP: ProviderConfiguration.PlainHTTP) throws(DirectDNSError) {
    guard url.scheme == .http, plainHTTP == .loopbackOnly else { return }
    if case .address(let address) = url.host, address.isLoopback { return }
    if "\(url.host)" == "localhost" { return }
    throw DirectDNSError(
      .invalidConfiguration,
      "Provider \(format.rawValue)+\(url.originText): over plain http anyone on the way can change the answers. Use https, or set plainHTTP to anywhere if you must (configuration file: providers; dnsctl has no option for it)."
    )
  }
}

extension String {
  /// The text up to its query, which may hold keys, and without the user info in front of its host.
  fileprivate var prefixBeforeSecrets: String {
    let text = self[..<(firstIndex { "?#".contains($0) } ?? endIndex)]
    guard let at = text.lastIndex(of: "@") else { return String(text) }
    let scheme = text[..<at].firstRange(of: "://").map { text[..<$0.upperBound] } ?? ""
    return scheme + "…" + text[at...]
  }
}

extension ProviderCredentials {
  /// What AliDNS's signature needs; nil if there are no credentials at all.
  fileprivate func alidnsSignature(for provider: String) throws(DirectDNSError) -> JSONProvider.Signature? {
    guard !isEmpty else { return nil }
    guard let account, let keyID, let secret else {
      let parts = [("account", self.account == nil), ("keyID", self.keyID == nil), ("secret", self.secret == nil)]
      let missing = parts.filter(\.1).map(\.0).joined(separator: " and ")
      throw DirectDNSError(
        .invalidConfiguration,
        "Provider \(provider): signing needs account, keyID and secret. Give \(missing) too.")
    }
    return JSONProvider.Signature(account: account, keyID: keyID, secret: secret)
  }
}

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
        // Free use is limited to some 20 queries per second and client.
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
