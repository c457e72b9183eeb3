internal import HTTPTypes
internal import Logging

/// Tells logs, metrics and the observer what became of queries.
///
/// Names of hosts and providers, never a URL's query.
struct UpstreamReport: Sendable {
  private let logger = Logger(label: "directdns.upstreams")
  private let metrics = MetricSource()
  private let observer: (@Sendable (ResolverEvent) -> Void)?

  init(observer: (@Sendable (ResolverEvent) -> Void)?) { self.observer = observer }

  /// A query ended, with a result for each of its questions.
  func ended(
    _ provider: any Provider, _ results: [AddressQuestion: Result<Answer, ProviderFailure>], reply: HTTPReply?,
    label: QueryLabel, isHedge: Bool = false, duration: Duration
  ) {
    metrics.count(.queries, provider.name, label.text)
    metrics.record(.queryTime, provider.name, duration: duration)
    if isHedge { metrics.count(.hedges, provider.name) }
    for (question, result) in results {
      if case .failure(let failure) = result, failure.kind != .cancelled {
        logger.debug(
          "query failed",
          metadata: [
            "provider": "\(provider.name.printable)", "question": "\(question)", "reason": "\(failure.reason)",
          ])
      }
      guard let observer else { continue }
      let isAnswer = if case .success = result { true } else { false }
      observer(
        .attempt(
          ResolverEvent.Attempt(
            provider: provider.name, origin: provider.url.originText, question: question, address: reply?.address,
            status: reply?.status.code, outcome: Self.text(result), isAnswer: isAnswer, isHedge: isHedge,
            duration: duration)))
    }
  }

  /// The system's DNS was asked.
  func askedSystem(_ result: Result<Answer, ProviderFailure>, _ duration: Duration) {
    metrics.count(.queries, "system", QueryLabel(result).text)
    metrics.record(.queryTime, "system", duration: duration)
  }

  /// A lookup waits for a provider's request rate.
  func waits() { metrics.count(.rateLimitWaits) }

  /// A provider's breaker is open, or it is not.
  func breaker(of provider: any Provider, isOpen: Bool) {
    metrics.set(.openBreakers, provider.name, to: isOpen ? 1 : 0)
  }

  func opened(_ provider: any Provider) {
    logger.notice(
      "a provider failed again and again: others are asked before it for a while",
      metadata: ["provider": "\(provider.name.printable)", "origin": "\(provider.url.originText)"])
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
