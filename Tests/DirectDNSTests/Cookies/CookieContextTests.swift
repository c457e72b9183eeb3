// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

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
