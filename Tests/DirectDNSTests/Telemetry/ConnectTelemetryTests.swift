// SPDX-License-Identifier: Apache-2.0
import Testing
import Tracing

@testable import DirectDNS

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
