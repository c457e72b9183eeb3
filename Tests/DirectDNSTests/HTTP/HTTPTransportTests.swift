// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct HTTPTransportTests {
  @Test func `endpoints are told apart by origin and addresses`() {
    let endpoint = HTTPEndpoint(url: Sample.url("https://a.test/"))
    #expect(endpoint == HTTPEndpoint(url: Sample.url("https://a.test/dns-query")))
    #expect(endpoint != HTTPEndpoint(url: Sample.url("https://a.test:8443/")))
    #expect(endpoint != HTTPEndpoint(url: Sample.url("https://a.test/"), addresses: [.ipv4(1)]))
  }

  @Test func `an endpoint shows nothing of a key in its URL`() {
    let shown = "\(HTTPEndpoint(url: Sample.url("https://user:word@a.test/s3cret?key=s3cret")))"
    #expect(shown.contains("a.test") && !shown.contains("s3cret") && !shown.contains("word"))
  }
}
