// SPDX-License-Identifier: Apache-2.0
internal import Logging
internal import Tracing

/// Reports what happens to lookups, to the log, to metrics and to the observer.
struct LookupTelemetry: Sendable {
  let queries: QueryTelemetry
  let metrics: ResolverTelemetry
  let store: StoreTelemetry?
  let cache: AnswerCache
  let observer: (@Sendable (ResolverEvent) -> Void)?
  private let logger = Logger(label: "directdns.resolver")
  private let cacheLogger = Logger(label: "directdns.cache")
  private let systemLogger = Logger(label: "directdns.system")

  func report(_ notice: LookupMachine.Notice) {
    switch notice {
    case .hit(let host, let freshness): hit(host, freshness)
    case .refresh(let host):
      metrics.refreshed(.behind)
      observer?(.refresh(host))
    case .refreshAhead: metrics.refreshed(.ahead)
    case .kept(let evicted):
      metrics.holds(cache.count)
      guard evicted > 0 else { return }
      metrics.evicted(evicted)
      cacheLogger.debug("the cache is full: names were evicted", metadata: ["evicted": "\(evicted)"])
      observer?(.evicted(names: evicted))
    case .askingSystem(let host):
      systemLogger.notice("no provider answered: asking the system's DNS", metadata: ["host": "\(host)"])
    case .systemAnswered(let question, let result, let duration): queries.askedSystem(question, result, duration)
    case .released(let count):
      logger.debug(
        "a server answers again: what it could not answer is asked for again", metadata: ["questions": "\(count)"])
    case .storeRead(let isHit): store?.read(isHit: isHit)
    case .turn(let turn): store?.turn(turn)
    }
  }

  /// A lookup was answered from the cache.
  func hit(_ host: HostName, _ freshness: Resolution.Freshness) {
    if freshness == .stale { logger.debug("a stale answer is used", metadata: ["host": "\(host)"]) }
    observer?(.hit(host, freshness: freshness))
  }
}

/// The span of a lookup that has to wait, if the process has a tracer.
///
/// A lookup that the cache answers at once has none.
struct LookupSpan: Sendable {
  private let span: any Span

  /// Begins the span, below that of the caller's task.
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

  static var tracer: (any Tracer)? {
    // A process without one would have all its conformances gone through, twice, to find that this is no tracer.
    if InstrumentationSystem.instrument is NoOpInstrument { return nil }
    let tracer = InstrumentationSystem.tracer
    return tracer is NoOpTracer ? nil : tracer
  }
}
