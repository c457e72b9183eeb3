internal import HTTPTypes
internal import Logging
internal import CoreMetrics

/// Tells logs, metrics and the observer what became of queries.
///
/// Names of hosts and providers, never a URL's query.
struct UpstreamReport: Sendable {
  private struct Meters: Sendable {
    let answered: Counter
    let failed: Counter
    let latency: Timer
  }

  private let logger: Logger
  private let meters = Locked<[String: Meters]>([:])
  private let observer: (@Sendable (ResolverEvent) -> Void)?

  init(observer: (@Sendable (ResolverEvent) -> Void)?) {
    logger = Logger(label: "directdns.upstreams")
    self.observer = observer
  }

  /// The meters of a provider's name: it keeps them while providers come and go.
  private func meters(_ name: String) -> Meters {
    meters.withLock { meters in
      if let known = meters[name] { return known }
      let dimension = ("provider", name)
      let new = Meters(
        answered: Counter(label: "directdns_upstream_queries", dimensions: [dimension, ("outcome", "answered")]),
        failed: Counter(label: "directdns_upstream_queries", dimensions: [dimension, ("outcome", "failed")]),
        latency: Timer(label: "directdns_upstream_latency", dimensions: [dimension]))
      meters[name] = new
      return new
    }
  }

  func ended(
    _ provider: any Provider, _ question: AddressQuestion, reply: HTTPReply?,
    result: Result<Answer, ProviderFailure>, isHedge: Bool, duration: Duration
  ) {
    let isAnswer = if case .success = result { true } else { false }
    let meters = meters(provider.name)
    (isAnswer ? meters.answered : meters.failed).increment()
    meters.latency.recordNanoseconds(duration.wholeNanoseconds)
    if case .failure(let failure) = result, failure.kind != .cancelled {
      logger.debug(
        "query failed",
        metadata: ["provider": "\(provider.name)", "question": "\(question)", "reason": "\(failure.reason)"])
    }
    guard let observer else { return }
    observer(
      .attempt(
        ResolverEvent.Attempt(
          provider: provider.name, origin: provider.url.originText, question: question, address: reply?.address,
          status: reply?.status.code, outcome: Self.text(result), isAnswer: isAnswer, isHedge: isHedge,
          duration: duration)))
  }

  func opened(_ provider: any Provider) {
    logger.notice(
      "a provider failed again and again: others are asked before it for a while",
      metadata: ["provider": "\(provider.name)", "origin": "\(provider.url.originText)"])
  }

  static func text(_ result: Result<Answer, ProviderFailure>) -> String {
    switch result {
    case .success(let answer):
      let ttl = answer.ttl.map { ", TTL \($0) s" } ?? ""
      switch answer.content {
      case .addresses(let addresses): return "\(addresses.count) address\(addresses.count == 1 ? "" : "es")" + ttl
      case .negative(.nameNotFound): return "name not found" + ttl
      case .negative(.noAddress): return "no address" + ttl
      }
    case .failure(let failure): return failure.reason
    }
  }
}
