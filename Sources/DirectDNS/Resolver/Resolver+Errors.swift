/// The errors of lookups: each names the host, who was asked, the reason, and what to do.
extension Resolver {
  func cancelled(_ host: HostName) -> DirectDNSError {
    DirectDNSError(.cancelled, "The lookup of \(host) was cancelled.", underlying: CancellationError())
  }

  func negativeError(
    _ host: HostName, _ wanted: AddressFamilies, _ negative: Answer.Negative, left: Int64? = nil,
    attempts: [DirectDNSError.Attempt] = []
  ) -> DirectDNSError {
    let kept = left.map { " (known for \(max(1, $0 / 1_000_000_000)) s more)" } ?? ""
    switch negative {
    case .nameNotFound:
      return DirectDNSError(
        .nameNotFound, "\(host) does not exist\(kept). Check its spelling.", attempts: attempts)
    case .noAddress:
      let kind = wanted == .any ? "address" : "\(wanted) address"
      return DirectDNSError(
        .noAddress, "\(host) exists and has no \(kind)\(kept). \(wanted == .any ? "Check its DNS records." : "Ask for any family.")",
        attempts: attempts)
    }
  }

  /// Every family that was asked has nothing; not found only if all of them say so.
  func negativeError(
    _ host: HostName, _ wanted: AddressFamilies, _ outcomes: [IPAddress.Family: FlightOutcome],
    attempts: [DirectDNSError.Attempt] = []
  ) -> DirectDNSError {
    let isMissing = outcomes.values.allSatisfy {
      if case .answered(let answer, _, _) = $0 { answer.content == .negative(.nameNotFound) } else { false }
    }
    return negativeError(host, wanted, isMissing ? .nameNotFound : .noAddress, attempts: attempts)
  }

  func providersFailed(_ question: AddressQuestion, _ failed: Upstreams.Failed) -> DirectDNSError {
    DirectDNSError(
      failed.isTimeout ? .timedOut : .upstreamFailed, "\(question) was answered by no provider.",
      attempts: failed.attempts)
  }

  /// What all families' failures say together.
  func failure(_ host: HostName, _ errors: [DirectDNSError], _ deadlines: LookupDeadlines) -> DirectDNSError {
    var attempts: [DirectDNSError.Attempt] = []
    for attempt in errors.flatMap(\.attempts) where !attempts.contains(attempt) { attempts.append(attempt) }
    let isTimeout = errors.isEmpty || errors.allSatisfy { $0.code == .timedOut }
    let who = system == nil ? "no provider answered" : "neither the providers nor the system's DNS answered"
    let advice = "Check this machine's network, or name other providers."
    let message = "\(host) could not be looked up: \(who)\(isTimeout ? " in time" : ""), and no expired answer is known. \(advice)"
    return DirectDNSError(isTimeout ? .timedOut : .upstreamFailed, message, attempts: attempts)
  }
}

extension AddressFamilies {
  init(_ families: [IPAddress.Family]) {
    self = families.reduce(into: []) { $0.insert(AddressFamilies($1)) }
  }
}
