/// What the cache has of a name, one family of which may be missing.
extension Resolver {
  /// What the cache has at once.
  struct Known {
    var resolution: Resolution
    /// The flights of families that are not among it and may have addresses.
    var open: [(IPAddress.Family, Flight<FlightOutcome>)] = []
  }

  /// What the cache makes of a lookup at once; nothing if it has to wait.
  func known(
    _ host: HostName, _ wanted: AddressFamilies, _ route: NameRoute, _ settled: AnswerCache.Settled?
  ) throws(DirectDNSError) -> Known? {
    switch settled?.verdict {
    case .serve(let served, let freshness, let refresh):
      guard let resolution = settled?.resolution else { return nil }
      var known = Known(resolution: resolution)
      if refresh {
        let slots = cache.value(host)
        known.open = refreshBehind(host, wanted, route, at: clock.now).filter { family, _ in
          !served.contains(family) && slots?[family].mayHaveAddresses == true
        }
      }
      note(freshness, host)
      return known
    case .negative(let negative, let left): throw negativeError(host, wanted, negative, left: left)
    case .wait, .miss, nil: return nil
    }
  }

  /// One family is known: whoever is handed its addresses gets those of the other too if they come within a moment.
  func completed(
    _ known: Known, _ host: HostName, _ wanted: AddressFamilies, _ options: LookupOptions, _ deadlines: LookupDeadlines
  ) async throws(DirectDNSError) -> Resolution {
    guard !known.open.isEmpty, options.purpose == .handingOut else { return known.resolution }
    let wait = FlightWait(AddressFamilies(known.open.map(\.0)), for: .keeping, clock: clock)
    let result = await wait.run(known.open, until: min(clock.now + FamilyRace.resolutionDelay, deadlines.whole))
    guard !result.isCancelled else { throw cancelled(host) }
    guard result.outcomes.values.contains(where: \.hasAddresses) else { return known.resolution }
    return settle(host, wanted, options.expired, at: clock.now)?.resolution ?? known.resolution
  }

  /// Waits for flights, for as long as the purpose of their addresses says.
  func familyWait(_ families: AddressFamilies, _ options: LookupOptions) -> FlightWait {
    FlightWait(families, for: options.purpose, preferred: prefersIPv6 ? .ipv6 : .ipv4, clock: clock)
  }

  /// What is known of a name without asking or starting anything.
  ///
  /// - Parameters:
  ///   - host: the name.
  ///   - options: what is wanted.
  ///   - start: when whoever wants to know began to look the name up.
  /// - Returns: addresses that may be used at once, or that there are none; nothing if somebody would have to be asked.
  func knowledge(
    of host: HostName, _ options: LookupOptions, since start: ResolverInstant
  ) -> Result<Resolution, DirectDNSError>? {
    let wanted = options.families ?? families
    let settled = settle(host, wanted, options.expired, since: start, at: clock.now)
    switch settled?.verdict {
    case .serve: return settled?.resolution.map { .success($0) }
    case .negative(let negative, let left): return .failure(negativeError(host, wanted, negative, left: left))
    case .wait, .miss, nil: return nil
    }
  }
}
