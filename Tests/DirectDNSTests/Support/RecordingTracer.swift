// SPDX-License-Identifier: Apache-2.0
import Tracing

@testable import DirectDNS

extension SpanAttributes {
  func text(_ key: String) -> String? {
    guard case .string(let text)? = get(key) else { return nil }
    return text
  }

  func number(_ key: String) -> Int64? {
    switch get(key) {
    case .int32(let number)?: Int64(number)
    case .int64(let number)?: number
    default: nil
    }
  }
}

/// Keeps the spans that were started.
final class RecordingTracer: Tracer {
  typealias Span = RecordedSpan

  let spans = Locked<[RecordedSpan]>([])

  func startSpan<Instant: TracerInstant>(
    _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
    at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
  ) -> RecordedSpan {
    spans.withLock { spans in
      var context = context()
      let parent = context[SpanName.self]
      context[SpanName.self] = "span-\(spans.count)"
      let span = RecordedSpan(operationName, context, kind: kind, parent: parent)
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

enum SpanName: ServiceContextKey {
  typealias Value = String
}

final class RecordedSpan: Span {
  let context: ServiceContext
  let kind: SpanKind
  /// The name that the span above it has in the context.
  let parent: String?
  private let name: String
  private let state = Locked((attributes: SpanAttributes(), hasEnded: false))

  init(_ name: String, _ context: ServiceContext, kind: SpanKind, parent: String?) {
    self.name = name
    self.context = context
    self.kind = kind
    self.parent = parent
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
