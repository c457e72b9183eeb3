// SPDX-License-Identifier: Apache-2.0
import CoreMetrics
import DirectDNS
import DirectDNSPrometheus
import Dispatch
import InMemoryTracing
import Testing
import Tracing

@testable import DirectDNSProxy
@testable import DirectDNSTesting

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

@Suite("What a proxy tells of itself", .timeLimit(.minutes(1)))
struct ProxyTelemetryTests {
  private func text(_ span: FinishedInMemorySpan, _ key: String) -> String? {
    switch span.attributes.get(key) {
    case .string(let text): text
    case .int32(let number): "\(number)"
    case .int64(let number): "\(number)"
    default: nil
    }
  }

  @Test func `a tunnel and a request have a span each, by the names of OpenTelemetry`() async throws {
    let tracer = InMemoryTracer()
    let origin = try await RawListener.start()
    let proxy = try await ProxyFixture(tracer: tracer)
    let client = try await proxy.client()
    try await client.send("CONNECT 127.0.0.1:\(origin.port) HTTP/1.1\r\n\r\n")
    await client.receive("\r\n\r\n")
    await client.close()
    try await origin.connection().close()
    _ = await proxy.accesses(1)
    let tunnel = try #require(tracer.finishedSpans.first)
    #expect(tunnel.operationName == "CONNECT" && text(tunnel, "http.request.method") == "CONNECT")
    #expect(text(tunnel, "http.request.method_original") == nil)
    #expect(text(tunnel, "server.address") == "127.0.0.1" && text(tunnel, "server.port") == "\(origin.port)")
    #expect(text(tunnel, "client.address") == "127.0.0.1" && text(tunnel, "http.response.status_code") == "200")
    #expect(text(tunnel, "directdns.address") == "127.0.0.1" && tunnel.status == nil)

    let other = try await proxy.client()
    try await other.send(
      "BREW http://127.0.0.1:1/ HTTP/1.1\r\nHost: x\r\nIn-Memory-Trace-ID: t\r\nIn-Memory-Span-ID: s\r\n\r\n")
    await other.receive("ports are")
    _ = await proxy.accesses(2)
    let request = try #require(tracer.finishedSpans.last)
    #expect(request.operationName == "HTTP" && text(request, "http.request.method") == "_OTHER")
    #expect(text(request, "http.request.method_original") == "BREW")
    #expect(text(request, "error.type") == "http_request_denied" && request.status == nil)
    #expect(request.traceID == "t" && request.parentSpanID == "s")
    #expect(tracer.finishedSpans.count == 2 && tracer.activeSpans.isEmpty)
    await proxy.stop()
    await origin.stop()
  }

  @Test func `a request that cannot be read is one of HTTP, and SOCKS has neither methods nor statuses`() async throws {
    let tracer = InMemoryTracer()
    let proxy = try await ProxyFixture(tracer: tracer)
    for (sent, name, method, status) in [
      ([0x16, 3, 1], "HTTP", "_OTHER", "400"), ([5, 1, 0, 5, 1, 0, 1, 127, 0, 0, 1, 0, 22], "socks5", nil, nil),
    ] as [([UInt8], String, String?, String?)] {
      let client = try await proxy.client()
      try await client.send(sent)
      _ = await client.receiveToEnd()
      let span = try #require(tracer.finishedSpans.last)
      #expect(span.operationName == name && text(span, "http.request.method") == method)
      #expect(text(span, "http.request.method_original") == nil)
      #expect(text(span, "network.protocol.name") == (method == nil ? "socks" : "http"))
      #expect(text(span, "http.response.status_code") == status && span.status == nil)
    }
    #expect(tracer.finishedSpans.count == 2 && tracer.activeSpans.isEmpty)
    await proxy.stop()
  }

  @Test func `the lookup of another proxy's name is below its request, too`() async throws {
    let tracer = InMemoryTracer()
    let upstream = try await RawListener.start()
    let url = try UpstreamProxy("http://up.test:\(upstream.port)")
    let proxy = try await withTracer(tracer) {
      try await ProxyFixture(records: RecordTable { $0.add("up.test", "127.0.0.1") }, tracer: tracer) {
        $0.upstream = url
      }
    }
    let client = try await proxy.client()
    try await client.send("CONNECT 192.0.2.1:443 HTTP/1.1\r\n\r\n")
    let server = try await upstream.connection()
    await server.receive("\r\n\r\n")
    try await server.send("HTTP/1.1 403 No\r\n\r\n")
    #expect(await client.receive("\r\n\r\n").hasPrefix("HTTP/1.1 403 "))
    let spans = tracer.finishedSpans
    #expect(spans.map(\.operationName) == ["lookup", "CONNECT"])
    #expect(spans.first?.parentSpanID != nil && spans.first?.parentSpanID == spans.last?.spanID)
    await proxy.stop()
    await upstream.stop()
  }

  @Test func `a server's own failure is one of its span`() async throws {
    let tracer = InMemoryTracer()
    let proxy = try await ProxyFixture(records: RecordTable { $0.missing("gone.test") }, tracer: tracer)
    let client = try await proxy.client()
    try await client.send("CONNECT gone.test:443 HTTP/1.1\r\n\r\n")
    #expect(await client.receive("\r\n\r\n").hasPrefix("HTTP/1.1 502 "))
    let span = try #require(tracer.finishedSpans.last)
    #expect(span.operationName == "CONNECT" && span.status?.code == .error)
    #expect(text(span, "error.type") == "dns_error" && text(span, "http.response.status_code") == "502")
    await proxy.stop()
  }

  @Test func `a tunnel that is given up has an end, too`() async throws {
    let tracer = InMemoryTracer()
    let proxy = try await ProxyFixture(records: RecordTable { $0.add("slow.test", "127.0.0.1") }, tracer: tracer)
    proxy.provider.misbehave(.hold)
    let client = try await proxy.client()
    try await client.send("CONNECT slow.test:443 HTTP/1.1\r\n\r\n")
    await proxy.provider.waitForHeld()
    await client.close()
    #expect(await proxy.accesses(1).first?.error == "connection_terminated")
    #expect(tracer.finishedSpans.count == 1 && tracer.activeSpans.isEmpty)
    proxy.provider.behave()
    proxy.provider.release()
    await proxy.stop()
  }

  @Test func `metrics stand at the proxy's own place, for this machine and by its own names`() async throws {
    let proxy = try await ProxyFixture { $0.metrics = { "metrics_total 1\n" } }
    for (host, status) in [("127.0.0.1", 200), ("localhost:3128", 200), ("[::1]", 200), ("rebound.test", 404)] {
      let client = try await proxy.client()
      try await client.send("GET /metrics HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n")
      let said = await client.receiveToEnd()
      #expect(said.hasPrefix("HTTP/1.1 \(status) ") && said.contains("metrics_total 1\n") == (status == 200), "\(host)")
    }
    await proxy.stop()
    let plain = try await ProxyFixture()
    let client = try await plain.client()
    try await client.send("GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    #expect(await client.receive("\r\n\r\n").hasPrefix("HTTP/1.1 404 "))
    await plain.stop()
  }

  @Test(
    arguments: [
      ("CONNECT 169.254.169.254:443 HTTP/1.1", "addressForbidden"),
      ("CONNECT bad.test:443 HTTP/1.1", "addressForbidden"),
      ("GET http://bad.test/ HTTP/1.1", "addressForbidden"), ("GET http://127.0.0.1:1/ HTTP/1.1", "refused"),
      ("CONNECT ruled.test:443 HTTP/1.1", "refused"), ("CONNECT none.test:443 HTTP/1.1", nil),
    ] as [(String, String?)])
  func `what a policy or a rule refuses is counted, by its code, and so is a lookup, once`(
    start: String, code: String?
  ) async throws {
    let registry = PrometheusRegistry()
    let proxy = try await withMetricsFactory(registry) {
      try await ProxyFixture(records: RecordTable { $0.add("bad.test", "10.0.0.1") }, policy: .publicOnly) {
        $0.routes.set(.refuse, for: try ProxyRoutes.Pattern("ruled.test"))
      }
    }
    let client = try await proxy.client()
    try await client.send("\(start)\r\nHost: x\r\nConnection: close\r\n\r\n")
    _ = await client.receiveToEnd()
    _ = await proxy.accesses(1)
    for known in ["addressForbidden", "refused"] {
      let line = "directdns_policy_refusals_total{reason=\"\(known)\"} \(known == code ? 1 : 0)\n"
      #expect(registry.text().contains(line), "\(line)")
    }
    #expect(!registry.text().contains("outcome=\"missed\""))
    await proxy.stop()
  }

  @Test func `what counts is there before its first event`() async throws {
    let registry = PrometheusRegistry()
    let proxy = try await withMetricsFactory(registry) { try await ProxyFixture() }
    for line in [
      "directdns_proxy_clients 0", "directdns_proxy_tunnels 0", "directdns_proxy_failed_connections_total 0",
      "directdns_proxy_retries_total 0", #"directdns_proxy_bytes_total{direction="sent"} 0"#,
      #"directdns_proxy_bytes_total{direction="received"} 0"#,
    ] { #expect(registry.text().contains("\(line)\n"), "\(line)") }
    await proxy.stop()
  }

  /// Gauges that are slow to take a value: another thread may set one meanwhile.
  private final class SlowGauges: MetricsFactory {
    private final class Gauge: MeterHandler {
      private let value: Locked<Int64>
      init(_ value: Locked<Int64>) { self.value = value }

      func set(_ value: Int64) {
        for _ in 0..<value { sched_yield() }
        self.value.withLock { $0 = value }
      }
      func set(_ value: Double) { set(Int64(value)) }
      func increment(by: Double) {}
      func decrement(by: Double) {}
    }

    let clients = Locked<Int64>(0)
    let tunnels = Locked<Int64>(0)
    private let none = NOOPMetricsHandler.instance

    func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
      switch label {
      case MetricDescription.proxyClients.name: Gauge(clients)
      case MetricDescription.proxyTunnels.name: Gauge(tunnels)
      default: none
      }
    }
    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler { none }
    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler { none }
    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler { none }
    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyMeter(_ handler: any MeterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}
  }

  @Test func `after the last client and the last tunnel the gauges are 0, whichever loops those were on`() {
    let gauges = SlowGauges()
    let telemetry = withMetricsFactory(gauges) { ProxyTelemetry(NoOpTracer()) }
    let clients = LimitedCount()
    for _ in 0..<200 {
      DispatchQueue.concurrentPerform(iterations: 4) { _ in
        _ = clients.enter(limit: 4)
        telemetry.clients(clients)
        telemetry.tunnels(1)
        telemetry.tunnels(-1)
        clients.leave()
        telemetry.clients(clients)
      }
      #expect(gauges.clients.withLock(\.self) == 0 && gauges.tunnels.withLock(\.self) == 0)
    }
  }

  @Test func `asking whether the proxy is well is no request of the spans`() async throws {
    let tracer = InMemoryTracer()
    let proxy = try await ProxyFixture(tracer: tracer)
    let client = try await proxy.client()
    for start in ["GET /live", "HEAD /ready", "GET /proxy.pac", "POST /live"] {
      try await client.send("\(start) HTTP/1.1\r\nHost: x\r\n\r\n")
      await client.receive("\r\n\r\n")
      client.forget()
    }
    #expect(await proxy.accesses(4).map(\.isProbe) == [true, true, false, false])
    #expect(tracer.finishedSpans.count == 2 && tracer.activeSpans.isEmpty)
    await proxy.stop()
  }
}
