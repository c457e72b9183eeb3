// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import Testing

@testable import DirectDNSProxy

@Suite("Which way a name goes")
struct RouteTests {
  private func configuration(
    _ rules: [(String, ProxyRoute)] = [], hasUpstream: Bool = false, _ direct: DirectSwitch = .on
  ) throws -> ProxyConfiguration {
    var configuration = ProxyConfiguration(direct: direct)
    if hasUpstream { configuration.upstream = try UpstreamProxy("http://proxy.test") }
    for (pattern, route) in rules { configuration.routes.set(try ProxyRoutes.Pattern(pattern), route) }
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
}
