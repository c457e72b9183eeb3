// SPDX-License-Identifier: Apache-2.0
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
  func ended(_ query: QueryMachine.EndedQuery) {
    let provider = query.server.configuration.provider
    metrics.count(.queries, provider.name, query.label.text)
    metrics.record(.queryTime, provider.name, duration: query.duration)
    if query.isHedge { metrics.count(.hedges, provider.name) }
    for (question, result) in query.results {
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
            provider: provider.name, origin: provider.url.originText, question: question, address: query.address,
            status: query.status, outcome: Self.text(result), isAnswer: isAnswer, isHedge: query.isHedge,
            duration: query.duration)))
    }
  }

  /// A query for records ended.
  func ended(_ question: DNSQuestion, _ reply: RecordReply, _ provider: any Provider, _ duration: Duration) {
    let counted = reply.counted
    if case .one(let result) = counted.reading {
      let label = QueryLabel(result, error: reply.sendError, status: reply.status.map { .init(code: $0) })
      metrics.count(.queries, provider.name, label.text)
      metrics.record(.queryTime, provider.name, duration: duration)
    }
    if case .failure(let failure) = reply.result, failure.kind != .cancelled {
      logger.debug(
        "query failed",
        metadata: [
          "provider": "\(provider.name.printable)", "question": "\(question.shown)", "reason": "\(failure.reason)",
        ])
    }
    observer?(
      .recordAttempt(
        ResolverEvent.Attempt(
          provider: provider.name, origin: provider.url.originText, question: question, address: reply.address,
          status: reply.status, outcome: Self.text(reply.result), isAnswer: (try? reply.result.get()) != nil,
          isHedge: false, duration: duration)))
  }

  private static func text(_ result: Result<RecordAnswer, ProviderFailure>) -> String {
    switch result {
    case .failure(let failure): failure.reason
    case .success(let answer) where answer.isNameMissing: "name not found"
    case .success(let answer): "\(answer.records.count) record\(answer.records.count == 1 ? "" : "s")"
    }
  }

  /// The system's DNS was asked.
  func askedSystem(_ question: AddressQuestion, _ result: Result<Answer, ProviderFailure>, _ duration: Duration) {
    metrics.count(.queries, "system", QueryLabel(result).text)
    metrics.record(.queryTime, "system", duration: duration)
    guard let observer else { return }
    let isAnswer = if case .success = result { true } else { false }
    observer(
      .attempt(
        ResolverEvent.Attempt(
          provider: "system", origin: "system", question: question, address: nil, status: nil,
          outcome: Self.text(result), isAnswer: isAnswer, isHedge: false, duration: duration)))
  }

  /// A lookup waits for a provider's request rate.
  func waits() { metrics.count(.rateLimitWaits) }

  /// A provider's breaker is open, or it is not.
  func breaker(of server: DNSServer, isOpen: Bool) {
    metrics.set(.openBreakers, server.name, to: isOpen ? 1 : 0)
  }

  func opened(_ server: DNSServer) {
    let provider = server.configuration.provider
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
