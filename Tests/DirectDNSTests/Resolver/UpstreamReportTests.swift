import Testing

@testable import DirectDNS

struct UpstreamReportTests {
  @Test(arguments: [
    (Result<Answer, ProviderFailure>.success(Answer(.addresses([.ipv4(1)]), ttl: 60)), "1 address, TTL 60 s"),
    (.success(Answer(.addresses([.ipv4(1), .ipv4(2)]), ttl: 5)), "2 addresses, TTL 5 s"),
    (.success(Answer(.negative(.nameNotFound), ttl: 30)), "name not found, TTL 30 s"),
    (.success(Answer(.negative(.noAddress), ttl: nil)), "no address"),
    (.failure(ProviderFailure(.transport, "HTTP 500")), "HTTP 500"),
  ])
  func `what became of a query is told in words`(_ result: Result<Answer, ProviderFailure>, _ words: String) {
    #expect(UpstreamReport.text(result) == words)
  }
}
