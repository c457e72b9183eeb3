// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing

@testable import DirectDNS

struct ClientRequestTests {
  @Test(arguments: [
    "http://shop.test/", "https://user:word@shop.test:8443/a/b?c=d#e", "http://[2001:db8::1]:81/?#",
    "http://shop.test/#x",
  ])
  func `a request comes back from its parts`(_ text: String) throws {
    let url = try WebURL(text)
    let request = HTTPRequest(method: .put, url: url, headerFields: [.server: "x"])
    let parts = try ClientRequest(request)
    #expect(parts.method == .put && parts.url == url && parts.fields == [.server: "x"])
    #expect(parts.request == request)
  }

  @Test func `a request without a URL is refused`() {
    let request = HTTPRequest(method: .get, scheme: nil, authority: "shop.test", path: "/")
    #expect { _ = try ClientRequest(request) } throws: { ($0 as? DirectDNSError)?.code == .invalidURL }
  }

  @Test func `a redirect's request has the URL that it leads to`() throws {
    let url = try WebURL("http://shop.test/a")
    let response = HTTPResponse(status: .found, headerFields: [.location: "https://pay.test/b#c"])
    let redirect = try #require(
      try Redirect.next(after: response, to: HTTPRequest(method: .post, url: url), body: .none, hops: 0))
    let next = ClientRequest(redirect)
    #expect(next.method == .get && next.url.href == "https://pay.test/b#c")
  }
}

struct RequestTargetTests {
  private static func target(_ source: Resolution.Source, _ addresses: [String]) throws -> RequestTarget {
    let url = try WebURL("https://shop.test/")
    let target = RequestTarget(url, url.host, [:])
    target.addresses = addresses.map(Sample.address)
    target.resolution = Resolution(addresses: AddressList(target.addresses), source: source)
    return target
  }

  @Test(
    arguments: [
      (.provider("one"), ["127.0.0.1"], "one: answered 127.0.0.1;"), (.system, ["::1"], "system: answered ::1;"),
      (.store, ["127.0.0.1", "10.0.0.1"], "store: answered 127.0.0.1, 10.0.0.1;"),
      (
        .system, (1...5).map { "10.0.0.\($0)" }, "system: answered 10.0.0.1, 10.0.0.2, 10.0.0.3, 10.0.0.4, …;"
      ),
    ] as [(Resolution.Source, [String], String)])
  func `who gave forbidden addresses is named, and what to do if that is wrong`(
    _ source: Resolution.Source, _ addresses: [String], _ start: String
  ) throws {
    let target = try Self.target(source, addresses)
    let policy = AddressPolicy.publicOnly
    let error = try #require(
      #expect(throws: DirectDNSError.self) { try policy.allowed(target.addresses, for: target.host) })
    let named = target.namingSource(in: error, policy, asksProviders: true)
    #expect(named.code == error.code && named.message == error.message && named.attempts.count == 1)
    #expect(named.attempts.first?.description.hasPrefix(start) == true, "\(named)")
    #expect(named.description.hasSuffix("; if that is wrong, dnsctl compare shop.test shows who says what"))
    // dnsctl compare refuses a name of this network.
    let local = target.namingSource(in: error, policy, asksProviders: false)
    #expect(local.attempts.map(\.description) == [String(start.dropLast())])
  }

  @Test(
    arguments: [
      (.pin, "127.0.0.1", .addressForbidden), (.local, "127.0.0.1", .addressForbidden),
      (.system, "93.184.216.34", .addressForbidden), (.system, "127.0.0.1", .invalidRequest),
    ] as [(Resolution.Source, String, DirectDNSError.Code)])
  func `nobody is named whose answer it was not, or who is not to blame`(
    _ source: Resolution.Source, _ address: String, _ code: DirectDNSError.Code
  ) throws {
    let error = DirectDNSError(code, "No.")
    let target = try Self.target(source, [address])
    #expect(target.namingSource(in: error, .publicOnly, asksProviders: true).attempts.isEmpty)
  }
}
