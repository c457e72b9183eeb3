// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct ProviderTests {
  @Test func `a question is written as its name and type`() {
    #expect(AddressQuestion("www.shop.test").description == "www.shop.test A")
    #expect(AddressQuestion("www.shop.test", .ipv6).description == "www.shop.test AAAA")
    #expect(AddressQuestion("www.shop.test", .ipv6).message.description == "www.shop.test. AAAA")
    #expect(AddressQuestion("a.test").type == .a)
  }

  @Test(arguments: [
    (HTTPTransportError.connect("x"), ProviderFailure.Kind.transport), (.tls("x"), .transport),
    (.tlsSetup("x"), .local), (.noSocket("x"), .local),
    (.timedOut, .transport),
    (.fieldsTooLarge, .transport), (.bodyTooLarge, .response), (.connectionLost("x"), .transport),
    (.malformedResponse("x"), .transport),
    (.invalidRequest("x"), .transport),
    (.cancelled, .cancelled), (.shutDown, .cancelled),
  ])
  func `a transport's error counts against the endpoint, unless the caller left or it was too much to read`(
    _ error: HTTPTransportError, _ kind: ProviderFailure.Kind
  ) {
    #expect(ProviderFailure(error).kind == kind)
    #expect(ProviderFailure(error).reason == error.description)
    #expect("\(ProviderFailure(error))" == error.description)
  }

  @Test func `what is no DNS reply counts against the endpoint`() {
    #expect(ProviderFailure.malformed("x") == ProviderFailure(.transport, "x"))
  }
}

struct RecordProviderTests {
  @Test(arguments: [
    ("google", true), ("alidns", true), ("cloudflare", true), ("quad9", true), ("dnspod", true),
    ("doh+https://dns.example/dns-query", true), ("doh-post+https://dns.example/dns-query", true),
    ("json+https://dns.example/resolve", true), ("dnspod+https://dns.example/d", false),
    ("emas+https://192.0.2.1/100000/d", false), ("emas+https://192.0.2.1/v2/d?id=1", false),
  ])
  func `DNS messages and JSON carry records of any type; DNSPod's and EMAS's formats carry addresses`(
    _ text: String, _ carries: Bool
  ) throws {
    #expect((try ProviderConfiguration(text).provider is any RecordProvider) == carries)
  }
}
