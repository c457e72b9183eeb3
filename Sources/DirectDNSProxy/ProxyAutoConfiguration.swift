// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// The PAC file that tells a browser to use the proxy.
///
/// It says `DIRECT` only for names that the configuration sends to the system's DNS: with a general fallback to
/// `DIRECT` a browser would ask the machine's DNS in the clear as soon as the proxy is gone. It uses no function that
/// asks DNS (`isInNet`, `dnsResolve`).
struct ProxyAutoConfiguration {
  let text: String

  /// Creates it for a proxy at `HOST:PORT`.
  init(place: String, _ configuration: ProxyConfiguration) {
    var lines = ["function FindProxyForURL(url, host) {"]
    let rules = Self.rules(configuration)
    // Without DIRECT every line would say the same.
    if rules.contains(where: \.isDirect) {
      for rule in rules {
        lines.append("  if (\(rule.condition)) return \"\(rule.isDirect ? "DIRECT" : "PROXY \(place)")\";")
      }
    }
    lines.append("  return \"PROXY \(place)\";")
    lines.append("}")
    text = lines.joined(separator: "\n") + "\n"
  }

  /// The conditions and whether they mean `DIRECT`, in the order in which the proxy itself decides.
  private static func rules(_ configuration: ProxyConfiguration) -> [(condition: String, isDirect: Bool)] {
    var rules = configuration.policy.deniedSuffixes.map { (condition: condition(.under($0)), isDirect: false) }
    for rule in configuration.routes.rules where rule.pattern != .everything {
      rules.append((condition(rule.pattern), isDirect: rule.route == .system))
    }
    if case .offUnder(let suffixes) = configuration.direct {
      rules += suffixes.map { (condition: condition(.under($0)), isDirect: true) }
    }
    return rules
  }

  private static func condition(_ pattern: ProxyRoutes.Pattern) -> String {
    switch pattern {
    case .exactly(let name): "host === \"\(name)\""
    case .under(let name): "host === \"\(name)\" || dnsDomainIs(host, \".\(name)\")"
    case .everything: "true"
    }
  }
}
