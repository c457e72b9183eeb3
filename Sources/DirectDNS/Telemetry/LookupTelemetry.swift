// SPDX-License-Identifier: Apache-2.0
internal import Tracing

/// The span of a lookup that has to wait, where the process has a tracer.
///
/// What the cache answers at once makes none.
struct LookupTelemetry: Sendable {
  private let span: any Span

  /// Begins it, below the span that the caller's task is in.
  init(_ tracer: any Tracer, _ host: HostName) {
    span = tracer.startAnySpan("lookup", context: ServiceContext.current ?? .topLevel, ofKind: .internal)
    span.attributes["dns.question.name"] = host.text
  }

  func end(_ result: Result<Resolution, DirectDNSError>) {
    switch result {
    case .success(let resolution):
      span.attributes["dns.answers"] = resolution.addresses.map(\.description)
      span.attributes["directdns.freshness"] = resolution.freshness.rawValue
      span.attributes["directdns.source"] = resolution.source.provider ?? resolution.source.kind
    case .failure(let error):
      span.attributes["error.type"] = error.code.description
      span.setStatus(SpanStatus(code: .error, message: error.message))
    }
    span.end()
  }

  /// The process's tracer, if it has one.
  static var tracer: (any Tracer)? {
    let tracer = InstrumentationSystem.tracer
    return tracer is NoOpTracer ? nil : tracer
  }
}
