// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct PublicSuffixTests {
  @Test(arguments: [
    ("www.example.com", "example.com"), ("a.b.example.co.uk", "example.co.uk"), ("example.com", "example.com"),
    ("www.ck", "www.ck"), ("a.b.kobe.jp", "a.b.kobe.jp"), ("x.city.kobe.jp", "city.kobe.jp"),
    ("me.github.io", "me.github.io"), ("www.xn--85x722f.xn--55qx5d.cn", "xn--85x722f.xn--55qx5d.cn"),
    ("host.internal", "host.internal"),
  ])
  func `the registrable domain is the public suffix and one label`(_ name: String, _ domain: String) {
    #expect(Sample.name(name).registrableDomain == Sample.name(domain))
    #expect(!PublicSuffix.contains(Sample.name(domain)))
  }

  @Test(arguments: ["com", "co.uk", "localhost", "intranet", "anything.ck", "github.io", "xn--55qx5d.cn"])
  func `a public suffix has no registrable domain`(_ name: String) {
    #expect(Sample.name(name).registrableDomain == nil)
    #expect(PublicSuffix.contains(Sample.name(name)))
  }
}
