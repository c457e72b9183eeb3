// SPDX-License-Identifier: Apache-2.0
/// A block of addresses with a special purpose: one row of a registry.
struct SpecialPurposeNetwork: Hashable, Sendable {
  /// Whether the policy `publicOnly` lets requests into the block.
  enum Verdict: Sendable {
    case allowed, forbidden
    /// The IPv4 address inside decides.
    case embedded
  }

  let network: IPNetwork
  /// The name in the registry.
  let name: String
  /// The document that made the block special.
  let source: String
  /// What the registry says; nil if it says "N/A", or if another registry has the block.
  let isGloballyReachable: Bool?
  let verdict: Verdict
  /// What else a reader of the error should know.
  var hint: String?
}

/// The addresses that are not ordinary public ones.
///
/// Every row can be checked against IANA's registries: "IPv4 Special-Purpose Address Space" and "IPv6 Special-Purpose
/// Address Space" (RFC 6890, RFC 8190), and for the rest "Internet Protocol Version 6 Address Space" and the multicast
/// registries. The verdict is what the registry says about global reachability, and *forbidden* if it says nothing; a
/// row that differs from this has a verdict of its own, and a comment gives the reason.
enum SpecialPurposeNetworks {
  typealias Row = SpecialPurposeNetwork

  /// IPv4: an address that is in no row is public.
  static let ipv4: [Row] = [
    Row("0.0.0.0/8", "\"This network\"", "RFC 791 §3.2", false),
    Row("0.0.0.0/32", "\"This host on this network\"", "RFC 1122 §3.2.1.3", false),
    Row("10.0.0.0/8", "Private-Use", "RFC 1918", false),
    Row("100.64.0.0/10", "Shared Address Space", "RFC 6598", false),
    Row("127.0.0.0/8", "Loopback", "RFC 1122 §3.2.1.3", false),
    Row("169.254.0.0/16", "Link Local", "RFC 3927", false),
    Row("172.16.0.0/12", "Private-Use", "RFC 1918", false),
    Row("192.0.0.0/24", "IETF Protocol Assignments", "RFC 6890 §2.1", false),
    Row("192.0.0.0/29", "IPv4 Service Continuity Prefix", "RFC 7335", false),
    Row("192.0.0.8/32", "IPv4 dummy address", "RFC 7600", false),
    // Anycast: the nearest router or relay, which is often one's own, and not a target for web requests.
    Row("192.0.0.9/32", "Port Control Protocol Anycast", "RFC 7723", true, .forbidden),
    Row("192.0.0.10/32", "Traversal Using Relays around NAT Anycast", "RFC 8155", true, .forbidden),
    Row("192.0.0.170/32", "NAT64/DNS64 Discovery", "RFC 8880", false),
    Row("192.0.0.171/32", "NAT64/DNS64 Discovery", "RFC 8880", false),
    Row("192.0.2.0/24", "Documentation (TEST-NET-1)", "RFC 5737", false),
    Row("192.31.196.0/24", "AS112-v4", "RFC 7535", true),
    Row("192.52.193.0/24", "AMT", "RFC 7450", true),
    Row("192.88.99.0/24", "Deprecated (6to4 Relay Anycast)", "RFC 7526", nil),
    Row("192.88.99.2/32", "6a44-relay anycast address", "RFC 6751", false),
    Row("192.168.0.0/16", "Private-Use", "RFC 1918", false),
    Row("192.175.48.0/24", "Direct Delegation AS112 Service", "RFC 7534", true),
    Row(
      "198.18.0.0/15", "Benchmarking", "RFC 2544", false,
      hint: "proxies in fake-IP mode answer with such addresses: exempt the name there, or do not ask their DNS"),
    Row("198.51.100.0/24", "Documentation (TEST-NET-2)", "RFC 5737", false),
    Row("203.0.113.0/24", "Documentation (TEST-NET-3)", "RFC 5737", false),
    Row("240.0.0.0/4", "Reserved", "RFC 1112 §4", false),
    Row("255.255.255.255/32", "Limited Broadcast", "RFC 919 §7", false),
    // From the registry "IPv4 Multicast Address Space".
    Row("224.0.0.0/4", "Multicast", "RFC 5771", nil),
    // In no registry: public space, where every Azure host answers the virtual machine on it.
    Row("168.63.129.16/32", "Azure platform services", "Microsoft's documentation", true, .forbidden),
  ]

  /// IPv6: every address is in a row.
  static let ipv6: [Row] = [
    Row("::1/128", "Loopback Address", "RFC 4291", false),
    Row("::/128", "Unspecified Address", "RFC 4291", false),
    Row("::ffff:0:0/96", "IPv4-mapped Address", "RFC 4291", false, .embedded),
    // Networks with DNS64 reach the whole of the public IPv4 through it.
    Row("64:ff9b::/96", "IPv4-IPv6 Translat.", "RFC 6052", true, .embedded),
    Row("64:ff9b:1::/48", "IPv4-IPv6 Translat.", "RFC 8215", false),
    Row("100::/64", "Discard-Only Address Block", "RFC 6666", false),
    Row("100:0:0:1::/64", "Dummy IPv6 Prefix", "RFC 9780", false),
    Row("2001::/23", "IETF Protocol Assignments", "RFC 2928", false),
    Row("2001::/32", "TEREDO", "RFC 4380", nil),
    // For the same reason as their IPv4 counterparts.
    Row("2001:1::1/128", "Port Control Protocol Anycast", "RFC 7723", true, .forbidden),
    Row("2001:1::2/128", "Traversal Using Relays around NAT Anycast", "RFC 8155", true, .forbidden),
    Row("2001:1::3/128", "DNS-SD Service Registration Protocol Anycast", "RFC 9665", true, .forbidden),
    Row("2001:2::/48", "Benchmarking", "RFC 5180", false),
    Row("2001:3::/32", "AMT", "RFC 7450", true),
    Row("2001:4:112::/48", "AS112-v6", "RFC 7535", true),
    Row("2001:10::/28", "Deprecated (previously ORCHID)", "RFC 4843", nil),
    // Identifiers, which are not routed on the internet.
    Row("2001:20::/28", "ORCHIDv2", "RFC 7343", true, .forbidden),
    Row("2001:30::/28", "Drone Remote ID Protocol Entity Tags (DETs) Prefix", "RFC 9374", true, .forbidden),
    Row("2001:db8::/32", "Documentation", "RFC 3849", false),
    Row("2002::/16", "6to4", "RFC 3056", nil),
    Row("2620:4f:8000::/48", "Direct Delegation AS112 Service", "RFC 7534", true),
    Row("3fff::/20", "Documentation", "RFC 9637", false),
    Row("5f00::/16", "Segment Routing (SRv6) SIDs", "RFC 9602", false),
    Row("fc00::/7", "Unique-Local", "RFC 4193", false),
    Row("fe80::/10", "Link-Local Unicast", "RFC 4291", false),
    // No longer in a registry: they hold IPv4 addresses.
    Row("::/96", "IPv4-Compatible (deprecated)", "RFC 4291 §2.5.5.1", nil),
    Row("::ffff:0:0:0/96", "IPv4-translated (SIIT)", "RFC 2765 §2.1", nil),
    // The registry "Internet Protocol Version 6 Address Space", row by row, without those above.
    Row("::/8", "Reserved by IETF", "RFC 4291", nil),
    Row("100::/8", "Reserved by IETF", "RFC 4291", nil),
    Row("200::/7", "Reserved by IETF", "RFC 4048", nil),
    Row("400::/6", "Reserved by IETF", "RFC 4291", nil),
    Row("800::/5", "Reserved by IETF", "RFC 4291", nil),
    Row("1000::/4", "Reserved by IETF", "RFC 4291", nil),
    Row("2000::/3", "Global Unicast", "RFC 4291", true),
    Row("4000::/3", "Reserved by IETF", "RFC 4291", nil),
    Row("6000::/3", "Reserved by IETF", "RFC 4291", nil),
    Row("8000::/3", "Reserved by IETF", "RFC 4291", nil),
    Row("a000::/3", "Reserved by IETF", "RFC 4291", nil),
    Row("c000::/3", "Reserved by IETF", "RFC 4291", nil),
    Row("e000::/4", "Reserved by IETF", "RFC 4291", nil),
    Row("f000::/5", "Reserved by IETF", "RFC 4291", nil),
    Row("f800::/6", "Reserved by IETF", "RFC 4291", nil),
    Row("fe00::/9", "Reserved by IETF", "RFC 4291", nil),
    Row("fec0::/10", "Reserved by IETF (Site-Local)", "RFC 3879", nil),
    Row("ff00::/8", "Multicast", "RFC 4291", nil),
  ]

  private static let ipv4Index = NetworkIndex(ipv4.map(\.network))
  private static let ipv6Index = NetworkIndex(ipv6.map(\.network))

  /// The row by which `publicOnly` forbids an address: the most specific one that contains it; nil for a public
  /// address.
  static func forbidding(_ address: IPAddress) -> SpecialPurposeNetwork? {
    switch address.family {
    case .ipv4:
      guard let place = ipv4Index.mostSpecific(around: address), ipv4[place].verdict != .allowed else { return nil }
      return ipv4[place]
    case .ipv6:
      if let place = ipv6Index.mostSpecific(around: address), ipv6[place].verdict != .allowed { return ipv6[place] }
      return address.isISATAP ? .isatap(address) : nil
    }
  }
}

extension SpecialPurposeNetwork {
  /// A row of the tables; by default its verdict is what the registry says about global reachability.
  fileprivate init(
    _ network: String, _ name: String, _ source: String, _ isGloballyReachable: Bool?, _ verdict: Verdict? = nil,
    hint: String? = nil
  ) {
    self.init(
      network: IPNetwork(constant: network), name: name, source: source, isGloballyReachable: isGloballyReachable,
      verdict: verdict ?? (isGloballyReachable == true ? .allowed : .forbidden), hint: hint)
  }

  /// ISATAP is known by its interface identifier, in any prefix.
  fileprivate static func isatap(_ address: IPAddress) -> SpecialPurposeNetwork? {
    IPNetwork(address: address, prefixLength: 96).map {
      SpecialPurposeNetwork(
        network: $0, name: "ISATAP interface identifier", source: "RFC 5214 §6.1", isGloballyReachable: nil,
        verdict: .forbidden)
    }
  }
}

extension IPAddress {
  /// Whether the interface identifier holds an IPv4 address to tunnel to (RFC 5214 §6.1), whatever its "u" bit.
  fileprivate var isISATAP: Bool { low >> 32 & 0xFDFF_FFFF == 0x0000_5EFE }
}

/// Finds the most specific network of a fixed list, in a few steps and without an allocation.
///
/// The networks are cut into ranges that do not overlap, each of which belongs to one network or to none, so that a
/// binary search finds the answer.
struct NetworkIndex: Sendable {
  /// The first address of each range, in ascending order; the first range begins at 0.
  private let starts: [UInt128]
  /// The place in the list of the network that owns the range; -1 for none.
  private let owners: [Int]

  /// Indexes networks of one family.
  init(_ networks: [IPNetwork]) {
    var starts: Set<UInt128> = [0]
    for network in networks {
      starts.insert(network.address.value)
      let (next, overflow) = network.lastAddress.value.addingReportingOverflow(1)
      if !overflow { starts.insert(next) }
    }
    self.starts = starts.sorted()
    owners = self.starts.map { start in
      let around = networks.indices.filter {
        networks[$0].address.value <= start && start <= networks[$0].lastAddress.value
      }
      return around.max { networks[$0].prefixLength < networks[$1].prefixLength } ?? -1
    }
  }

  /// The place in the list of the most specific network around an address of that family.
  func mostSpecific(around address: IPAddress) -> Int? {
    let value = address.value
    var low = 0
    var high = starts.count
    while high - low > 1 {
      let middle = (low + high) / 2
      if starts[middle] <= value { low = middle } else { high = middle }
    }
    let owner = owners[low]
    return owner < 0 ? nil : owner
  }
}
