// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import Testing

@testable import DirectDNSProxy

@Suite("Which route a name takes")
struct RouteFinderTests {
  private func configuration(
    _ rules: [(String, ProxyRoute)] = [], hasUpstream: Bool = false, _ direct: DirectSwitch = .on
  ) throws -> ProxyConfiguration {
    var configuration = ProxyConfiguration(direct: direct)
    if hasUpstream { configuration.upstream = try UpstreamProxy("http://proxy.test") }
    for (pattern, route) in rules { configuration.routes.set(route, for: try ProxyRoutes.Pattern(pattern)) }
    return configuration
  }

  @Test func `without rules all goes through the other proxy, or directly where there is none`() throws {
    let host = WebURL.Host.name("a.test")
    #expect(try configuration().route(for: host) == .direct)
    #expect(try configuration(hasUpstream: true).route(for: host) == .upstream)
    #expect(try configuration([("*", .direct)], hasUpstream: true).route(for: host) == .direct)
    #expect(try configuration([("*", .refuse)]).route(for: .address(.ipv4(1))) == .refuse)
  }

  @Test func `names for which direct connect is off go by the system's DNS, unless a rule has them`() throws {
    let off = DirectSwitch.offUnder([try HostName("corp.test")])
    let name = try HostName("a.corp.test")
    #expect(try configuration([], hasUpstream: true, off).route(for: .name("a.corp.test")) == .system)
    let ruled = try configuration([("a.corp.test", .direct)], off)
    #expect(ruled.route(for: .name("a.corp.test")) == .direct && ruled.isDirect(name, by: .direct))
    #expect(!ruled.isDirect(name, by: .upstream) && !ruled.isDirect(name, by: .system))
    #expect(!(try configuration([], .off).isDirect(name, by: .direct)))
  }

  @Test(
    arguments: [
      ([], nil, .direct), ([("corp.test", .system)], nil, .system), ([], "corp.test", .system), ([], "a.test", .direct),
      ([("*", .system)], nil, .system), ([("*", .direct)], nil, .direct), ([("*", .refuse)], nil, .direct),
      ([("*", .system), ("up.corp.test", .direct)], nil, .direct), ([("up.corp.test", .refuse)], "corp.test", .direct),
    ] as [([(String, ProxyRoute)], String?, ProxyRoute)])
  func `the other proxy's own name goes by the system's DNS where other names there do, and is never refused`(
    rules: [(String, ProxyRoute)], off: String?, route: ProxyRoute
  ) throws {
    let direct = try off.map { DirectSwitch.offUnder([try HostName($0)]) } ?? .on
    let found = try configuration(rules, hasUpstream: true, direct).routeToUpstream(.name("up.corp.test"))
    #expect(found == route)
  }

  @Test(arguments: [
    ("0.0.0.0", "192.168.1.5", true), ("0.0.0.0", "::ffff:192.168.1.5", true), ("::", "::ffff:192.168.1.5", true),
    ("192.168.1.5", "::ffff:192.168.1.5", true), ("::ffff:192.168.1.5", "192.168.1.5", true),
    ("::ffff:0.0.0.0", "192.168.1.5", true), ("192.168.1.5", "::ffff:0.0.0.0", false), ("192.168.1.5", "::", false),
    ("127.0.0.1", "127.0.0.1", true), ("127.0.0.1", "::ffff:127.0.0.1", true), ("127.0.0.1", "0.0.0.0", true),
    ("127.0.0.2", "0.0.0.0", false), ("127.0.0.1", "127.0.0.2", false), ("127.0.0.1", "::1", false),
    ("127.0.0.1", "::", false), ("::1", "::", true),
    ("::1", "127.0.0.1", false), ("0.0.0.0", "127.0.0.2", true), ("0.0.0.0", "::1", false), ("::", "127.0.0.1", true),
    ("::", "::1", true), ("::", "0.0.0.0", true), ("0.0.0.0", "::", false), ("192.168.1.5", "127.0.0.1", false),
    ("0.0.0.0", "::ffff:192.168.1.6", false), ("192.168.1.5", "::ffff:192.168.1.6", false),
  ])
  func `an address leads to the proxy itself in each of its spellings`(
    own: String, address: String, leads: Bool
  ) throws {
    let (own, address) = (try #require(IPAddress(own)), try #require(IPAddress(address)))
    let machine: Set<IPAddress> = [.ipv4(0xc0a8_0105)]
    #expect(ListenAddress.tcp(own, port: 3128).leads(from: address, port: 3128, machine: machine) == leads)
    #expect(!ListenAddress.tcp(own, port: 3128).leads(from: address, port: 80, machine: machine))
  }

  @Test(arguments: [
    ("127.0.0.2:1", "127.0.0.2:1"), ("0.0.0.0:1", "127.0.0.1:1"), ("[::]:1", "[::1]:1"), ("unix:/a", nil),
  ])
  func `a client of this machine is told an address that it can connect to`(listener: String, place: String?) throws {
    #expect(try ListenAddress(listener).place == place)
  }

  @Test(arguments: [
    ("0.0.0.0", "192.0.2.7", "192.0.2.7", true), ("::", "::ffff:192.0.2.7", "192.0.2.7", true),
    ("::", "2001:db8::7", "2001:db8::7", true), ("0.0.0.0", "2001:db8::7", "2001:db8::7", false),
    ("0.0.0.0", "192.0.2.7", "192.0.2.8", false), ("192.0.2.1", "192.0.2.7", "192.0.2.7", false),
  ])
  func `an address that the machine got later is known by the connection to it`(
    own: String, local: String, remote: String, isReached: Bool
  ) throws {
    let place = ListenAddress.tcp(try #require(IPAddress(own)), port: 3128)
    let (local, remote) = (try #require(IPAddress(local)), try #require(IPAddress(remote)))
    #expect(place.isReached(from: local, to: remote, port: 3128) == isReached)
    #expect(!place.isReached(from: local, to: remote, port: 80))
    #expect(!ListenAddress.unix(path: "/x").isReached(from: local, to: remote, port: 3128))
  }
}
