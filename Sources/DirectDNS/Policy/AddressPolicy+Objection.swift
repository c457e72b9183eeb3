// SPDX-License-Identifier: Apache-2.0
extension AddressPolicy {
  /// Why an address may not be connected to, and what would allow it.
  public struct Objection: Hashable, Sendable, CustomStringConvertible {
    // Indirect: objections are rare, and a large enum would be copied for every address.
    indirect enum Cause: Hashable, Sendable {
      case specialPurpose(SpecialPurposeNetwork)
      case outside([IPNetwork])
      case deniedNetwork(IPNetwork)
      case deniedSuffix(HostName)
    }

    /// The address that was judged.
    public let address: IPAddress
    /// The host that the address was found for.
    public let host: WebURL.Host?
    /// The address that decided: the IPv4 address or the loopback address that ``address`` stands for, or ``address``
    /// itself.
    public let judgedAddress: IPAddress
    let cause: Cause

    /// The forbidden range that the address lies in; nil when it lies outside the allowed ones or the host is denied.
    public var range: IPNetwork? {
      switch cause {
      case .specialPurpose(let row): row.network
      case .deniedNetwork(let network): network
      case .outside, .deniedSuffix: nil
      }
    }

    /// The range's name in IANA's registry, such as `Private-Use`; nil when a list of the policy forbids the address.
    public var rangeName: String? {
      guard case .specialPurpose(let row) = cause else { return nil }
      return row.name
    }

    /// The setting that would allow the address, in words.
    public var remedy: String {
      let one = IPNetwork(judgedAddress)
      let place = "allowedNetworks (configuration file: addressPolicy.allow; dnsctl: --allow \(one))"
      return switch cause {
      case .specialPurpose(let row) where row.network != one: "add \(row.network) (or the address) to \(place)"
      case .specialPurpose, .outside: "add \(one) to \(place)"
      case .deniedNetwork(let network):
        "take \(network) out of deniedNetworks (configuration file: addressPolicy.deny; dnsctl: leave out that --deny)"
      case .deniedSuffix(let suffix): Self.remedy(for: suffix)
      }
    }

    /// The address, its host, the reason, and the setting that would allow it.
    public var description: String { message(amongOf: 1) }

    /// The description for a host whose addresses, `count` in all, are all forbidden.
    func message(amongOf count: Int) -> String {
      let others = count > 1 ? "; its other addresses (\(count - 1)) are forbidden too" : ""
      return "\(reason); to allow it, \(remedy)\(hint)\(others)."
    }

    private var reason: String {
      switch cause {
      case .specialPurpose(let row):
        "\(subject) lies in \(row.network) (\(row.name), \(row.source)), which the address policy publicOnly forbids"
      case .outside(let networks):
        "\(subject) lies in none of the networks that the address policy allows (\(Self.list(networks)))"
      case .deniedNetwork(let network): "\(subject) lies in \(network), which the address policy denies"
      case .deniedSuffix(let suffix): Self.reason(host, suffix)
      }
    }

    /// The message for a host that nothing may be sent to, whatever its addresses.
    static func denial(of host: WebURL.Host, by suffix: HostName) -> String {
      "\(reason(host, suffix)); to allow it, \(remedy(for: suffix))."
    }

    private static func reason(_ host: WebURL.Host?, _ suffix: HostName) -> String {
      let isSuffix = host.flatMap { try? HostName($0) } == suffix
      return isSuffix
        ? "The address policy denies \(suffix)"
        : "\(host?.description ?? "The host") lies below \(suffix), which the address policy denies"
    }

    private static func remedy(for suffix: HostName) -> String {
      "take \(suffix) out of deniedSuffixes (configuration file: addressPolicy.deny; dnsctl: leave out that --deny)"
    }

    private var subject: String {
      var text = "The address \(address)"
      if case .name(let name) = host { text += " of \(name)" }
      if judgedAddress != address { text += " stands for \(judgedAddress); that" }
      return text
    }

    private var hint: String {
      guard case .specialPurpose(let row) = cause, let hint = row.hint else { return "" }
      return "; \(hint)"
    }

    private static func list(_ networks: [IPNetwork]) -> String {
      let shown = networks.prefix(4).map(\.description) + (networks.count > 4 ? ["…"] : [])
      return shown.isEmpty ? "it names none" : shown.joined(separator: ", ")
    }
  }
}
