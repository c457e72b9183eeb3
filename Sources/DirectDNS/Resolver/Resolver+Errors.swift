/// The errors of lookups: each names the host, who was asked, the reason, and what to do.
extension Resolver {
  func cancelled(_ host: HostName) -> DirectDNSError {
    DirectDNSError(.cancelled, "The lookup of \(host) was cancelled.", underlying: CancellationError())
  }

  func negativeError(
    _ host: HostName, _ wanted: AddressFamilies, _ negative: Answer.Negative, left: Int64? = nil
  ) -> DirectDNSError {
    let kept = left.map { " (known for \(max(1, $0 / 1_000_000_000)) s more)" } ?? ""
    switch negative {
    case .nameNotFound:
      return DirectDNSError(
        .nameNotFound, "\(host) does not exist\(kept). Check its spelling.")
    case .noAddress:
      let kind = wanted == .any ? "address" : "\(wanted) address"
      return DirectDNSError(
        .noAddress,
        "\(host) exists and has no \(kind)\(kept). \(wanted == .any ? "Check its DNS records." : "Ask for any family.")"
      )
    }
  }

  /// Every family that was asked has nothing; not found only if all of them say so.
  func negativeError(
    _ host: HostName, _ wanted: AddressFamilies, _ outcomes: [IPAddress.Family: FlightOutcome]
  ) -> DirectDNSError {
    let isMissing = outcomes.values.allSatisfy {
      if case .answered(let answer, _, _) = $0 { answer.content == .negative(.nameNotFound) } else { false }
    }
    return negativeError(host, wanted, isMissing ? .nameNotFound : .noAddress)
  }

  func providersFailed(_ question: AddressQuestion, _ failed: Upstreams.Failed) -> DirectDNSError {
    DirectDNSError(
      failed.isTimeout ? .timedOut : .upstreamFailed, "\(question) was answered by no provider.",
      attempts: failed.attempts)
  }

  /// What all families' failures say together.
  ///
  /// - Parameters:
  ///   - host: the name.
  ///   - errors: one error a family and source.
  ///   - expired: what the caller thought of expired answers.
  ///   - systemSays: the negative answer of the system's DNS, where it gave one.
  /// - Returns: the error to throw.
  func failure(
    _ host: HostName, _ errors: [DirectDNSError], _ expired: ExpiredUse, systemSays: DirectDNSError.Code? = nil
  ) -> DirectDNSError {
    var attempts: [DirectDNSError.Attempt] = []
    for attempt in errors.flatMap(\.attempts) where !attempts.contains(attempt) { attempts.append(attempt) }
    let isTimeout = systemSays == nil && (errors.isEmpty || errors.allSatisfy { $0.code == .timedOut })
    let who =
      switch systemSays {
      case .nameNotFound: "no provider answered, and only the system's DNS says that it does not exist"
      case .some: "no provider answered, and the system's DNS has no address for it"
      case nil: system == nil ? "no provider answered" : "neither the providers nor the system's DNS answered"
      }
    let stale = expired == .refused ? "expired answers are refused" : "no expired answer is known"
    return DirectDNSError(
      isTimeout ? .timedOut : .upstreamFailed,
      "\(host) could not be looked up: \(who)\(isTimeout ? " in time" : ""), and \(stale). \(Self.advice(attempts))",
      attempts: attempts)
  }
}

extension Resolver {
  /// What to do about providers that failed: a pure function.
  ///
  /// Only where all of them have one trouble is it theirs; the system's DNS says nothing about them.
  static func advice(_ attempts: [DirectDNSError.Attempt]) -> String {
    let troubles = Set(attempts.filter { $0.provider != "system" }.map(\.trouble))
    return switch troubles {
    case [.certificate]:
      "If this machine's clock and certificate authorities are right, somebody stands between: name other providers, or trust a private authority."
    case [.reply]: "The providers can be reached: check their URLs and credentials, or name others."
    default: "Check this machine's network, or name other providers."
    }
  }
}

extension DirectDNSError.Attempt.Trouble {
  init(_ error: HTTPTransportError?, hasReply: Bool) {
    self =
      switch error {
      case .tls: .certificate
      case nil where hasReply: .reply
      default: .network
      }
  }
}

extension AddressFamilies {
  init(_ families: [IPAddress.Family]) {
    self = families.reduce(into: []) { $0.insert(AddressFamilies($1)) }
  }
}
