// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct WebURLHostTests {
  @Test(arguments: [
    "203.0.113.5", "203.0.113.5.", "203.0.28933", "203.28933", "3405803781", "0313.0.0161.05",
    "0xCB.0.0x71.5",
    "0Xcb007105", "031300070405", "203.0.0x7105", "%32%303.0.113.5", "２０３.0.113.5", "203。0。113。5",
    "203.0.113.%35%2E",
    "203.00000.113.5", "0xcb.0x.113.5",
  ])
  func `a host whose last label is a number is an address in every legacy spelling`(_ text: String) throws {
    #expect(try WebURL.Host(text) == .address(.ipv4(0xCB00_7105)))
  }

  @Test(arguments: ["xn--0.test", "xn--", "XN--Pokxncvks.test", "r3---sn-x.test", "a-.-b", "xn--a.xn--mller-kva"])
  func `a host in ASCII stays as it is written, whatever its labels would decode to`(_ text: String) throws {
    #expect(try WebURL.Host(text) == .name(text.lowercased()))
  }

  @Test(arguments: ["xn--0.bücher.test", "bücher.xn--a"])
  func `beside international labels, those that decode to nothing valid are refused`(_ text: String) {
    #expect(throws: DirectDNSError.self) { try WebURL.Host(text) }
  }

  @Test(arguments: [
    "203.0.113.256", "203.0.113.5.6", "203.0.113.5.0", "256.1", "1.256.1", "1.2.65536", "4294967296",
    "0x100000000",
    "040000000000", "09",
    "1.09", "example.1", "example.0x1f", "a.b.c.0x", "1..2", ".5", "99999999999999999999999999", "1.2.3.08",
    "a.12.",
    "0xffffffffffffffffffffff",
  ])
  func `a host whose last label is a number and is no address is an error`(_ text: String) {
    let error = #expect(throws: DirectDNSError.self) { try WebURL.Host(text) }
    #expect(error?.code == .invalidName)
  }

  @Test(arguments: [
    "example.1x", "1.2.3.4a", "0xg", "1.2.3.4..", "1.example.", "5.-", "1_2", "0x1.example", "1.e",
  ])
  func `a host whose last label is no number is a name`(_ text: String) throws {
    #expect(try WebURL.Host(text) == .name(text))
  }

  @Test(arguments: [
    ("A.Example", "a.example"), ("a.example.", "a.example."), ("a..b", "a..b"),
    ("a.example..", "a.example.."), (".", "."),
    ("a!$&'()*+,;=~\"`{}b", "a!$&'()*+,;=~\"`{}b"), ("%41%2e%62", "a.b"),
    ("%C3%BC.example", "xn--tda.example"),
  ])
  func `what a URL's host permits is kept`(_ text: String, _ name: String) throws {
    #expect(try WebURL.Host(text) == .name(name))
  }

  @Test(arguments: [
    "evil.test", "evil.test.", "evil.test..", "www.evil.test...", "EVIL.TEST..", "evil.test%2e%2e", "a..evil.test..",
  ])
  func `no number of final dots hides what a name lies below`(_ text: String) throws {
    #expect(try WebURL.Host(text).hasSuffix(HostName("evil.test")))
    #expect(try !WebURL.Host(text).hasSuffix(HostName("other.test")))
  }

  @Test(arguments: ["notevil.test..", "..", ".", "test..", "evil.test.x"])
  func `final dots make a name lie below nothing else`(_ text: String) throws {
    #expect(try !WebURL.Host(text).hasSuffix(HostName("evil.test")))
  }

  @Test func `a label of any length is kept, for only a lookup has limits`() throws {
    let label = String(repeating: "a", count: 300)
    #expect(try WebURL.Host(label) == .name(label))
  }

  @Test(arguments: [
    "", " ", "a b", "a\tb", "a\u{0}b", "a#b", "a%b", "a/b", "a:b", "a<b", "a>b", "a?b", "a@b", "a[b", "a\\b",
    "a]b", "a^b",
    "a|b", "a\u{7F}b", "%00", "%20", "%2F", "%25", "a%3Ab", "%ff", "%C3", "％41", "\u{AD}", "a\u{FFFD}",
  ])
  func `a forbidden character is refused, however it is written`(_ text: String) {
    let error = #expect(throws: DirectDNSError.self) { try WebURL.Host(text) }
    #expect(error?.code == .invalidName)
  }

  @Test(arguments: [
    ("[2001:DB8::1]", "[2001:db8::1]"), ("[::ffff:192.0.2.1]", "[::ffff:c000:201]"),
    ("[0:0:0:0:0:0:0:0]", "[::]"),
    ("[1:0:0:2::]", "[1:0:0:2::]"),
  ])
  func `an IPv6 address stands in brackets and is written as WHATWG does`(_ text: String, _ written: String)
    throws
  {
    let host = try WebURL.Host(text)
    #expect(host.description == written)
    guard case .address(let address) = host else { throw DirectDNSError(.invalidName, "not an address") }
    #expect(address.family == .ipv6)
  }

  @Test(arguments: [
    "[", "]", "[]", "[::1", "::1]", "::1", "[::1]a", "[127.0.0.1]", "[fe80::1%eth0]", "[fe80::1%25eth0]",
    "[::1%]",
    "[[::1]]", "[ ::1]", "[example]", "%5B::1%5D", "[::1].",
  ])
  func `brackets hold an IPv6 address without a zone and nothing else`(_ text: String) {
    let error = #expect(throws: DirectDNSError.self) { try WebURL.Host(text) }
    #expect(error?.code == .invalidName)
  }

  @Test func `a message shows no raw control character of the host`() {
    let error = #expect(throws: DirectDNSError.self) {
      try WebURL.Host("evil\n2026-01-01 all is well\u{9B}2J")
    }
    #expect(error?.message.unicodeScalars.contains { $0.properties.generalCategory == .control } == false)
  }
}

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

struct HostAdviceTests {
  @Test(arguments: [
    ("https://www.example.com/a?b#c", "give www.example.com alone"),
    ("http://user:word@a.example:80/", "give a.example alone"),
    ("ftp://a.example/x", "give a.example alone"), ("www.example.com:443", "give www.example.com alone"),
    ("www.example.com/path", "give www.example.com alone"), ("ada@a.example", "give a.example alone"),
    ("https://192.0.2.1/", "give 192.0.2.1 alone"), ("https://[2001:db8::1]:443/", "give [2001:db8::1] alone"),
    ("[2001:db8::1]:443", "give [2001:db8::1] alone"),
    ("https://bücher.example/", "give bücher.example (xn--bcher-kva.example) alone"),
    ("fe80::1%eth0", "an IPv6 zone is refused everywhere, give fe80::1 without it"),
    ("[fe80::1%25eth0]", "an IPv6 zone is refused everywhere, give fe80::1 without it"),
    (".", "the root of DNS"),
  ])
  func `a text that is more than a host is answered with the host in it`(_ text: String, _ advice: String) {
    let error = #expect(throws: DirectDNSError.self) { try HostName(text) }
    #expect(error?.code == .invalidName && error?.message.contains(advice) == true, "\(error?.message ?? "")")
  }

  @Test(arguments: [("[x][", ":1", 30_000), ("x]", ":1", 500), ("a", "\u{301}\u{323}", 15_000)])
  func `what a stranger made of colons and marks is refused, and not taken apart over and over`(
    start: String, part: String, count: Int
  ) {
    let text = start + String(repeating: part, count: count)
    let error = #expect(throws: DirectDNSError.self) { try WebURL.Host(text) }
    #expect(error?.code == .invalidName && error?.message.hasSuffix("alone.") == false)
    #expect(throws: DirectDNSError.self) { try WebURL("http://\(text)/") }
  }

  @Test(arguments: [
    "a b.example", "a..example", "", ":", "://", "a:b:c", "@", "x y:80", "%", "a%zz", "./hosts.txt", "../a",
  ])
  func `where no host can be made out none is suggested`(_ text: String) {
    let error = #expect(throws: DirectDNSError.self) { try HostName(text) }
    #expect(error?.message.contains("alone") == false && error?.message.contains("zone") == false)
  }
}
