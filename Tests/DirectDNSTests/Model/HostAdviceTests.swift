// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

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

  @Test(arguments: ["a b.example", "a..example", "", ":", "://", "a:b:c", "@", "x y:80", "%", "a%zz"])
  func `where no host can be made out none is suggested`(_ text: String) {
    let error = #expect(throws: DirectDNSError.self) { try HostName(text) }
    #expect(error?.message.contains("alone") == false && error?.message.contains("zone") == false)
  }
}
