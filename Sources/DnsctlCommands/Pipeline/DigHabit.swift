internal import DirectDNS
internal import DirectDNSConfiguration

/// What those who know dig type, and what to write here: functions of the command line.
enum DigHabit {
  /// Why an argument is no name; nil for one that may be.
  ///
  /// - Parameters:
  ///   - argument: one of the hosts of the command line.
  ///   - others: whether there are others: a name that stands alone is meant as one.
  /// - Returns: what it looks like, and what to write.
  static func objection(to argument: String, others: Bool) -> String? {
    if argument.hasPrefix("@") {
      return "dig names a server so; here it is --provider \(provider(String(argument.dropFirst())))."
    }
    if argument == "+short" { return "this is an option of dig; here it is --format short." }
    if argument == "+trace" { return "this is an option of dig; here --trace shows each query." }
    // In capitals, as record types are written: in small letters they may be hosts of this network.
    guard others, argument == argument.uppercased(), let advice = advice(type: argument) else { return nil }
    return "this looks like a record type: \(advice)"
  }

  /// What may be said besides of a name that was looked up in vain; nil where it looks like a name.
  static func doubt(about argument: String, others: Bool) -> String? {
    guard others, let advice = advice(type: argument) else { return nil }
    return " If a record type was meant: \(advice)"
  }

  private static let types: Set<String> = [
    "A", "AAAA", "ANY", "CAA", "CNAME", "DNSKEY", "DS", "HTTPS", "MX", "NAPTR", "NS", "PTR", "SOA", "SRV", "SVCB",
    "TLSA",
    "TXT",
  ]

  private static func advice(type: String) -> String? {
    let type = type.uppercased()
    guard types.contains(type) else { return nil }
    return switch type {
    case "A": "--family ipv4 asks for that alone."
    case "AAAA": "--family ipv6 asks for that alone."
    default: "addresses are all that dnsctl asks for, A and AAAA."
    }
  }

  /// The provider that a server of dig's most likely means.
  private static func provider(_ server: String) -> String {
    guard let address = IPAddress.written(server) else {
      return (try? HostName(server)).map { "doh+https://\($0)/dns-query" } ?? "URL"
    }
    let known = UpstreamOptions.presets.first { name in
      (try? ProviderConfiguration(name))?.bootstrap.contains(address) == true
    }
    return known ?? "doh+https://\(WebURL.Host.address(address))/dns-query"
  }
}
