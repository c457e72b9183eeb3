// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import DirectDNS
import DirectDNSConfiguration
import Testing

@testable import DirectDNSProxy
@testable import dnsctl_proxy

@Suite("What the options of dnsctl proxy do")
struct ProxyCommandOptionsTests {
  private func configuration(_ options: String, _ inherited: [Int32] = []) throws -> ProxyConfiguration {
    let words = options.split(separator: " ").map(String.init)
    let parsed = try ProxyCommand.parseAsRoot(words)
    return try #require(parsed as? ProxyCommand).configuration(
      DirectSettings(), ProxyEntry(), nil, users: nil, inherited)
  }

  @Test func `each one has its place in the configuration`() throws {
    let made = try configuration(
      """
      --listen 127.0.0.1:1 --listen unix:/run/s --peer-uid 7 --peer-uid 8 --ports 443 --loops 3 --max-clients 5 \
      --max-tunnels 4 --connect-timeout 1.5 --idle-timeout 60 --drain 2 --allow 10.0.0.0/8
      """, [3])
    #expect(made.listeners == [.tcp(.loopback(), port: 1), .unix(path: "/run/s")] && made.inherited == [3])
    #expect(made.peers == [7, 8] && made.ports == ProxyPorts([443...443]) && made.threads == 3)
    #expect(
      made.limits
        == ProxyLimits(
          clients: 5, tunnels: 4, connectTimeout: .milliseconds(1500), tunnelTimeout: .seconds(60),
          drainTimeout: .seconds(2)))
    #expect(made.policy.objection(to: try #require(IPAddress("10.0.0.1"))) == nil)
  }

  @Test func `the help of both commands says that the environment counts`() {
    for help in [ProxyCommand.configuration.discussion, ExecCommand.configuration.discussion] {
      #expect(help.contains("The environment counts as for dnsctl resolve; proxies of the environment do not."))
    }
  }

  @Test func `without options it is the library's`() throws {
    let (made, standard) = (try configuration(""), ProxyConfiguration())
    #expect(made.limits == standard.limits && made.listeners == standard.listeners && made.threads == standard.threads)
    #expect(made.peers == nil && made.ports == standard.ports && made.policy == standard.policy)
    #expect(try configuration("", [3]).listeners.isEmpty)
    #expect(made.limits.drainTimeout == .seconds(8), "within the 10 s of docker stop")
  }

  @Test(arguments: [("0", 0), ("0.0", 0), ("2.5", 2500)])
  func `what is under way may have no time at all at the end`(text: String, milliseconds: Int) throws {
    #expect(try configuration("--drain \(text)").limits.drainTimeout == .milliseconds(milliseconds))
  }

  @Test(arguments: ["--drain -1", "--drain x", "--drain 86401", "--idle-timeout 0", "--connect-timeout 0"])
  func `a time that is none is refused`(options: String) {
    #expect(throws: (any Error).self) { try configuration(options) }
  }
}
