// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// One provider as it is configured: by option, by environment, or in the configuration file.
struct ProviderEntry: Sendable, Hashable {
  enum Key: String, ConfigurationKey {
    case provider, name, bootstrap, rateLimit, credentials, clientSubnet, plainHTTP
  }

  enum RateLimitKey: String, ConfigurationKey { case perSecond, burst }

  enum CredentialsKey: String, ConfigurationKey { case account, keyID, secret, token }

  enum PlainHTTPOption: String, CaseIterable { case loopbackOnly, anywhere }

  /// Where the entry is, for errors: `--provider`, an environment variable, or the file's key path.
  var origin: String
  /// A preset's name or a URL.
  var text: String
  /// Its name in answers; nil means the preset's name or the URL's host.
  var name: String?
  /// Nil means the preset's own addresses.
  var bootstrap: [IPAddress]?
  /// Nil means the preset's own rate.
  var rateLimit: RateLimit?
  var credentials = ProviderCredentials()
  var clientSubnet: IPNetwork?
  var plainHTTP = ProviderConfiguration.PlainHTTP.loopbackOnly

  init(_ text: String, origin: String) {
    self.text = text
    self.origin = origin
  }

  init(_ node: ConfigurationNode) throws(ConfigurationFault) {
    if case .text = node.value {
      self.init(try node.text(Self.expectation), origin: node.path)
      return
    }
    let object = try node.object(Key.self, Self.expectation)
    guard let provider = object[.provider] else { throw object.missing(.provider, Self.textExpectation) }
    self.init(try provider.text(Self.textExpectation), origin: provider.path)
    name = try object[.name]?.text("Give a short name.")
    if let node = object[.bootstrap] {
      bootstrap = try node.list("Give a list of IP addresses.").map { node throws(ConfigurationFault) in
        try node.address()
      }
    }
    if let node = object[.rateLimit] { rateLimit = try Self.rateLimit(node) }
    if var node = object[.credentials] {
      node.isSecret = true
      credentials = try Self.credentials(node)
    }
    if let node = object[.clientSubnet] {
      let expectation = "Give a network, such as 192.0.2.0/24."
      guard let network = IPNetwork(try node.text(expectation)) else { throw node.fault(expectation) }
      clientSubnet = network
    }
    if let node = object[.plainHTTP] {
      plainHTTP = try node.choice(PlainHTTPOption.self) == .anywhere ? .anywhere : .loopbackOnly
    }
  }

  private static let textExpectation = "Give a preset's name or a URL with its format, such as doh+https://…"
  private static let expectation = "\(textExpectation), or an object with a provider."

  private static func rateLimit(_ node: ConfigurationNode) throws(ConfigurationFault) -> RateLimit {
    let object = try node.object(RateLimitKey.self)
    guard let perSecond = object[.perSecond] else {
      throw object.missing(.perSecond, "Give requests a second.")
    }
    let rate = try perSecond.number("Give a number of requests a second, more than 0 and at most 1000000000.") {
      $0 > 0 && $0 <= 1e9
    }
    let burst = try object[.burst]?.number("Give a number of requests, at least 1 and at most 1000000000.") {
      $0 >= 1 && $0 <= 1e9
    }
    return RateLimit(perSecond: rate, burst: burst)
  }

  private static func credentials(_ node: ConfigurationNode) throws(ConfigurationFault) -> ProviderCredentials {
    let object = try node.object(CredentialsKey.self)
    func text(_ key: CredentialsKey) throws(ConfigurationFault) -> String? {
      try object[key]?.text("Give a text.")
    }
    return ProviderCredentials(
      account: try text(.account), keyID: try text(.keyID), secret: try text(.secret).map { Secret($0) },
      token: try text(.token).map { Secret($0) })
  }

  /// The provider that a resolver asks.
  func configuration() throws(DirectDNSError) -> ProviderConfiguration {
    var configuration = try ProviderConfiguration(
      text, credentials: credentials, clientSubnet: clientSubnet, plainHTTP: plainHTTP)
    try checkCredentials(of: configuration.provider.name)
    if let bootstrap { configuration.bootstrap = bootstrap }
    if let rateLimit { configuration.rateLimit = rateLimit }
    // The provider itself is renamed, so that it keeps all its abilities.
    if let name, var provider = configuration.provider as? any NameableProvider {
      provider.name = name
      configuration.provider = provider
    }
    return configuration
  }

  /// Refuses credentials that would not be used: whoever gives them believes that they are.
  private func checkCredentials(of name: String) throws(DirectDNSError) {
    let taken = takenCredentials
    var given: [CredentialsKey] = []
    if credentials.account != nil { given.append(.account) }
    if credentials.keyID != nil { given.append(.keyID) }
    if credentials.secret != nil { given.append(.secret) }
    if credentials.token != nil { given.append(.token) }
    guard let other = given.first(where: { !taken.contains($0) }) else { return }
    let advice =
      taken.isEmpty
      ? "Leave the credentials out." : "Give \(taken.map(\.rawValue).joined(separator: ", ")) alone, or no credentials."
    throw DirectDNSError(.invalidConfiguration, "Provider \(name): it takes no \(other.rawValue). \(advice)")
  }

  /// What the provider's format has of credentials.
  private var takenCredentials: [CredentialsKey] {
    switch text.prefix(while: { $0 != "+" }) {
    case "alidns", "json": [.account, .keyID, .secret]
    case "dnspod": [.token]
    case "emas": [.account, .secret]
    default: []
    }
  }

  /// Whether the text names a provider at all, which tells a typing error on the command line from missing credentials.
  var isWellFormed: Bool {
    // A hexadecimal secret is valid for every format; DNSPod's token is refused without https.
    let some = ProviderCredentials(account: "0", keyID: "0", secret: "00", token: "0")
    return [some, ProviderCredentials()].contains {
      (try? ProviderConfiguration(text, credentials: $0, plainHTTP: .anywhere)) != nil
    }
  }
}

/// Settings are values that programs print, and a provider's URL may hold a key.
extension ProviderEntry: CustomStringConvertible, CustomReflectable {
  /// Where the entry is.
  var description: String { origin }
  /// Where the entry is.
  var customMirror: Mirror { Mirror(self, children: ["origin": origin]) }
}
