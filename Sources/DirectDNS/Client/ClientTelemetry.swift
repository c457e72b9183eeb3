internal import CoreMetrics
internal import HTTPTypes
internal import Tracing

/// Metrics and spans of requests, by the semantic conventions of OpenTelemetry for HTTP clients.
///
/// Nothing is done while nobody collects.
struct ClientTelemetry: Sendable {
  private let tracer: (any Tracer)?
  private let metrics: (any MetricsFactory)?

  /// Spans and metrics of the process's own systems, which have to be set up before the client is made.
  init() {
    let tracer = InstrumentationSystem.tracer
    let metrics = MetricsSystem.factory
    self.init(tracer: tracer is NoOpTracer ? nil : tracer, metrics: metrics is NOOPMetricsHandler ? nil : metrics)
  }

  init(tracer: (any Tracer)?, metrics: (any MetricsFactory)?) {
    self.tracer = tracer
    self.metrics = metrics
  }

  var isActive: Bool { tracer != nil || metrics != nil }

  /// Begins to watch one request, which gets the fields by which its server can go on with the trace.
  func begin(_ request: inout HTTPRequest, _ url: WebURL, hop: Int) -> Watch {
    var span: (any Span)?
    if let tracer {
      let started = tracer.startAnySpan(
        request.method.rawValue, context: ServiceContext.current ?? .topLevel, ofKind: .client)
      started.attributes["http.request.method"] = request.method.rawValue
      started.attributes["server.address"] = url.host.description
      started.attributes["server.port"] = Int(url.effectivePort)
      // Without user info, and without the query, which may hold a signature.
      started.attributes["url.full"] = "\(Origin(url))\(url.path)"
      if hop > 0 { started.attributes["http.request.resend_count"] = hop }
      tracer.inject(started.context, into: &request.headerFields, using: FieldInjector())
      span = started
    }
    return Watch(span: span, began: SystemClock().now, method: request.method.rawValue, metrics: metrics)
  }

  /// One request that is watched.
  struct Watch: Sendable {
    fileprivate let span: (any Span)?
    fileprivate let began: ResolverInstant
    fileprivate let method: String
    fileprivate let metrics: (any MetricsFactory)?

    /// The response's head has come.
    func end(_ response: DirectResponse) {
      if let span {
        span.attributes["http.response.status_code"] = response.status.code
        span.attributes["network.protocol.version"] = response.connection.httpVersion == 2 ? "2" : "1.1"
        span.attributes["network.peer.address"] = response.connection.remoteAddress?.description
        span.attributes["network.peer.port"] = Int(response.connection.remotePort)
        if response.status.code >= 400 {
          span.attributes["error.type"] = "\(response.status.code)"
          span.setStatus(SpanStatus(code: .error))
        }
        span.end()
      }
      count(outcome: "\(response.status.code / 100)xx")
      guard let metrics else { return }
      let use = response.connection.isReused ? "reused" : "opened"
      Counter(label: "directdns_connections", dimensions: [("use", use)], factory: metrics).increment()
    }

    /// There is no response.
    func end(_ error: DirectDNSError) {
      if let span {
        span.attributes["error.type"] = error.code.description
        span.setStatus(SpanStatus(code: .error, message: error.message))
        span.end()
      }
      count(outcome: error.code.description)
    }

    private func count(outcome: String) {
      guard let metrics else { return }
      let dimensions = [("method", method), ("outcome", outcome)]
      Counter(label: "directdns_requests", dimensions: dimensions, factory: metrics).increment()
      Timer(label: "directdns_request_duration", dimensions: dimensions, factory: metrics)
        .recordNanoseconds((SystemClock().now - began).wholeNanoseconds)
    }
  }

  private struct FieldInjector: Injector {
    func inject(_ value: String, forKey key: String, into fields: inout HTTPFields) {
      guard let name = HTTPField.Name(key) else { return }
      fields[name] = value
    }
  }
}
