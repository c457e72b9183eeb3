// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct WebURLHostAndPortTests {
  @Test(
    arguments: [
      ("h.example:443", "h.example", 443), ("H.Example.:8080", "h.example.", 8080),
      ("[2001:DB8::2]:1", "[2001:db8::2]", 1), ("192.0.2.1:65535", "192.0.2.1", 65535),
      ("0xC0000201:80", "192.0.2.1", 80), ("☕.example:0080", "xn--53h.example", 80), ("h", "h", nil), ("h:", "h", nil),
      ("h:0", "h", 0), ("[::1]", "[::1]", nil),
    ] as [(String, String, UInt16?)])
  func `a host is a URL's, with a port or without`(_ text: String, _ host: String, _ port: UInt16?) throws {
    let both = try WebURL.HostAndPort(text.utf8.span)
    #expect(both.host.description == host && both.port == port)
  }

  @Test(arguments: [
    "", ":", ":443", "h:65536", "h:https", "h:+1", "h:443/", "h:443 ", " h:443", "u@h:443", "u:p@h:443",
    "http://h:443", "::1", "::1:443", "[::1]443", "[h]:443", "[::1%lo]:443", "a b:1", "1.2.3.256:1",
  ])
  func `what is neither of them is refused`(_ text: String) {
    let error = #expect(throws: DirectDNSError.self) { try WebURL.HostAndPort(text.utf8.span) }
    #expect(error?.code == .invalidURL)
  }
}
