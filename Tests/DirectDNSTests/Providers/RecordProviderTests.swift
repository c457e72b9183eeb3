// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

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
