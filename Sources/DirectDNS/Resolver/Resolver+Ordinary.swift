/// Looking up as if there were no providers and no cache: what is left when direct connect is switched off.
extension Resolver {
  /// Looks a name up by the system's DNS alone, be it off as a fallback; neither the cache nor its failures count, and
  /// nothing is remembered.
  ///
  /// Pins and names that never leave this machine are what they always are. Callers who ask at the same time share one
  /// query.
  func resolveOrdinarily(_ host: HostName, options: LookupOptions) async throws(DirectDNSError) -> Resolution {
    let settings = self.settings
    let configuration = settings.configuration
    let wanted = options.families ?? configuration.families
    let route = configuration.localZones.route(host)
    if route != .system, let local = try local(host, route, wanted) { return local }
    guard !hasEnded else { throw DirectDNSError(.shutDown, "The resolver was shut down before \(host) was looked up.") }
    let end = clock.now + (options.timeout ?? configuration.timeout)
    let flights = wanted.members.map { family in
      (family, ordinaryFlight(AddressQuestion(host, family), settings.systemSource, until: end))
    }
    let wait = familyWait(wanted, options)
    let result = await wait.run(flights, until: end)
    guard !result.isCancelled else { throw cancelled(host) }
    if let answer = answer(result.outcomes) { return answer }
    let errors = result.outcomes.values.compactMap { if case .failed(let error) = $0 { error } else { nil } }
    guard errors.isEmpty, result.outcomes.count == wanted.members.count else {
      let isLate = errors.isEmpty
      throw DirectDNSError(
        isLate ? .timedOut : .upstreamFailed,
        "\(host) could not be looked up: direct connect is switched off for it, and the system's DNS \(isLate ? "did not answer in time" : "failed"). Check the machine's own DNS, or switch direct connect on.",
        attempts: errors.first?.attempts ?? [])
    }
    throw negativeError(host, wanted, result.outcomes)
  }

  private func ordinaryFlight(
    _ question: AddressQuestion, _ system: any SystemSource, until end: ResolverInstant
  ) -> Flight<FlightOutcome> {
    ordinaryFlights.flight(question) { [self] in
      let asked = clock.now
      let outcome: Result<Answer, ProviderFailure>
      do throws(ProviderFailure) {
        outcome = .success(
          try await system.answer(
            to: question.host, family: question.family, timeout: max(end - asked, .milliseconds(1))))
      } catch {
        outcome = .failure(error)
      }
      observe(question, outcome, duration: clock.now - asked)
      switch outcome {
      case .success(let answer):
        return .answered(answer, .system, CacheLife(askedAt: asked.nanoseconds, expireAt: asked.nanoseconds))
      case .failure(let failure):
        return .failed(
          DirectDNSError(
            .upstreamFailed, "The system's DNS failed.", attempts: [.init(provider: "system", reason: failure.reason)]))
      }
    }
  }
}
