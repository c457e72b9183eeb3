// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct DNSServerTests {
  private func target(_ url: String, bootstrap: [String] = []) -> HTTPEndpoint? {
    var configuration = ProviderConfiguration(provider: JSONProvider(name: "one", url: Sample.url(url)))
    configuration.bootstrap = bootstrap.map { Sample.address($0) }
    return DNSServer(0, configuration).target
  }

  @Test func `a server with addresses is reached at them, in their order`() {
    let target = target("https://dns.example/", bootstrap: ["192.0.2.2", "192.0.2.1"])
    #expect(target?.addresses == [Sample.address("192.0.2.2"), Sample.address("192.0.2.1")])
  }

  @Test func `it takes as many names in one query as its format says, and one where that says nothing`() throws {
    let url = try WebURL("https://192.0.2.1/1234/resolve")
    let batching = ProviderConfiguration(provider: try EMASProvider(name: "emas", url: url))
    let single = ProviderConfiguration(provider: JSONProvider(name: "one", url: url))
    #expect(DNSServer(0, batching).batchLimit == 5 && DNSServer(0, single).batchLimit == nil)
  }

  @Test func `a literal address is where it is, and another name has to be looked up first`() {
    #expect(target("https://192.0.2.7/")?.addresses == [])
    #expect(target("https://dns.example/") == nil)
  }

  @Test(arguments: ["http://localhost:8053/", "http://dns.localhost/"])
  func `localhost is this machine, by IPv4 and then by IPv6`(_ url: String) {
    #expect(target(url)?.addresses == [Sample.address("127.0.0.1"), Sample.address("::1")])
  }
}
