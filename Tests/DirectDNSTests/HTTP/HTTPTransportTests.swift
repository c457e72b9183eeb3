// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct HTTPTransportTests {
  @Test func `endpoints are told apart by URL and addresses`() throws {
    let url = try WebURL("https://a.test/")
    #expect(HTTPEndpoint(url: url) == HTTPEndpoint(url: url))
    #expect(HTTPEndpoint(url: url) != HTTPEndpoint(url: url, addresses: [.ipv4(1)]))
  }
}
