// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct LocalReverseZonesTests {
  @Test(arguments: [
    ("10.1.2.3", true), ("172.15.0.1", false), ("172.16.0.1", true), ("172.31.0.1", true), ("172.32.0.1", false),
    ("192.168.0.1", true), ("192.167.0.1", false), ("127.0.0.1", true), ("169.254.169.254", true), ("8.8.8.8", false),
    ("1.0.0.10", false), ("fd00::1", true), ("fe80::1", true), ("febf::1", true), ("::1", true), ("::", true),
    ("::2", false), ("2001:db8::1", false), ("0.0.0.1", true), ("100.64.0.1", true), ("100.127.0.1", true),
    ("100.63.0.1", false),
    ("100.128.0.1", false), ("255.255.255.255", true), ("::ffff:10.0.0.1", true), ("::fffe:10.0.0.1", false),
  ])
  func `addresses of this network are its own in reverse too`(_ address: String, _ isLocal: Bool) throws {
    let name = try #require(DNSName(reverse: Sample.address(address)).hostName)
    #expect(LocalReverseZones.contain(name) == isLocal)
  }

  @Test(arguments: [
    ("10.in-addr.arpa", true), ("110.in-addr.arpa", false), ("in-addr.arpa", false), ("d.f.ip6.arpa", true),
  ])
  func `a zone is one of its names`(_ name: String, _ isLocal: Bool) {
    #expect(LocalReverseZones.contain(Sample.name(name)) == isLocal)
  }
}
