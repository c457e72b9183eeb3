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
    (.timedOut, .transport),
    (.fieldsTooLarge, .transport), (.bodyTooLarge, .transport), (.connectionLost("x"), .transport),
    (.invalidRequest("x"), .transport),
    (.cancelled, .cancelled), (.shutDown, .cancelled),
  ])
  func `a transport's error counts against the endpoint, unless the caller left`(
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
