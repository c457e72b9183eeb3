// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct SpecialPurposeNetworksTests {
  typealias Row = SpecialPurposeNetwork

  static let rows = SpecialPurposeNetworks.ipv4 + SpecialPurposeNetworks.ipv6

  /// The most specific row, found the slow way.
  private func naive(_ address: IPAddress) -> Row? {
    Self.rows.filter { $0.network.contains(address) }
      .max { $0.network.prefixLength < $1.network.prefixLength }
  }

  private func expectSame(_ address: IPAddress, _ location: SourceLocation = #_sourceLocation) {
    // ISATAP is known by its interface identifier, in any prefix, and has a test of its own.
    if address.family == .ipv6, address.low >> 32 & 0xFDFF_FFFF == 0x5EFE { return }
    let row = naive(address)
    let expected = row.flatMap { $0.verdict == .allowed ? nil : $0 }
    let found = SpecialPurposeNetworks.forbidding(address)
    #expect(found == expected, "\(address)", sourceLocation: location)
  }

  @Test(arguments: rows)
  func `each row's first and last address, and the neighbours outside, are judged by the table`(row: Row) {
    let first = row.network.address
    let last = row.network.lastAddress
    #expect(row.network.contains(first) && row.network.contains(last))
    for address in [first, last, first.advanced(by: 1), last.advanced(by: -1)] { expectSame(address) }
    for address in [first.advanced(by: -1), last.advanced(by: 1)] { expectSame(address) }
  }

  /// What the registries call globally reachable, and what is let in of it.
  private static let reachable = [
    "192.31.196.0/24", "192.52.193.0/24", "192.175.48.0/24", "2000::/3", "2001:3::/32", "2001:4:112::/48",
    "2620:4f:8000::/48",
  ]
  /// The same, but no place for requests.
  private static let reachableButForbidden = [
    "168.63.129.16/32", "192.0.0.9/32", "192.0.0.10/32", "2001:1::1/128", "2001:1::2/128", "2001:1::3/128",
    "2001:20::/28", "2001:30::/28",
  ]
  /// What stands in the two special-purpose registries as not globally reachable.
  private static let unreachable = [
    "0.0.0.0/8", "0.0.0.0/32", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
    "192.0.0.0/24", "192.0.0.0/29", "192.0.0.8/32", "192.0.0.170/32", "192.0.0.171/32", "192.0.2.0/24",
    "192.88.99.2/32", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
    "255.255.255.255/32",
    "::1/128", "::/128", "64:ff9b:1::/48", "100::/64", "100:0:0:1::/64", "2001::/23", "2001:2::/48", "2001:db8::/32",
    "3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10",
  ]

  @Test(arguments: rows)
  func `each row says what its registry says, and forbids unless that is reachable`(row: Row) {
    let network = row.network.description
    let isForbidden = Self.reachableButForbidden.contains(network)
    if Self.reachable.contains(network) || isForbidden {
      #expect(row.isGloballyReachable == true && row.verdict == (isForbidden ? .forbidden : .allowed))
    } else if network == "::ffff:0.0.0.0/96" {
      #expect(row.isGloballyReachable == false && row.verdict == .embedded)
    } else if network == "64:ff9b::/96" {
      #expect(row.isGloballyReachable == true && row.verdict == .embedded)
    } else {
      #expect(row.isGloballyReachable == (Self.unreachable.contains(network) ? false : nil))
      #expect(row.verdict == .forbidden)
    }
  }

  /// What they say nothing of, and what other registries have.
  private static let unsaid = [
    "192.88.99.0/24", "224.0.0.0/4", "2001::/32", "2001:10::/28", "2002::/16", "::/96", "::ffff:0:0:0/96", "::/8",
    "100::/8", "200::/7", "400::/6", "800::/5", "1000::/4", "4000::/3", "6000::/3", "8000::/3", "a000::/3", "c000::/3",
    "e000::/4", "f000::/5", "f800::/6", "fe00::/9", "fec0::/10", "ff00::/8",
  ]

  @Test func `no row of the registries is missing, none is of another length, and there are no others`() throws {
    let embedding = ["::ffff:0:0/96", "64:ff9b::/96"]
    let listed = try (Self.reachable + Self.reachableButForbidden + Self.unreachable + Self.unsaid + embedding)
      .map { try IPNetwork(parsing: $0) }
    #expect(Set(Self.rows.map(\.network)).symmetricDifference(listed) == [])
  }

  @Test func `any address is judged by the most specific row around it`() {
    var generator = SeededGenerator(seed: 7)
    for _ in 0..<Sanitizer.volume(of: 20_000) {
      expectSame(.ipv4(.random(in: 0...(.max), using: &generator)))
      expectSame(
        .ipv6(high: .random(in: 0...(.max), using: &generator), low: .random(in: 0...(.max), using: &generator)))
      // Where the rows are dense.
      expectSame(.ipv4(0xC000_0000 | .random(in: 0...0xFF, using: &generator)))
      expectSame(.ipv6(high: 0x2001 << 48 | .random(in: 0...0x40 << 32, using: &generator), low: 7))
      expectSame(
        .ipv6(high: .random(in: 0...0x64, using: &generator) << 48, low: .random(in: 0...(.max), using: &generator)))
    }
  }

  @Test func `no network stands in the table twice`() {
    #expect(Set(Self.rows.map(\.network)).count == Self.rows.count)
    #expect(SpecialPurposeNetworks.ipv4.allSatisfy { $0.network.address.family == .ipv4 })
    #expect(SpecialPurposeNetworks.ipv6.allSatisfy { $0.network.address.family == .ipv6 })
  }

  @Test func `a row is written as the registry writes it, without stray bits`() {
    for row in Self.rows { #expect(IPNetwork(row.network.description) == row.network) }
  }

  @Test func `the whole of IPv6 lies in the rows`() throws {
    let blocks = SpecialPurposeNetworks.ipv6.map(\.network)
      .sorted { ($0.address, $0.prefixLength) < ($1.address, $1.prefixLength) }
    var next: UInt128 = 0
    for block in blocks where block.lastAddress.value >= next {
      #expect(block.address.value <= next, "a gap before \(block)")
      next = block.lastAddress.value &+ 1
    }
    #expect(next == 0)
  }

  @Test func `IPv6 is allowed within 2000 to 3fff alone`() {
    var generator = SeededGenerator(seed: 3)
    for _ in 0..<2_000 {
      let high = UInt64.random(in: 0...(.max), using: &generator)
      if SpecialPurposeNetworks.forbidding(.ipv6(high: high, low: 1)) == nil { #expect(high >> 61 == 1) }
    }
  }

  @Test(arguments: [
    "1.0.0.0", "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
    "128.0.0.0", "168.63.129.15", "168.63.129.17", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0",
    "192.0.1.0", "192.31.196.1", "192.52.193.1", "192.88.98.255", "192.88.100.0", "192.167.255.255", "192.169.0.0",
    "192.175.48.1", "198.17.255.255", "198.20.0.0", "223.255.255.255", "2000::", "2001:200::", "2001:3::1",
    "2001:4:112::1", "2001:db7:ffff::", "2001:db9::", "2003::", "2606:4700:4700::1111", "2620:4f:8000::1",
    "3ffe::1", "3fff:1000::",
  ])
  func `public addresses are not forbidden`(_ text: String) {
    #expect(SpecialPurposeNetworks.forbidding(Sample.address(text)) == nil)
  }

  @Test(arguments: [
    ("0.0.0.0", "0.0.0.0/32", "\"This host on this network\""), ("0.1.2.3", "0.0.0.0/8", "\"This network\""),
    ("127.0.0.1", "127.0.0.0/8", "Loopback"), ("192.0.0.1", "192.0.0.0/29", "IPv4 Service Continuity Prefix"),
    ("192.0.0.9", "192.0.0.9/32", "Port Control Protocol Anycast"),
    ("192.0.0.192", "192.0.0.0/24", "IETF Protocol Assignments"),
    ("192.88.99.2", "192.88.99.2/32", "6a44-relay anycast address"),
    ("255.255.255.255", "255.255.255.255/32", "Limited Broadcast"), ("255.255.255.254", "240.0.0.0/4", "Reserved"),
    ("239.255.255.255", "224.0.0.0/4", "Multicast"), ("168.63.129.16", "168.63.129.16/32", "Azure platform services"),
    ("::", "::/128", "Unspecified Address"), ("::1", "::1/128", "Loopback Address"),
    ("::8.8.8.8", "::/96", "IPv4-Compatible (deprecated)"),
    ("::ffff:0:8.8.8.8", "::ffff:0:0:0/96", "IPv4-translated (SIIT)"),
    ("64:ff9b:1::8.8.8.8", "64:ff9b:1::/48", "IPv4-IPv6 Translat."), ("64:ff9c::1", "::/8", "Reserved by IETF"),
    ("2001::1", "2001::/32", "TEREDO"), ("2001:1::4", "2001::/23", "IETF Protocol Assignments"),
    ("2002:808:808::1", "2002::/16", "6to4"), ("5f01::1", "4000::/3", "Reserved by IETF"),
    ("fd00:ec2::254", "fc00::/7", "Unique-Local"), ("fe80::1", "fe80::/10", "Link-Local Unicast"),
    ("fec0::1", "fec0::/10", "Reserved by IETF (Site-Local)"), ("ff02::1", "ff00::/8", "Multicast"),
  ])
  func `the most specific row names the range`(_ text: String, _ network: String, _ name: String) throws {
    let row = try #require(SpecialPurposeNetworks.forbidding(Sample.address(text)))
    #expect(row.network.description == network)
    #expect(row.name == name)
  }

  @Test(arguments: ["2606:4700::5efe:808:808", "2606:4700::200:5efe:808:808", "2606:4700:1:2:0:5efe:0a00:1"])
  func `an ISATAP interface identifier is forbidden in any prefix`(_ text: String) throws {
    let row = try #require(SpecialPurposeNetworks.forbidding(Sample.address(text)))
    #expect(row.name == "ISATAP interface identifier")
    #expect(row.network.contains(Sample.address(text)))
    #expect(row.network.prefixLength == 96)
  }

  @Test(arguments: ["2606:4700::100:5efe:808:808", "2606:4700::5eff:808:808", "2606:4700::5efe"])
  func `one that only looks like it is not`(_ text: String) {
    #expect(SpecialPurposeNetworks.forbidding(Sample.address(text)) == nil)
  }
}

extension IPAddress {
  /// The address so many further on, round the end of the family's space.
  fileprivate func advanced(by steps: Int) -> IPAddress {
    let value = self.value &+ UInt128(truncatingIfNeeded: steps)
    return switch family {
    case .ipv4: .ipv4(UInt32(truncatingIfNeeded: value))
    case .ipv6: .ipv6(high: UInt64(truncatingIfNeeded: value >> 64), low: UInt64(truncatingIfNeeded: value))
    }
  }
}

struct NetworkIndexTests {
  @Test(arguments: [
    ("9.255.255.255", nil), ("10.0.0.0", 0), ("10.1.0.0", 1), ("10.1.2.2", 1), ("10.1.2.3", 2), ("10.1.2.4", 1),
    ("10.1.255.255", 1), ("10.2.0.0", 0), ("10.255.255.255", 0), ("11.0.0.0", nil), ("0.0.0.0", nil),
    ("239.255.255.255", nil), ("240.0.0.0", 3), ("255.255.255.255", 3),
  ])
  func `the most specific network around an address is found`(_ address: String, _ place: Int?) {
    let index = NetworkIndex(
      ["10.0.0.0/8", "10.1.0.0/16", "10.1.2.3/32", "240.0.0.0/4"].map(IPNetwork.init(constant:)))
    #expect(index.mostSpecific(around: Sample.address(address)) == place)
  }

  @Test func `the order of the list makes no difference`() {
    let index = NetworkIndex(["::1/128", "::/0", "::/96"].map(IPNetwork.init(constant:)))
    #expect(index.mostSpecific(around: Sample.address("::")) == 2)
    #expect(index.mostSpecific(around: Sample.address("::1")) == 0)
    #expect(index.mostSpecific(around: Sample.address("::2")) == 2)
    #expect(index.mostSpecific(around: Sample.address("0:0:0:0:0:1::")) == 1)
    #expect(index.mostSpecific(around: Sample.address("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")) == 1)
  }

  @Test func `what lies before the first network is in none`() {
    let index = NetworkIndex([IPNetwork(constant: "0.0.0.1/32")])
    #expect(index.mostSpecific(around: Sample.address("0.0.0.0")) == nil)
    #expect(index.mostSpecific(around: Sample.address("0.0.0.1")) == 0)
    #expect(index.mostSpecific(around: Sample.address("0.0.0.2")) == nil)
  }

  @Test func `an empty list finds nothing`() {
    #expect(NetworkIndex([]).mostSpecific(around: Sample.address("192.0.2.1")) == nil)
  }

  @Test func `it agrees with a search of the list, for any networks`() {
    var generator = SeededGenerator(seed: 11)
    for _ in 0..<200 {
      let networks = Set(
        (0..<Int.random(in: 0...20, using: &generator)).compactMap { _ in
          // Few bits apart, so that networks nest and touch.
          IPNetwork(
            address: .ipv6(high: 0, low: .random(in: 0..<512, using: &generator)),
            prefixLength: .random(in: 119...128, using: &generator))
        }
      ).sorted { $0.description < $1.description }
      let index = NetworkIndex(networks)
      for value in 0..<UInt64(520) {
        let address = IPAddress.ipv6(high: 0, low: value)
        let around = networks.indices.filter { networks[$0].contains(address) }
        let expected = around.max { networks[$0].prefixLength < networks[$1].prefixLength }
        #expect(index.mostSpecific(around: address) == expected)
      }
    }
  }
}
