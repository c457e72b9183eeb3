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
    return try DirectClient(
      configuration, resolver: Resolver(resolving), telemetry: ClientTelemetry(tracer: tracer, metrics: metrics))
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
    _ = try await client.execute(ClientFixture.get(origin.url("/old?key=secret", host: "user:word@shop.test")))
    let spans = tracer.spans.withLock { $0 }
    #expect(spans.map(\.operationName) == ["GET", "GET"] && spans.allSatisfy(\.hasEnded))
    let (first, last) = (spans[0].attributes, spans[1].attributes)
    #expect(first.text("http.request.method") == "GET" && first.text("server.address") == "shop.test")
    #expect(first.number("server.port") == Int64(origin.port) && first.number("http.response.status_code") == 302)
    #expect(first.text("url.full") == origin.url("/old", host: "shop.test"), "no user info, no query")
    #expect(first.text("network.peer.address") == "127.0.0.1" && first.text("network.protocol.version") == "1.1")
    #expect(first.number("http.request.resend_count") == nil && last.number("http.request.resend_count") == 1)
    #expect(last.text("error.type") == "404")
    #expect(origin.requests.map { $0.field("traceparent") } == ["span-0", "span-1"])
    await client.shutDown()
    await origin.stop()
  }

  @Test func `a request without a response ends its span with the error's label`() async throws {
    let tracer = RecordingTracer()
    let client = try client(tracer, nil)
    await #expect(throws: DirectDNSError.self) { try await client.execute(ClientFixture.get("http://shop.test:1/")) }
    let span = try #require(tracer.spans.withLock { $0.first })
    #expect(span.hasEnded && span.attributes.text("error.type") == "connectFailed")
    await client.shutDown()
  }

  @Test func `requests are counted by method and outcome, connections by use`() async throws {
    let origin = try await FakeOrigin.start()
    let metrics = RecordingMetrics()
    let client = try client(nil, metrics)
    for _ in 0..<3 {
      _ = try await client.execute(ClientFixture.get(origin.url("/", host: "shop.test"))).body.text()
    }
    await #expect(throws: DirectDNSError.self) { try await client.execute(ClientFixture.get("http://shop.test:1/")) }
    let counted = metrics.counts.withLock { $0 }
    #expect(counted["directdns_requests method=GET outcome=2xx"] == 3)
    #expect(counted["directdns_requests method=GET outcome=connectFailed"] == 1)
    #expect(counted["directdns_connections use=opened"] == 1 && counted["directdns_connections use=reused"] == 2)
    #expect(counted["directdns_request_duration method=GET outcome=2xx"] == 3)
    await client.shutDown()
    await origin.stop()
  }

  @Test func `while nobody collects, nothing is recorded and nothing is added`() async throws {
    let origin = try await FakeOrigin.start()
    let client = try client(nil, nil)
    #expect(!client.telemetry.isActive)
    _ = try await client.execute(ClientFixture.get(origin.url("/", host: "shop.test"))).body.text()
    #expect(origin.requests.first?.field("traceparent") == nil)
    await client.shutDown()
    await origin.stop()
  }
}

extension SpanAttributes {
  fileprivate func text(_ key: String) -> String? {
    guard case .string(let text)? = get(key) else { return nil }
    return text
  }

  fileprivate func number(_ key: String) -> Int64? {
    switch get(key) {
    case .int32(let number)?: Int64(number)
    case .int64(let number)?: number
    default: nil
    }
  }
}

/// Keeps the spans that were started.
private final class RecordingTracer: Tracer {
  typealias Span = RecordedSpan

  let spans = Locked<[RecordedSpan]>([])

  func startSpan<Instant: TracerInstant>(
    _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
    at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
  ) -> RecordedSpan {
    spans.withLock { spans in
      var context = context()
      context[SpanName.self] = "span-\(spans.count)"
      let span = RecordedSpan(operationName, context)
      spans.append(span)
      return span
    }
  }

  func activeSpan(identifiedBy context: ServiceContext) -> RecordedSpan? { nil }
  func forceFlush() {}
  func extract<Carrier, Extract: Extractor>(
    _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
  ) where Extract.Carrier == Carrier {}

  func inject<Carrier, Inject: Injector>(
    _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
  ) where Inject.Carrier == Carrier {
    if let name = context[SpanName.self] { injector.inject(name, forKey: "traceparent", into: &carrier) }
  }
}

private enum SpanName: ServiceContextKey {
  typealias Value = String
}

private final class RecordedSpan: Span {
  let context: ServiceContext
  private let name: String
  private let state = Locked((attributes: SpanAttributes(), hasEnded: false))

  init(_ name: String, _ context: ServiceContext) {
    self.name = name
    self.context = context
  }

  var operationName: String {
    get { name }
    set {}
  }
  var attributes: SpanAttributes {
    get { state.withLock { $0.attributes } }
    set { state.withLock { $0.attributes = newValue } }
  }
  var isRecording: Bool { true }
  var hasEnded: Bool { state.withLock { $0.hasEnded } }
  func setStatus(_ status: SpanStatus) {}
  func addEvent(_ event: SpanEvent) {}
  func recordError<Instant: TracerInstant>(
    _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
  ) {}
  func addLink(_ link: SpanLink) {}
  func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) { state.withLock { $0.hasEnded = true } }
}

/// Counts by label and dimensions.
private final class RecordingMetrics: MetricsFactory {
  let counts = Locked<[String: Int64]>([:])

  private func handler(_ label: String, _ dimensions: [(String, String)]) -> RecordingHandler {
    let key = ([label] + dimensions.map { "\($0)=\($1)" }).joined(separator: " ")
    return RecordingHandler { [counts] amount in counts.withLock { $0[key, default: 0] += amount } }
  }

  func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler { handler(label, dimensions) }
  func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
    handler(label, dimensions)
  }
  func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler { handler(label, dimensions) }
  func destroyCounter(_ handler: any CounterHandler) {}
  func destroyRecorder(_ handler: any RecorderHandler) {}
  func destroyTimer(_ handler: any TimerHandler) {}
}

private final class RecordingHandler: CounterHandler, RecorderHandler, TimerHandler {
  private let count: @Sendable (Int64) -> Void

  init(_ count: @escaping @Sendable (Int64) -> Void) { self.count = count }

  func increment(by amount: Int64) { count(amount) }
  func reset() {}
  func record(_ value: Int64) { count(1) }
  func record(_ value: Double) { count(1) }
  func recordNanoseconds(_ duration: Int64) { count(1) }
}
