// SPDX-License-Identifier: Apache-2.0
/// The names, in reverse, of addresses that mean something on this network only (RFC 6303 §4, RFC 7793): what they stand
/// for is no public server's to know.
///
/// The addresses for documentation are not among them: there is nothing to know about them.
enum LocalReverseZones {
  private static let zones: [HostName] =
    (["0", "10", "127", "254.169", "168.192", "255.255.255.255"] + (16...31).map { "\($0).172" }
    + (64...127).map { "\($0).100" }).map {
      HostName(canonical: $0 + ".in-addr.arpa")
    }
    + (["d.f", "8.e.f", "9.e.f", "a.e.f", "b.e.f"].map { HostName(canonical: $0 + ".ip6.arpa") })
    // IPv4 addresses in IPv6's form (::ffff:0:0/96): nobody serves their names.
    + [HostName(canonical: "f.f.f.f." + String(repeating: "0.", count: 20) + "ip6.arpa")]
    + [IPAddress.ipv6(high: 0, low: 1), .ipv6(high: 0, low: 0)].compactMap { DNSName(reverse: $0).hostName }

  static func contain(_ name: HostName) -> Bool { zones.contains(where: name.hasSuffix) }
}
