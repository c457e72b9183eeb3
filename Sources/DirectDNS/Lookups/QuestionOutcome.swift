// SPDX-License-Identifier: Apache-2.0
internal import HTTPTypes

/// The outcome of one question.
enum QuestionOutcome: Sendable {
  /// An answer, which may be negative; its `expireAt` is not in the future if the cache does not keep it.
  case answered(Answer, Resolution.Source, CacheLife)
  /// The store had addresses that are not fresh any more. The cache has them now, and decides what they are good for;
  /// they come along, since it may evict them before they are used.
  case restored(CacheEntry)
  case failed(DirectDNSError)

  var hasAddresses: Bool {
    switch self {
    case .answered(let answer, _, _): !answer.addresses.isEmpty
    case .restored: true
    case .failed: false
    }
  }

  var isRestored: Bool { if case .restored = self { true } else { false } }

  var error: DirectDNSError? { if case .failed(let error) = self { error } else { nil } }

  /// Whether it is an answer that the cache keeps.
  func isKept(at now: ResolverInstant) -> Bool {
    if case .answered(_, _, let life) = self { life.expireAt > now.nanoseconds } else { false }
  }
}

/// The outcomes of a name's questions; nil for a family that was not asked for, or has none yet.
struct FamilyOutcomes: Sendable {
  var ipv4: QuestionOutcome?
  var ipv6: QuestionOutcome?

  subscript(family: IPAddress.Family) -> QuestionOutcome? {
    get { family == .ipv4 ? ipv4 : ipv6 }
    set { if family == .ipv4 { ipv4 = newValue } else { ipv6 = newValue } }
  }

  var all: [QuestionOutcome] { [ipv4, ipv6].compactMap(\.self) }

  var hasRestored: Bool { ipv4?.isRestored == true || ipv6?.isRestored == true }

  /// The addresses that came, the preferred family's first; nil if none came.
  func resolution(_ ranking: AddressRanking, prefersIPv6: Bool, at now: ResolverInstant) -> Resolution? {
    var addresses = AddressList()
    var firstCount = 0
    var life: CacheLife?
    var source: Resolution.Source?
    var canonicalName: HostName?
    var isStored = false
    func add(_ outcome: QuestionOutcome?) {
      guard case .answered(let answer, let from, let answerLife) = outcome, case .addresses(let found) = answer.content,
        !found.isEmpty
      else { return }
      if addresses.isEmpty { firstCount = found.count }
      for address in found { addresses.append(address) }
      life = CacheLife(
        askedAt: min(life?.askedAt ?? .max, answerLife.askedAt),
        expireAt: min(life?.expireAt ?? .max, answerLife.expireAt))
      source = source ?? from
      isStored = isStored || from == .store
      canonicalName = canonicalName ?? answer.canonicalName
    }
    add(prefersIPv6 ? ipv6 : ipv4)
    add(prefersIPv6 ? ipv4 : ipv6)
    guard let life, let source else { return nil }
    // The first use of an answer keeps its server's order; an answer from a store has been used before.
    ranking.order(&addresses, firstCount: firstCount, takesTurns: isStored, at: now)
    return Resolution(
      addresses: addresses, canonicalName: canonicalName, freshness: .fresh, source: source,
      ageNanoseconds: max(0, now.nanoseconds - life.askedAt),
      timeToLiveNanoseconds: max(0, life.expireAt - now.nanoseconds))
  }
}

/// The label of a query's end in metrics: one of a few words, and never words of the reply.
struct QueryLabel: Sendable, Hashable {
  let text: String

  /// - Parameters:
  ///   - result: the result of the query.
  ///   - error: why there was no reply; nil if there was one.
  ///   - status: the status of the reply.
  init(_ result: Result<Answer, ProviderFailure>, error: HTTPTransportError? = nil, status: HTTPResponse.Status? = nil)
  {
    text =
      switch result {
      case .success(let answer):
        switch answer.content {
        case .addresses: "answered"
        case .negative(.nameNotFound): "nameNotFound"
        case .negative(.noAddress): "noAddress"
        }
      case .failure(let failure): Self.text(failure.kind, error, status)
      }
  }

  private static func text(
    _ kind: ProviderFailure.Kind, _ error: HTTPTransportError?, _ status: HTTPResponse.Status?
  ) -> String {
    switch (kind, error) {
    case (_, .timedOut?): "timedOut"
    case (.cancelled, _): "cancelled"
    case (.rateLimited, _): "rateLimited"
    case (.response, nil): "refused"
    case (_, .malformedResponse?): "malformed"
    case (.transport, .invalidRequest?), (.transport, .cancelled?), (.transport, .shutDown?): "failed"
    case (.transport, let error?), (.response, let error?), (.local, let error?): error.code.description
    case (.local, nil): "failed"
    case (.transport, nil):
      switch status?.kind {
      case nil: "failed"
      case .successful: "malformed"
      default: "httpStatus"
      }
    }
  }
}
