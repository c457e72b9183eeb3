// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

struct QueryTelemetryTests {
  private let events = Locked<[ResolverEvent]>([])

  @Test(arguments: [
    (Answer.addresses("192.0.2.1", ttl: 60), "1 address, TTL 60 s"),
    (.addresses("192.0.2.1", "192.0.2.2", ttl: 0), "2 addresses, TTL 0 s"),
    (.negative(.nameNotFound, ttl: 30), "name not found, TTL 30 s"),
    (.negative(.noAddress, ttl: nil), "no address"),
  ])
  func `an answer is told in words`(_ answer: Answer, _ text: String) {
    #expect(QueryTelemetry.text(.success(answer)) == text)
  }

  @Test func `a failure is told by its reason`() {
    #expect(QueryTelemetry.text(.failure(ProviderFailure(.transport, "HTTP 500"))) == "HTTP 500")
  }

  private func report(_ result: Result<Answer, ProviderFailure>, reply: HTTPReply?) throws
    -> ResolverEvent.Query<AddressQuestion>
  {
    let url = Sample.url("https://user:pass@dns.example:8443/resolve?key=QUERY-KEY")
    let server = DNSServer(0, ProviderConfiguration(provider: JSONProvider(name: "one", url: url)))
    let report = QueryTelemetry { [events] event in
      events.withLock { $0.append(event) }
    }
    report.ended(
      QueryMachine.EndedQuery(
        server: server, results: .addresses([(AddressQuestion(ResolverFixture.host, .ipv6), result)]),
        label: QueryLabel(result), status: reply?.status.code, address: reply?.address, isHedge: true,
        duration: .milliseconds(12)))
    guard case .query(let query) = try #require(events.withLock { $0.last }) else {
      Issue.record("another event")
      throw CancellationError()
    }
    return query
  }

  @Test func `an observer hears who was asked what, and what came of it`() throws {
    let query = try report(
      .success(.addresses("2001:db8::1", ttl: 60)), reply: HTTPReply(status: .ok, address: IPAddress("192.0.2.53")))
    #expect(query.provider == "one")
    #expect(query.question == AddressQuestion(ResolverFixture.host, .ipv6))
    #expect(query.address == IPAddress("192.0.2.53"))
    #expect(query.status == 200)
    #expect(query.outcome == "1 address, TTL 60 s")
    #expect(query.failure == nil)
    #expect(query.isAnswer)
    #expect(query.isHedge)
    #expect(query.duration == .milliseconds(12))
  }

  @Test func `an observer hears of the server's origin and nothing else of its URL`() throws {
    let query = try report(.failure(ProviderFailure(.transport, "timed out")), reply: nil)
    #expect(query.origin == "https://dns.example:8443")
    #expect(query.address == nil)
    #expect(query.status == nil)
    #expect(query.outcome == "timed out")
    #expect(!query.isAnswer && query.failure == .transport)
    #expect(!"\(query)".contains("QUERY-KEY"))
    #expect(!"\(query)".contains("pass"))
  }

  @Test func `a query for several names is told question by question, and counted once`() {
    let report = QueryTelemetry { [events] event in events.withLock { $0.append(event) } }
    let provider = JSONProvider(name: "one", url: Sample.url("https://dns.example/resolve"))
    let server = DNSServer(0, ProviderConfiguration(provider: provider))
    let results: [(AddressQuestion, Result<Answer, ProviderFailure>)] = [
      (AddressQuestion(Sample.name("a.example"), .ipv4), .success(.addresses("192.0.2.1"))),
      (AddressQuestion(Sample.name("b.example"), .ipv4), .failure(ProviderFailure(.transport, "left out"))),
    ]
    report.ended(
      QueryMachine.EndedQuery(
        server: server, results: .addresses(results), label: QueryLabel(.success(.addresses("192.0.2.1"))),
        isHedge: false,
        duration: .zero))
    let told = events.withLock { $0 }.compactMap { event -> String? in
      guard case .query(let query) = event else { return nil }
      return "\(query.question.host) \(query.isAnswer)"
    }
    #expect(told.sorted() == ["a.example true", "b.example false"])
  }
}
