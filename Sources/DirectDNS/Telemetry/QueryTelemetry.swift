// SPDX-License-Identifier: Apache-2.0
internal import HTTPTypes
internal import Logging

/// Reports what happens to queries, to the log, to metrics and to the observer.
///
/// It names hosts and providers, and never the query of a URL.
struct QueryTelemetry: Sendable {
  private let logger = Logger(label: "directdns.upstreams")
  private let metrics = MetricSource()
  private let observer: (@Sendable (ResolverEvent) -> Void)?

  init(observer: (@Sendable (ResolverEvent) -> Void)?) {
    self.observer = observer
    // Created early: an alert on the rate of a series does not see one that begins with 1.
    metrics.count(.rateLimitWaits, by: 0)
  }

  /// A query has ended, with a result for each of its questions.
  func ended(_ query: QueryMachine.EndedQuery) {
    let provider = query.server.configuration.provider
    metrics.count(.queries, provider.name, query.label.text)
    metrics.record(.queryTime, provider.name, duration: query.duration)
    if query.isHedge { metrics.count(.hedges, provider.name) }
    switch query.results {
    case .addresses(let results):
      for (question, result) in results {
        log(result, of: "\(question)", provider)
        observer?(.query(query.event(question, Self.text(result), result)))
      }
    case .records(let question, let result):
      log(result, of: question.shown, provider)
      observer?(.recordQuery(query.event(question, Self.text(result), result)))
    }
  }

  private func log<Value>(
    _ result: Result<Value, ProviderFailure>, of question: @autoclosure () -> String, _ provider: any Provider
  ) {
    guard case .failure(let failure) = result, failure.kind != .cancelled else { return }
    logger.debug(
      "query failed",
      metadata: [
        "provider": "\(provider.name.printable)", "question": "\(question())", "reason": "\(failure.reason)",
      ])
  }

  private static func text(_ result: Result<RecordAnswer, ProviderFailure>) -> String {
    switch result {
    case .failure(let failure): failure.reason
    case .success(let answer) where answer.isNameMissing: "name not found"
    case .success(let answer): "\(answer.records.count) record\(answer.records.count == 1 ? "" : "s")"
    }
  }

  /// The system's DNS has answered, or failed.
  func askedSystem(_ question: AddressQuestion, _ result: Result<Answer, ProviderFailure>, _ duration: Duration) {
    metrics.count(.queries, "system", QueryLabel(result).text)
    metrics.record(.queryTime, "system", duration: duration)
    guard let observer else { return }
    let isAnswer = if case .success = result { true } else { false }
    observer(
      .query(
        ResolverEvent.Query(
          provider: "system", origin: "system", question: question, address: nil, status: nil,
          outcome: Self.text(result), isAnswer: isAnswer, isHedge: false, duration: duration)))
  }

  /// A question has to wait, since the request rates of all providers are used up.
  func waits() { metrics.count(.rateLimitWaits) }

  /// A provider's breaker is open or closed.
  func breaker(of server: DNSServer, isOpen: Bool) {
    metrics.set(.openBreakers, server.name, to: isOpen ? 1 : 0)
  }

  /// A provider was removed: a breaker that is not there must not count as one that is closed, or open.
  func removed(_ server: DNSServer) { metrics.remove(.openBreakers, server.name) }

  func opened(_ server: DNSServer) {
    let provider = server.configuration.provider
    logger.notice(
      "a provider failed or was silent again and again: others are asked before it for a while",
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

extension QueryMachine.EndedQuery {
  fileprivate func event<Question, Value>(
    _ question: Question, _ outcome: String, _ result: Result<Value, ProviderFailure>
  ) -> ResolverEvent.Query<Question> {
    let provider = server.configuration.provider
    let isAnswer = if case .success = result { true } else { false }
    var event = ResolverEvent.Query(
      provider: provider.name, origin: provider.url.originText, question: question, address: address, status: status,
      outcome: outcome, isAnswer: isAnswer, isHedge: isHedge, duration: duration)
    if case .failure(let failure) = result { event.failure = failure.kind }
    return event
  }
}
