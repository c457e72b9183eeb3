// SPDX-License-Identifier: Apache-2.0
import CoreMetrics
import Testing
import Tracing

@testable import DirectDNS
@testable import DirectDNSTesting

@Suite(.timeLimit(.minutes(1)))
struct LookupTelemetryTests {
  private let tracer = RecordingTracer()

  @Test func `a lookup that waits has a span, and one that does not has none`() async throws {
    let fixture = try withTracer(tracer) { try ResolverFixture() }
    try await fixture.learn("192.0.2.1", "192.0.2.2")
    _ = try await fixture.resolver.resolve(ResolverFixture.host)
    _ = fixture.resolver.cached(ResolverFixture.host)
    let spans = tracer.spans.withLock { $0 }
    let span = try #require(spans.first)
    #expect(spans.count == 1 && span.operationName == "lookup" && span.kind == .internal && span.hasEnded)
    #expect(span.attributes.text("dns.question.name") == "www.example.net")
    #expect(span.attributes.text("directdns.source") == "one" && span.attributes.text("directdns.freshness") == "fresh")
    // Equal addresses take turns in coming first.
    let orders = [["192.0.2.1", "192.0.2.2"], ["192.0.2.2", "192.0.2.1"]]
    #expect(orders.map { $0.toSpanAttribute() }.contains(span.attributes.get("dns.answers")))
    #expect(span.attributes.text("error.type") == nil)
  }

  @Test func `a lookup that fails ends its span with the error's label`() async throws {
    let fixture = try withTracer(tracer) { try ResolverFixture() }
    fixture.transport.answer { _ in .answer(.negative(.nameNotFound, ttl: 30)) }
    _ = await fixture.failure()
    let span = try #require(tracer.spans.withLock { $0.first })
    #expect(span.hasEnded && span.attributes.text("error.type") == "nameNotFound")
  }

  @Test func `without a tracer there is none`() { #expect(LookupSpan.tracer == nil) }
}
