// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct DNSNameAskingTests {
  @Test(arguments: [
    ("192.0.2.1", "1.2.0.192.in-addr.arpa."), ("0.0.0.0", "0.0.0.0.in-addr.arpa."),
    ("2001:db8::1", "1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa."),
  ])
  func `an address has a name in reverse`(_ address: String, _ name: String) throws {
    #expect(DNSName(reverse: try #require(IPAddress(address))).description == name)
    // It is what the same text would be read as.
    #expect(DNSName(reverse: try #require(IPAddress(address))) == DNSName(name))
  }

  @Test(arguments: [
    ("Example.COM", "example.com."), ("example.com.", "example.com."), ("bücher.example", "xn--bcher-kva.example."),
    (".", "."), ("*.example.com", "*.example.com."), (#"a\.b.example"#, #"a\.b.example."#), ("com", "com."),
    ("_sip._tcp.example.com", "_sip._tcp.example.com."), ("0/25.2.0.192.in-addr.arpa", "0/25.2.0.192.in-addr.arpa."),
  ])
  func `a name is asked for as people write it, be it no host's`(_ text: String, _ name: String) throws {
    #expect(try DNSName(asking: text).description == name)
  }

  @Test(arguments: [
    ("192.0.2.1", "1.2.0.192.in-addr.arpa"), ("https://example.com/", "give example.com alone"), ("", ""), ("a..b", ""),
    ("*..b", ""), ("a b", ""), ("*. b", ""),
  ])
  func `what is no name is refused with the reason`(_ text: String, _ advice: String) {
    let error = #expect(throws: DirectDNSError.self) { try DNSName(asking: text) }
    #expect(error?.code == .invalidName && error?.message.contains(advice) == true || advice.isEmpty)
  }
}
