// SPDX-License-Identifier: Apache-2.0
/// The names, in reverse, of addresses that mean something on this network only (RFC 6303 §4): what they stand for is no
/// public server's to know.
enum LocalReverseZones {
  private static let zones: [HostName] =
    (["10", "127", "254.169", "168.192"] + (16...31).map { "\($0).172" }).map {
      HostName(canonical: $0 + ".in-addr.arpa")
    }
    + (["d.f", "8.e.f", "9.e.f", "a.e.f", "b.e.f"].map { HostName(canonical: $0 + ".ip6.arpa") })
    + [IPAddress.ipv6(high: 0, low: 1), .ipv6(high: 0, low: 0)].compactMap { DNSName(reverse: $0).hostName }

  static func contain(_ name: HostName) -> Bool { zones.contains(where: name.hasSuffix) }
}
