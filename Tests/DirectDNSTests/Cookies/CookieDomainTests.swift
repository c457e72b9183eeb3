// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct CookieDomainTests {
  @Test(arguments: [
    ("a.example", "a.example", true), ("www.a.example", "a.example", true), ("a.example", "www.a.example", false),
    ("ba.example", "a.example", false), ("192.0.2.1", "192.0.2.1", true), ("192.0.2.1", "192.0.2.2", false),
    ("2001:db8::1", "2001:db8:0::1", true), ("a.example", "192.0.2.1", false), ("192.0.2.1", "a.example", false),
    ("::ffff:192.0.2.1", "192.0.2.1", false),
  ])
  func `a host matches its own domain and those above it; an address only itself`(
    _ host: String, _ domain: String, _ matches: Bool
  ) {
    #expect(Sample.domain(host).matches(Sample.domain(domain)) == matches)
  }

  @Test(arguments: [
    ("a.example", "a.example"), ("example", "example"), ("www.a.example", "www.a.example"), ("w.a.example", nil),
    ("x.www.a.example", nil), ("ww.a.example", nil), ("a.example.", nil), (".a.example", nil), ("", nil),
    ("\"a.example\"", nil), ("a.example:80", nil), ("%61.example", nil), ("a．example", nil),
  ])
  func `an attribute names the host itself or a domain above it`(_ attribute: String, _ domain: String?) {
    #expect(Sample.domain("www.a.example").covering(attribute) == domain.map(Sample.domain))
  }

  @Test func `an attribute may name an address only as it is`() {
    #expect(Sample.domain("192.0.2.1").covering("192.0.2.1") == Sample.domain("192.0.2.1"))
    #expect(Sample.domain("192.0.2.1").covering("2.1") == nil)
    #expect(Sample.domain("192.0.2.1").covering("0.2.1") == nil)
  }

  @Test(arguments: [
    ("2001:db8::1", true), ("[2001:db8::1]", true), ("[2001:DB8:0::1]", true), ("[2001:db8::2]", false),
    ("[2001:db8::1", false), ("[2001:db8::1]:80", false), ("[2001:db8::1%25eth0]", false), ("[::1]", false),
    ("[192.0.2.1]", false), ("[", false),
  ])
  func `an attribute may name an IPv6 address in brackets, as a URL does`(_ attribute: String, _ covers: Bool) {
    #expect((Sample.domain("2001:db8::1").covering(attribute) != nil) == covers)
  }

  @Test func `brackets make no other host of an IPv4 address`() {
    #expect(Sample.domain("192.0.2.1").covering("[192.0.2.1]") == nil)
    #expect(Sample.domain("192.0.2.1").covering("[::ffff:192.0.2.1]") == nil)
  }

  @Test func `a public suffix is a name, and no address is one`() {
    #expect(Sample.domain("com").isPublicSuffix)
    #expect(!Sample.domain("a.example.com").isPublicSuffix)
    #expect(!Sample.domain("192.0.2.1").isPublicSuffix)
  }

  @Test func `the domains above end before the last label`() {
    #expect(Array(Sample.domain("a.b.c.example").parents) == ["b.c.example", "c.example"].map(Sample.domain))
    #expect(Array(Sample.domain("localhost").parents) == [])
    #expect(Array(Sample.domain("192.0.2.1").parents) == [])
  }

  @Test(arguments: [
    ("www.example.co.uk", "example.co.uk"), ("co.uk", "co.uk"), ("localhost", "localhost"),
    ("192.168.0.1", "192.168.0.1"),
  ])
  func `cookies count for the registrable domain, else for the host`(_ host: String, _ owner: String) {
    #expect(Sample.domain(host).owner == Sample.domain(owner))
  }

  @Test func `a URL's final dot is dropped, and a host that cannot be looked up has no cookies`() throws {
    #expect(try Cookie.Domain(WebURL.Host("a.example.")) == Sample.domain("a.example"))
    let error = #expect(throws: CookieRejection.self) { try Cookie.Domain(WebURL.Host("a..example")) }
    #expect(error?.description.contains("empty label") == true)
  }

  @Test(arguments: [
    ("localhost", true), ("x.localhost", true), ("127.8.9.1", true), ("::1", true), ("alocalhost", false),
    ("localhost.example", false), ("192.0.2.1", false),
  ])
  func `what stays on this machine is known by name and address`(_ host: String, _ isLoopback: Bool) {
    #expect(Sample.domain(host).isLoopback == isLoopback)
  }

  @Test func `a domain is written as it is read, an IPv6 address without brackets`() {
    for text in ["a.example", "192.0.2.1", "2001:db8::1"] { #expect(Sample.domain(text).description == text) }
  }
}

struct CookieContextTests {
  @Test(arguments: [
    ("https://a.example/", true), ("wss://a.example/", true), ("http://a.example/", false), ("ws://a.example/", false),
    ("http://localhost/", true), ("http://x.localhost:8080/", true), ("http://127.0.0.1/", true),
    ("http://[::1]/", true),
    ("http://192.168.0.1/", false),
  ])
  func `TLS and this machine are secure`(_ url: String, _ isSecure: Bool) {
    #expect(Sample.request(url).isSecure == isSecure)
  }

  @Test(arguments: [
    ("http://localhost/", true, true), ("http://localhost/", false, false), ("http://127.0.0.1/", false, false),
    ("http://a.example/", true, false), ("https://localhost/", false, true),
  ])
  func `where a connection goes counts, not what the name says`(
    _ url: String, _ staysOnMachine: Bool, _ isSecure: Bool
  ) throws {
    let request = try CookieContext(Sample.url(url), hostField: nil, staysOnMachine: staysOnMachine)
    #expect(request.isSecure == isSecure)
  }

  @Test(arguments: ["a.example", "A.Example:8443", "a.example.", "a.example:"])
  func `the Host field names the host of a URL with an address`(_ field: String) {
    let request = Sample.request("http://192.0.2.1/x", hostField: field)
    #expect(request.host == Sample.domain("a.example"))
    #expect(request.literal == Sample.address("192.0.2.1"))
    #expect(request.path == "/x")
  }

  @Test func `the Host field means nothing beside a name`() {
    let request = Sample.request("http://a.example/", hostField: "bank.example")
    #expect(request.host == Sample.domain("a.example"))
    #expect(request.literal == nil)
  }

  @Test func `a Host field does not make a far address part of this machine`() {
    #expect(!Sample.request("http://192.0.2.1/", hostField: "localhost").isSecure)
    #expect(!Sample.request("http://127.0.0.1/", hostField: "a.example").isSecure)
    #expect(Sample.request("https://192.0.2.1/", hostField: "a.example").isSecure)
  }

  @Test(arguments: ["", "a b", "a.example:x", "a..example", "u@a.example"])
  func `a Host field that names no host is refused`(_ field: String) {
    #expect(throws: CookieRejection.self) { try CookieContext(Sample.url("http://192.0.2.1/"), hostField: field) }
  }
}
