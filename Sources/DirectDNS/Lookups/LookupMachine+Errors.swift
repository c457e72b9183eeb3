// SPDX-License-Identifier: Apache-2.0
/// The errors of lookups: each says which host was looked up, who was asked, why it failed, and what to do.
extension LookupMachine {
  func cancelledError(_ host: HostName) -> DirectDNSError {
    DirectDNSError(.cancelled, "The lookup of \(host) was cancelled.", underlying: CancellationError())
  }

  func shutDownError(_ host: HostName) -> DirectDNSError {
    DirectDNSError(.shutDown, "The resolver was shut down before \(host) was looked up.")
  }

  func shutDownDuring(_ host: HostName) -> DirectDNSError {
    DirectDNSError(.shutDown, "The resolver was shut down while \(host) was looked up.")
  }

  /// The error when no family has an address: `nameNotFound` only if all of them say so, or else `noAddress`.
  ///
  /// - Parameters:
  ///   - request: what was looked up.
  ///   - outcomes: what each family came to.
  ///   - isSystems: whether the system's DNS alone was asked, although the name is one for providers.
  /// - Returns: the error.
  func negativeError(
    _ request: LookupRequest, _ outcomes: FamilyOutcomes, isSystems: Bool = false
  ) -> DirectDNSError {
    let isMissing = outcomes.all.allSatisfy {
      if case .answered(let answer, _, _) = $0 { answer.content == .negative(.nameNotFound) } else { false }
    }
    let speaker = settings.configuration.negativeSpeaker(for: isSystems ? .system : request.route)
    return DirectDNSError(isMissing ? .nameNotFound : .noAddress, of: request.host, request.wanted, by: speaker)
  }

  /// The error for a negative answer that the cache has for so many nanoseconds more.
  func negativeError(_ negative: Answer.Negative, _ request: LookupRequest, left: Int64) -> DirectDNSError {
    let speaker = settings.configuration.negativeSpeaker(for: request.route)
    return DirectDNSError(negative, of: request.host, request.wanted, left: left, by: speaker)
  }

  func providersFailed(_ question: AddressQuestion, _ failed: QueryMachine.QuestionFailure) -> DirectDNSError {
    DirectDNSError(
      failed.cause == .timedOut ? .timedOut : .upstreamFailed, "\(question) was answered by no provider.",
      attempts: failed.attempts)
  }

  static func systemFailed(_ host: HostName, _ failure: ProviderFailure) -> DirectDNSError {
    DirectDNSError(
      .upstreamFailed, "\(host) could not be looked up: the system's DNS failed.",
      attempts: [.init(server: "system", reason: failure.reason)])
  }

  func systemAloneError(_ host: HostName, _ errors: [DirectDNSError]) -> DirectDNSError {
    let isLate = errors.isEmpty
    return DirectDNSError(
      isLate ? .timedOut : .upstreamFailed,
      "\(host) could not be looked up: direct connect is switched off for it, and the system's DNS \(isLate ? "did not answer in time" : "failed"). Check the machine's own DNS, or switch direct connect on.",
      attempts: errors.first?.attempts ?? [])
  }

  /// The one error for the failures of all families.
  ///
  /// - Parameters:
  ///   - lookup: what failed, in its last phase.
  ///   - errors: one error for each family and source.
  ///   - systemSays: the code of the system's negative answer; nil if it gave none.
  /// - Returns: the error to throw.
  func failure(
    _ lookup: Lookup, _ errors: [DirectDNSError], systemSays: DirectDNSError.Code? = nil
  ) -> DirectDNSError {
    let request = lookup.request
    // After the providers, that is: where it alone is asked, the route says so.
    let wasSystemAsked = if case .fallingBack = lookup.phase { true } else { false }
    var attempts: [DirectDNSError.Attempt] = []
    for attempt in errors.flatMap(\.attempts) where !attempts.contains(attempt) { attempts.append(attempt) }
    let isTimeout = systemSays == nil && (errors.isEmpty || errors.allSatisfy { $0.code == .timedOut })
    let isSystemsAlone = settings.configuration.localZones.route(for: request.host) == .system
    let hasProviders = !isSystemsAlone && !settings.configuration.providers.isEmpty
    let who =
      switch systemSays {
      case .nameNotFound: "no provider answered, and only the system's DNS says that it does not exist"
      case .some: "no provider answered, and the system's DNS has no address for it"
      case nil where isSystemsAlone: "the system's DNS, which alone is asked for it, did not answer"
      case nil where !hasProviders: "the system's DNS did not answer"
      case nil where settings.system == nil || !wasSystemAsked: "no provider answered"
      case nil: "neither the providers nor the system's DNS answered"
      }
    let stale = request.expired == .refused ? "expired answers are refused" : "no expired answer is known"
    let causes =
      hasProviders
      ? LookupMachine.advice(attempts) : "Check this machine's own DNS\(isSystemsAlone ? "" : ", or name providers")."
    // Connecting to a distant server may take that alone, and says nothing about the network.
    let isShort = isTimeout && (request.timeout ?? settings.configuration.timeout) < .seconds(1)
    let advice = isShort ? "Allow more time: there was less than a second." : causes
    return DirectDNSError(
      isTimeout ? .timedOut : .upstreamFailed,
      "\(request.host) could not be looked up: \(who)\(isTimeout ? " in time" : ""), and \(stale). \(advice)",
      attempts: attempts)
  }

  /// What to do about providers that failed: a pure function.
  ///
  /// The advice is about one kind of failure only if all of them had it. The system's DNS does not count.
  static func advice(_ attempts: [DirectDNSError.Attempt]) -> String {
    let kinds = Set(attempts.filter { $0.server != "system" }.map(\.kind))
    if let advice = certificateAdvice(kinds) { return advice }
    return switch kinds {
    case [.setup]: "Check the files of authorities that are named (SSL_CERT_FILE, SSL_CERT_DIR; dnsctl: --ca)."
    // SERVFAIL is said of a name whose own servers are down or whose DNSSEC is broken, too.
    case [.reply], [.reply, .failing]:
      "The providers can be reached. If other names fail too, check their URLs and credentials, or name others; otherwise the fault is with this name's own DNS servers."
    case [.failing]: "The providers can be reached, and say that they fail: wait, or name others."
    case [.rate]: "Ask less often, or name other providers."
    default: "Check this machine's network, or name other providers."
    }
  }

  /// What to do where none of them has a certificate that is accepted; nil where one failed otherwise.
  private static func certificateAdvice(_ kinds: Set<DirectDNSError.Attempt.FailureKind>) -> String? {
    var faults: Set<TLSFault?> = []
    for kind in kinds {
      guard case .certificate(let fault) = kind else { return nil }
      faults.insert(fault)
    }
    guard let first = faults.first else { return nil }
    let fault = faults.count == 1 ? first : nil
    return fault.providerAdvice
  }
}

extension DirectDNSError.Attempt.FailureKind {
  init(_ error: HTTPTransportError?, status: Int?) {
    self =
      switch error {
      case .tls: .certificate(error?.tlsFault)
      case .tlsSetup: .setup
      case .malformedResponse, .bodyTooLarge, .fieldsTooLarge: .reply
      case nil where (status ?? 0) >= 500: .failing
      case nil where status != nil: .reply
      default: .network
      }
  }
}

extension DirectDNSError {
  /// The error that stands for a negative answer.
  ///
  /// - Parameters:
  ///   - negative: the answer.
  ///   - host: what was looked up.
  ///   - wanted: the families that were asked for.
  ///   - left: for how many nanoseconds more it is known; nil if it has just come.
  ///   - speaker: who said so.
  init(
    _ negative: Answer.Negative, of host: HostName, _ wanted: AddressFamilies, left: Int64? = nil,
    by speaker: NegativeSpeaker = .provider
  ) {
    let kept =
      (left.map { " (known for \(max(1, $0 / 1_000_000_000)) s more)" } ?? "")
      + (speaker == .system ? ", says the system's DNS, which alone is asked for it" : "")
    switch negative {
    case .nameNotFound: self.init(.nameNotFound, "\(host) does not exist\(kept). Check its spelling.")
    case .noAddress:
      let kind = wanted == .any ? "address" : "\(wanted) address"
      let isVague = speaker == .vagueProvider
      let what = isVague ? "has no \(kind), or does not exist" : "exists and has no \(kind)"
      let check = isVague ? "Check its spelling and its DNS records." : "Check its DNS records."
      self.init(.noAddress, "\(host) \(what)\(kept). \(wanted == .any ? check : "Ask for any family.")")
    }
  }
}

/// Who says that a name has no address, by which it is told.
enum NegativeSpeaker: Sendable, Hashable {
  /// A provider that tells a name that does not exist from one without an address.
  case provider
  /// A provider whose format does not always tell these apart, DNSPod's or EMAS's, or there is one among them.
  case vagueProvider
  /// The system's DNS, and nobody else was to be asked: of a name of this network that may as well mean that the
  /// machine is on another one.
  case system
}

extension ResolverConfiguration {
  /// Who says of a name with that route that it has no address.
  func negativeSpeaker(for route: NameRoute) -> NegativeSpeaker {
    if route == .system { return .system }
    return providers.allSatisfy { $0.provider is any RecordProvider } ? .provider : .vagueProvider
  }
}
