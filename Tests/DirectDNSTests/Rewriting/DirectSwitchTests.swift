// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing

@testable import DirectDNS

struct DirectSwitchTests {
  private static let banks = DirectSwitch.offUnder([Sample.name("bank.example"), Sample.name("bücher.example")])

  @Test(arguments: [
    (DirectSwitch.on, "www.shop.example", true), (.off, "www.shop.example", false), (.off, "localhost", false),
    (banks, "bank.example", false), (banks, "www.bank.example", false), (banks, "a.b.bank.example", false),
    (banks, "BANK.example", false), (banks, "bank.example.", false), (banks, "www.bank.example.", false),
    (banks, "mybank.example", true), (banks, "bank.example.org", true), (banks, "example", true),
    (banks, "bücher.example", false), (banks, "www.xn--bcher-kva.example", false), (banks, "bucher.example", true),
    (.offUnder([]), "bank.example", true),
    // An address is gone to directly anyway.
    (.off, "192.0.2.1", true), (.off, "[2001:db8::1]", true), (.offUnder([Sample.name("a")]), "0x7f.1", true),
  ])
  func `is on or off for a name and all below it, at the borders of labels`(
    direct: DirectSwitch, host: String, isOn: Bool
  ) throws {
    let host = try WebURL.Host(host)
    #expect(direct.isOn(for: host) == isOn)
    guard case .name = host else { return }
    #expect(direct.isOn(for: try HostName(host)) == isOn)
  }

  @Test(arguments: [
    (DirectSwitch.on, "on"), (.off, "off"), (.offUnder([]), "on"),
    (banks, "off for bank.example, xn--bcher-kva.example"),
  ])
  func `says what it is`(direct: DirectSwitch, text: String) {
    #expect(direct.description == text)
  }

  @Test func `where it is off a request is handed back as it came`() throws {
    let rewriter = RequestRewriter(direct: Self.banks)
    let url = try WebURL("https://www.bank.example/a?b")
    var request = HTTPRequest(method: .get, url: url)
    request.headerFields[.accept] = "text/plain"
    guard case .bypassed(let back, .directOff) = rewriter.rewrite(request, using: [Sample.address("203.0.113.1")])
    else {
      Issue.record("it was rewritten")
      return
    }
    #expect(back == request)
    let other = HTTPRequest(method: .get, url: try WebURL("https://www.shop.example/"))
    #expect(rewriter.rewrite(other, using: [Sample.address("8.8.8.8")]).direct != nil)
  }

  @Test func `where it is off a name that nothing is sent to stays refused`() throws {
    let evil = Sample.name("evil.example")
    let rewriter = RequestRewriter(policy: AddressPolicy(deniedSuffixes: [evil]), direct: .off)
    let request = HTTPRequest(method: .get, url: try WebURL("http://www.evil.example/"))
    guard case .refused(let error) = rewriter.rewrite(request, using: []) else {
      Issue.record("it was let through")
      return
    }
    #expect(error.code == .addressForbidden)
  }
}
