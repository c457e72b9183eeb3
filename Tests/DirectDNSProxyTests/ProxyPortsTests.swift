// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import Testing

@testable import DirectDNSProxy

@Suite("Ports that may be connected to")
struct ProxyPortsTests {
  @Test func `the web's are allowed, a mail server's is not`() {
    for port in [80, 443, 1024, 8080, 65535] as [UInt16] { #expect(ProxyPorts.web.contains(port)) }
    for port in [1, 22, 25, 81, 1023] as [UInt16] { #expect(!ProxyPorts.web.contains(port)) }
  }

  @Test func `a list is written as it is read`() throws {
    #expect("\(try ProxyPorts("80,8000-8999"))" == "80,8000-8999")
    #expect(try ProxyPorts("80").contains(80))
    #expect(try !ProxyPorts("80").contains(81))
  }

  @Test(arguments: ["", "x", "80,", "+80", "80-+90", "0", "9-8", "1-", "-1", "65536", "80;443", "1-2-3"])
  func `what is none is refused`(text: String) { #expect(throws: DirectDNSError.self) { try ProxyPorts(text) } }
}
