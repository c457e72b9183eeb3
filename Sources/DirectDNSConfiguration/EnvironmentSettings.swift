// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// The settings in the environment, which override the file and are overridden by options: variables named
/// `DIRECTDNS_…`.
///
/// An empty variable counts as unset, and so does a list of spaces only. Entries of a list may have spaces around them.
package struct EnvironmentSettings: Sendable {
  package var configurationPath: String?
  var providers: [String]?
  var bootstraps: [BootstrapAddress] = []
  var authorities: [String]?
  var families: AddressFamilies?
  var expired: ExpiredUse?
  var usesSystemDNS: Bool?
  var timeout: Duration?
  var store: StoreSetting?
  var alidns = ProviderCredentials()
  var dnspod = ProviderCredentials()
  var emas = ProviderCredentials()
  /// The system's own variables, such as those of trusted certificates.
  let variables: [String: String]

  package static let prefix = "DIRECTDNS_"

  /// The names of all variables that are read here.
  package static let names = [
    "CONFIG", "PROVIDERS", "BOOTSTRAP", "CA", "FAMILY", "EXPIRED", "SYSTEM", "TIMEOUT", "STORE", "ALIDNS_ACCOUNT",
    "ALIDNS_KEY_ID", "ALIDNS_SECRET", "DNSPOD_TOKEN", "EMAS_ACCOUNT", "EMAS_SECRET",
  ].map { prefix + $0 }

  package init(_ environment: [String: String]) throws(ConfigurationFault) {
    variables = environment
    for name in environment.keys.sorted() where name.hasPrefix(Self.prefix) { try Self.check(name, in: environment) }
    let reader = EnvironmentReader(environment: environment)
    configurationPath = reader.text("CONFIG")
    providers = try reader.words("PROVIDERS")
    for text in try reader.words("BOOTSTRAP") ?? [] {
      do throws(ConfigurationFault) {
        bootstraps.append(try BootstrapAddress(text))
      } catch {
        throw ConfigurationFault("\(Self.prefix)BOOTSTRAP: \(error.message)")
      }
    }
    authorities = try reader.paths("CA")
    families = try reader.value("FAMILY", "Give any, ipv4 or ipv6.") { FamilyWord(rawValue: $0)?.families }
    expired = try reader.value("EXPIRED", "Give allowed, refused or preferred.", ExpiredUse.init)
    usesSystemDNS = try reader.value("SYSTEM", "Give true or false.") { Self.switches[$0.lowercased()] }
    timeout = try reader.value("TIMEOUT", Seconds.timeoutExpectation, Seconds.timeout)
    store = try reader.text("STORE").map { text throws(ConfigurationFault) in
      try StoreSetting(text, origin: Self.prefix + "STORE")
    }
    alidns = ProviderCredentials(
      account: reader.text("ALIDNS_ACCOUNT"), keyID: reader.text("ALIDNS_KEY_ID"),
      secret: reader.text("ALIDNS_SECRET").map { Secret($0) })
    dnspod = ProviderCredentials(token: reader.text("DNSPOD_TOKEN").map { Secret($0) })
    emas = ProviderCredentials(
      account: reader.text("EMAS_ACCOUNT"), secret: reader.text("EMAS_SECRET").map { Secret($0) })
  }

  /// The variable, by each of the files that it names.
  var authorityOrigins: [String: String] {
    Dictionary((authorities ?? []).map { ($0, Self.prefix + "CA") }) { first, _ in first }
  }

  /// Refuses a variable that was not UTF-8: what no character can be made of has become U+FFFD by now, and the path would
  /// lead elsewhere.
  ///
  /// - Parameters:
  ///   - name: the variable.
  ///   - environment: the variables, as texts.
  /// - Throws: that it was not UTF-8.
  package static func check(_ name: String, in environment: [String: String]) throws(ConfigurationFault) {
    guard environment[name]?.unicodeScalars.contains("\u{fffd}") == true else { return }
    throw ConfigurationFault("\(name) is not UTF-8: give a text, or a path, that is.")
  }

  private static let switches = [
    "true": true, "on": true, "yes": true, "1": true, "false": false, "off": false, "no": false, "0": false,
  ]

  /// The credentials for a provider, which are given only to providers that they are meant for.
  func credentials(for text: String) -> ProviderCredentials {
    switch text {
    case "alidns": return alidns
    case "dnspod": return dnspod
    default: break
    }
    if text.hasPrefix("emas+") { return emas }
    // Over plain http everybody on the way could read the token.
    if text.hasPrefix("dnspod+https:") { return dnspod }
    // Many providers use this JSON format: an account of AliDNS is only for AliDNS.
    guard text.hasPrefix("json+https:"), let url = try? WebURL(String(text.dropFirst("json+".count))) else {
      return ProviderCredentials()
    }
    let host = "\(url.host)"
    let isAliDNS =
      host == "alidns.com" || host.hasSuffix(".alidns.com") || host == "223.5.5.5" || host == "223.6.6.6"
    return isAliDNS ? alidns : ProviderCredentials()
  }
}

extension ProviderCredentials {
  /// These credentials, replaced by those of `other` where it has some.
  func overridden(by other: ProviderCredentials) -> ProviderCredentials {
    ProviderCredentials(
      account: other.account ?? account, keyID: other.keyID ?? keyID, secret: other.secret ?? secret,
      token: other.token ?? token)
  }
}
