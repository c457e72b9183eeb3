import Testing

@testable import DirectDNS

struct WebURLAuthorityTests {
  @Test(arguments: [
    ("h.example:443", "h.example:443"), ("H.Example.:8080", "h.example.:8080"),
    ("[2001:DB8::2]:1", "[2001:db8::2]:1"),
    ("192.0.2.1:65535", "192.0.2.1:65535"), ("0xC0000201:80", "192.0.2.1:80"),
    ("☕.example:0080", "xn--53h.example:80"),
  ])
  func `the target of CONNECT is a URL's host and a port`(_ text: String, _ canonical: String) throws {
    #expect(try WebURL.Authority(text).description == canonical)
  }

  @Test(arguments: [
    "", ":", "h", "h:", ":443", "h:0", "h:65536", "h:https", "h:+1", "h:443/", "h:443 ", " h:443", "u@h:443",
    "u:p@h:443",
    "http://h:443", "::1", "::1:443", "[::1]", "[::1]443", "[h]:443", "[::1%lo]:443", "a b:1", "1.2.3.256:1",
  ])
  func `the target of CONNECT has a host and a port from 1 to 65535, and no more`(_ text: String) {
    let error = #expect(throws: DirectDNSError.self) { try WebURL.Authority(text) }
    #expect(error?.code == .invalidURL)
  }
}
