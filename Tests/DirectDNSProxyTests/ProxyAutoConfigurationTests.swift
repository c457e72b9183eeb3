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

  @Test func `no function that asks DNS stands in it`() throws {
    for word in ["isInNet", "dnsResolve", "isResolvable", "myIpAddress"] {
      #expect(!text(.offUnder([try HostName("corp.example")])).contains(word))
    }
  }
}
