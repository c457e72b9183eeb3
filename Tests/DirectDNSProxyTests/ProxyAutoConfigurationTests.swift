// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import Testing

@testable import DirectDNSProxy

@Suite("The file for browsers")
struct ProxyAutoConfigurationTests {
  private func text(_ direct: DirectSwitch = .on) -> String {
    ProxyAutoConfiguration(place: "127.0.0.1:3128", ProxyConfiguration(direct: direct)).text
  }

  @Test func `everything goes through the proxy, whether it is there or not`() {
    #expect(text() == "function FindProxyForURL(url, host) {\n  return \"PROXY 127.0.0.1:3128\";\n}\n")
  }

  @Test func `names that go the ordinary way are named`() throws {
    let text = text(.offUnder([try HostName("corp.example")]))
    #expect(
      text.contains("if (host === \"corp.example\" || dnsDomainIs(host, \".corp.example\")) return \"DIRECT\";"))
  }

  @Test func `rules stand in the order that they count in, and what nothing is sent to is no way round`() throws {
    var configuration = ProxyConfiguration(direct: .offUnder([try HostName("old.example")]))
    configuration.policy.deniedSuffixes = [try HostName("bad.corp.example")]
    for (pattern, route) in [("corp.example", ProxyRoute.system), ("=www.corp.example", .direct), ("*", .system)] {
      configuration.routes.set(route, for: try ProxyRoutes.Pattern(pattern))
    }
    let lines = ProxyAutoConfiguration(place: "p:1", configuration).text.split(separator: "\n").dropFirst().dropLast()
    #expect(
      Array(lines) == [
        "  if (host === \"bad.corp.example\" || dnsDomainIs(host, \".bad.corp.example\")) return \"PROXY p:1\";",
        "  if (host === \"www.corp.example\") return \"PROXY p:1\";",
        "  if (host === \"corp.example\" || dnsDomainIs(host, \".corp.example\")) return \"DIRECT\";",
        "  if (host === \"old.example\" || dnsDomainIs(host, \".old.example\")) return \"DIRECT\";",
        "  return \"PROXY p:1\";",
      ])
  }

  @Test func `no function that asks DNS stands in it`() throws {
    for word in ["isInNet", "dnsResolve", "isResolvable", "myIpAddress"] {
      #expect(!text(.offUnder([try HostName("corp.example")])).contains(word))
    }
  }
}
