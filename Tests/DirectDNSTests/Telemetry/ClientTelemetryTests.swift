// SPDX-License-Identifier: Apache-2.0
import CoreMetrics
import DirectDNSTesting
import HTTPTypes
import Testing
import Tracing

@testable import DirectDNS

@Suite(.timeLimit(.minutes(1)))
struct ClientTelemetryTests {
  private func client(_ tracer: RecordingTracer?, _ metrics: RecordingMetrics?) throws -> DirectClient {
    var resolving = ResolverConfiguration()
    resolving.localZones.pins[try HostName("shop.test")] = [.ipv4(0x7F00_0001)]
    var configuration = DirectClientConfiguration()
    configuration.policy = .any
    return try withMetricsFactory(metrics ?? NOOPMetricsHandler.instance) {
      try withTracer(tracer ?? NoOpTracer()) { try DirectClient(configuration, resolver: DirectResolver(resolving)) }
    }
  }

  @Test func `each request has a span of its own, by the conventions for HTTP clients, and hands the trace on`()
    async throws
  {
    let origin = try await FakeOrigin.start { request in
      request.path == "/old"
        ? OriginResponse(.found, fields: [.location: "/new?key=secret"]) : OriginResponse(.notFound)
    }
    let tracer = RecordingTracer()
    let client = try client(tracer, nil)
    _ = try await client.execute(ClientSample.get(origin.url("/old?key=secret", host: "user:word@shop.test")))
    let spans = tracer.spans.withLock { $0 }.filter { $0.operationName == "GET" }
    #expect(spans.count == 2 && spans.allSatisfy(\.hasEnded) && spans.allSatisfy { $0.kind == .client })
    let (first, last) = (spans[0].attributes, spans[1].attributes)
    #expect(first.text("http.request.method") == "GET" && first.text("server.address") == "shop.test")
    #expect(first.number("server.port") == Int64(origin.port) && first.number("http.response.status_code") == 302)
    #expect(first.text("url.full") == origin.url("/old", host: "shop.test"), "no user info, no query")
    #expect(first.text("network.peer.address") == "127.0.0.1" && first.text("network.protocol.version") == "1.1")
    #expect(first.number("http.request.resend_count") == nil && last.number("http.request.resend_count") == 1)
    #expect(last.text("error.type") == "404")
    #expect(origin.requests.map { $0.field("traceparent") } == spans.map { $0.context[SpanName.self] })
    await client.shutdown()
    await origin.stop()
  }

  @Test(arguments: [(1, 1, "1.1"), (1, 0, "1.0"), (2, 0, "2")])
  func `a span names the version of HTTP as the conventions do`(_ major: Int, _ minor: Int, _ text: String) {
    #expect(ConnectionDetails.HTTPVersion(major: major, minor: minor).description == text)
  }

  @Test func `a request without a response ends its span with the error's label`() async throws {
    let tracer = RecordingTracer()
    let client = try client(tracer, nil)
    await #expect(throws: DirectDNSError.self) { try await client.execute(ClientSample.get("http://shop.test:1/")) }
    let span = try #require(tracer.spans.withLock { $0.first })
    #expect(span.hasEnded && span.attributes.text("error.type") == "connectFailed")
    await client.shutdown()
  }

  @Test func `requests are counted by method and outcome, connections by use`() async throws {
    let origin = try await FakeOrigin.start()
    let metrics = RecordingMetrics()
    let client = try client(nil, metrics)
    for _ in 0..<3 {
      _ = try await client.execute(ClientSample.get(origin.url("/", host: "shop.test"))).body.text()
    }
    await #expect(throws: DirectDNSError.self) { try await client.execute(ClientSample.get("http://shop.test:1/")) }
    let counted = metrics.counts
    #expect(counted["directdns_requests_total method=GET outcome=2xx"] == 3)
    #expect(counted["directdns_requests_total method=GET outcome=connectFailed"] == 1)
    #expect(counted["directdns_connections_total use=opened"] == 1)
    #expect(counted["directdns_connections_total use=reused"] == 2)
    #expect(counted["directdns_connection_failures_total reason=connectFailed"] == 1)
    #expect(counted["directdns_request_duration_seconds method=GET outcome=2xx"] == 3)
    await client.shutdown()
    await origin.stop()
  }

  @Test func `lookup and connect stand below the request, which stands below what the caller is in`() async throws {
    let origin = try await FakeOrigin.start()
    var records = RecordTable()
    records.add("shop.test", "127.0.0.1")
    let tracer = RecordingTracer()
    let fixture = try await withTracer(tracer) { try await ClientFixture(records: records) }
    let above = tracer.startSpan("job")
    try await ServiceContext.$current.withValue(above.context) {
      _ = try await fixture.client.execute(ClientSample.get(origin.url("/", host: "shop.test"))).body.text()
    }
    let spans = tracer.spans.withLock { $0 }
    #expect(spans.map(\.operationName) == ["job", "GET", "lookup", "connect"])
    #expect(spans.dropFirst().map(\.parent) == ["span-0", "span-1", "span-1"])
    #expect(spans.dropFirst().map(\.hasEnded) == [true, true, true])
    #expect(spans[3].kind == .client && spans[3].attributes.text("network.peer.address") == "127.0.0.1")
    #expect(spans[2].attributes.text("dns.question.name") == "shop.test")
    #expect(spans[3].attributes.number("network.peer.port") == Int64(origin.port))
    await fixture.stop()
    await origin.stop()
  }

  @Test(arguments: [("GET", "GET"), ("PATCH", "PATCH"), ("get", "_OTHER"), ("BREW", "_OTHER")])
  func `a method that no standard knows is no label`(_ method: String, _ label: String) throws {
    let known = try #require(HTTPRequest.Method(method))
    #expect(ClientTelemetry.label(of: known) == label)
  }

  @Test(
    arguments: [("GET", "GET", "GET", nil), ("BREW", "HTTP", "_OTHER", "BREW")] as [(String, String, String, String?)])
  func `a span's name is a method of the standards, or HTTP`(
    _ method: String, _ name: String, _ label: String, _ original: String?
  ) throws {
    let tracer = RecordingTracer()
    let telemetry = withTracer(tracer) { ClientTelemetry() }
    var fields = HTTPFields()
    _ = telemetry.begin(
      try #require(HTTPRequest.Method(method)), try WebURL("https://shop.test/"), &fields, hop: 0)
    let span = try #require(tracer.spans.withLock { $0.first })
    #expect(span.operationName == name && span.attributes.text("http.request.method") == label)
    #expect(span.attributes.text("http.request.method_original") == original)
  }

  @Test func `a connection that takes the place of one that had ended has a span, which names no error`() async throws {
    let hasEnded = Locked(false)
    let origin = try await FakeOrigin.start { request in
      let endsNow = hasEnded.withLock { hasEnded in
        defer { hasEnded = hasEnded || request.path == "/b" }
        return request.path == "/b" && !hasEnded
      }
      if endsNow { throw OriginFault.close }
      return OriginResponse()
    }
    let tracer = RecordingTracer()
    let client = try client(tracer, nil)
    for path in ["/a", "/b"] {
      _ = try await client.execute(ClientSample.get(origin.url(path, host: "shop.test"))).body.text()
    }
    let connects = tracer.spans.withLock { $0 }.filter { $0.operationName == "connect" }
    #expect(connects.count == 2 && connects.allSatisfy(\.hasEnded))
    #expect(connects.allSatisfy { $0.attributes.text("error.type") == nil })
    await client.shutdown()
    await origin.stop()
  }

  @Test func `refusals of the policy are counted by their code`() async throws {
    let metrics = RecordingMetrics()
    let client = try withMetricsFactory(metrics) {
      try DirectClient(DirectClientConfiguration(), resolver: DirectResolver(ResolverConfiguration(providers: [])))
    }
    await #expect(throws: DirectDNSError.self) { try await client.execute(ClientSample.get("http://127.0.0.1/")) }
    #expect(metrics.counts["directdns_policy_refusals_total reason=addressForbidden"] == 1)
    await client.shutdown()
  }

  @Test func `while nobody collects, nothing is recorded and nothing is added`() async throws {
    let origin = try await FakeOrigin.start()
    let client = try client(nil, nil)
    #expect(!client.telemetry.isActive)
    _ = try await client.execute(ClientSample.get(origin.url("/", host: "shop.test"))).body.text()
    #expect(origin.requests.first?.field("traceparent") == nil)
    await client.shutdown()
    await origin.stop()
  }
}

struct ConnectTelemetryTests {
  private let tracer = RecordingTracer()
  private let first = Sample.address("192.0.2.1")
  private let second = Sample.address("2001:db8::1")

  private func spans(after events: [CurlEvent]) -> [RecordedSpan] {
    let spans = ConnectTelemetry(tracer, below: .topLevel, port: 443)
    for event in events { spans.note(event) }
    return tracer.spans.withLock { $0 }
  }

  private func errors(_ spans: [RecordedSpan]) -> [String?] { spans.map { $0.attributes.text("error.type") } }

  @Test func `each attempt has a span of its own, from the dialling to its end`() {
    let spans = spans(after: [
      .connecting(first), .failed(first, .connect("refused")), .connecting(second), .secured("TLS 1.3"),
      .connected(second, isReused: false),
    ])
    #expect(spans.map(\.operationName) == ["connect", "connect"] && spans.allSatisfy(\.hasEnded))
    #expect(spans.map { $0.attributes.text("network.peer.address") } == ["192.0.2.1", "2001:db8::1"])
    #expect(spans.allSatisfy { $0.attributes.text("network.transport") == "tcp" && $0.kind == .client })
    #expect(errors(spans) == ["connectFailed", nil])
  }

  @Test func `the losers of a race are cancelled`() {
    let spans = spans(after: [.connecting(first), .connecting(second), .connected(second, isReused: false)])
    #expect(spans.allSatisfy(\.hasEnded) && errors(spans) == ["cancelled", nil])
  }

  @Test func `a connection that stood makes no span`() {
    #expect(spans(after: [.connected(first, isReused: true), .failed(first, .timedOut)]).isEmpty)
  }

  @Test func `what is under way when nobody waits any more is cancelled`() {
    let spans = ConnectTelemetry(tracer, below: .topLevel, port: 443)
    spans.note(.connecting(first))
    spans.endAll()
    spans.endAll()
    let made = tracer.spans.withLock { $0 }
    #expect(made.count == 1 && made.allSatisfy(\.hasEnded) && errors(made) == ["cancelled"])
  }
}
