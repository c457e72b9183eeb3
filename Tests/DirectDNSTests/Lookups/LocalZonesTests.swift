// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct LocalZonesTests {
  @Test(arguments: [
    ("localhost", NameRoute.loopback), ("a.localhost", .loopback), ("a.b.localhost", .loopback),
    ("localhost.localdomain", .loopback), ("ip6-localhost", .loopback), ("ip6-loopback", .loopback),
    ("invalid", .neverExists), ("a.invalid", .neverExists), ("onion", .refused), ("abc.onion", .refused),
    ("a.b.onion", .refused),
    ("printer", .system), ("printer.local", .system), ("a.printer.local", .system),
    ("host.internal", .system),
    ("metadata.google.internal", .system), ("nas.home.arpa", .system), ("home.arpa", .system),
    ("local", .system),
    ("www.example.net", .providers), ("notlocalhost.example", .providers), ("localhost.example", .providers),
    ("a.notinvalid", .providers), ("invalid.example", .providers), ("onion.example", .providers),
    ("a.thelocal", .providers), ("internal.example", .providers), ("arpa.example", .providers),
    ("xhome.arpa", .providers), ("8.8.8.8.in-addr.arpa", .providers), ("1.0.0.127.in-addr.arpa", .system),
    ("a.localhost.localdomain", .providers),
  ])
  func `a name's spelling decides who is asked`(_ text: String, _ route: NameRoute) {
    #expect(LocalZones().route(for: Sample.name(text)) == route)
  }

  @Test(arguments: [
    (".", NameRoute.providers), ("*.example.net", .providers), (#"a\.b.example.net"#, .providers), ("*.local", .system),
    (#"a\..internal"#, .system), (#"\.a.internal"#, .system), (#"\..internal"#, .system), (#"a\..onion"#, .refused),
    (#"\195\188.xn--a.internal"#, .system), (#"\195\188.\215\144.internal"#, .system), ("1.*.internal", .system),
    ("*.1", .providers), (#"a\.b"#, .system), (#"\049"#, .system),
    (#"a\.b.internal"#, .system), ("nas", .system), ("*.invalid", .neverExists), ("*.onion", .refused),
    ("localhost", .loopback),
  ])
  func `a name of records goes where the host name goes that stands for it`(_ text: String, _ route: NameRoute) throws {
    #expect(LocalZones().route(for: try DNSName(asking: text)) == route)
  }

  @Test func `every suffix under localZones belongs to the system, itself and all below it`() {
    let zones = LocalZones(suffixes: [Sample.name("corp.example"), Sample.name("lan")])
    for text in ["corp.example", "a.corp.example", "a.b.corp.example", "host.lan", "lan"] {
      #expect(zones.route(for: Sample.name(text)) == .system)
    }
    for text in ["xcorp.example", "orp.example", "corp.example.net", "xlan.example", "a.lan.example"] {
      #expect(zones.route(for: Sample.name(text)) == .providers, "\(text)")
    }
  }

  @Test(arguments: [
    "www.example.net", "localhost", "a.localhost", "a.invalid", "abc.onion", "printer", "printer.local",
    "host.corp.example",
  ])
  func `pins win over everything`(_ text: String) {
    let addresses = Sample.addresses("192.0.2.7")
    let zones = LocalZones(pins: [Sample.name(text): addresses], suffixes: [Sample.name("corp.example")])
    #expect(zones.route(for: Sample.name(text)) == .pinned(addresses))
    #expect(zones.route(for: Sample.name("x." + text)) != .pinned(addresses))
  }

  @Test func `a suffix of one's own does not make reserved names public or private`() {
    let zones = LocalZones(suffixes: [Sample.name("onion"), Sample.name("invalid"), Sample.name("localhost")])
    #expect(zones.route(for: Sample.name("a.onion")) == .refused)
    #expect(zones.route(for: Sample.name("a.invalid")) == .neverExists)
    #expect(zones.route(for: Sample.name("a.localhost")) == .loopback)
  }
}

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
