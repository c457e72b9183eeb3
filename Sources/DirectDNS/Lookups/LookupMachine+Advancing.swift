// SPDX-License-Identifier: Apache-2.0
/// What is due when, what follows from an event before the machine rests, and what each lookup begins with.
extension LookupMachine {
  /// Whose time has come.
  enum Due: Sendable {
    case lookup(Number<Lookup>)
    /// A question has waited long enough for the store, or is to read it again.
    case store(Number<InFlightQuestion>)
    case keepAlive(HostName)
  }

  mutating func nextInstant() -> ResolverInstant? {
    var next = servers.nextInstant()
    if let end = lookups.nextEnd() { next = min(end, next ?? end) }
    if let timer = storeTimers.next() { next = min(timer, next ?? timer) }
    if let due = keptAlive.next() { next = min(due, next ?? due) }
    return next
  }

  /// What is due first; of several at the same instant a lookup, and a kept-alive name last.
  mutating func takeDue(at now: ResolverInstant) -> Due? {
    let (lookup, store, keepAlive) = (lookups.nextEnd(), storeTimers.next(), keptAlive.next())
    guard let first = [lookup, store, keepAlive].compactMap(\.self).min() else { return nil }
    if lookup == first { return lookups.takeDue(at: now).map { .lookup($0) } }
    if store == first { return storeTimers.takeDue(at: now).map { .store($0) } }
    return keptAlive.takeDue(at: now).map { .keepAlive($0) }
  }

  /// The next number: all kinds have theirs from one row, since servers are asked under those of several.
  mutating func number<Kind>() -> Number<Kind> {
    lastNumber += 1
    return Number(rawValue: lastNumber)
  }

  mutating func report(_ notice: Notice) { if isObserved || notice.isLogged { actions.append(.report(notice)) } }

  // MARK: Consequences

  /// Handles what the servers and ended questions lead to, until nothing more follows.
  mutating func advance(at now: ResolverInstant) {
    while servers.hasNews || !questionOutcomes.isEmpty {
      servers.takeActions(into: &actionRoom)
      for index in actionRoom.indices { actions.append(.query(actionRoom[index])) }
      actionRoom.removeAll(keepingCapacity: true)
      var ended: [QueryMachine.Ending] = []
      swap(&ended, &endingRoom)
      servers.takeEndings(into: &ended)
      for ending in ended {
        switch ending {
        case .one(let number, let result): serversAnswered(.init(sameAs: number), result, at: now)
        case .batch(let number, let outcomes): batchAnswered(.init(sameAs: number), outcomes, at: now)
        case .records(let number, let result): recordsAnswered(.init(sameAs: number), result, at: now)
        }
      }
      ended.removeAll(keepingCapacity: true)
      swap(&ended, &endingRoom)
      // Outcomes that these lead to wait for the next round.
      let count = questionOutcomes.count
      for index in 0..<count {
        let (number, outcome) = questionOutcomes[index]
        deliver(number, outcome, at: now)
      }
      questionOutcomes.removeFirst(count)
    }
  }

  /// The caller of a lookup that begins, of a request that has been ``routed(_:by:)``.
  mutating func caller(_ request: LookupRequest, at now: ResolverInstant) -> LookupCaller {
    LookupCaller(number: number(), request: request, deadlines: deadlines(request.timeout, from: now), began: now)
  }

  /// The request with where its name is looked up now: the configuration may have changed since the caller read it.
  ///
  /// - Parameters:
  ///   - request: the request.
  ///   - settings: those that its route is of; if they are the present ones, the zones are not searched again.
  /// - Returns: the request.
  func routed(_ request: LookupRequest, by settings: ResolverSettings?) -> LookupRequest {
    if settings === self.settings { return request }
    var request = request
    request.route = self.settings.configuration.route(for: request.host)
    return request
  }

  /// What a lookup gets whose name is answered without asking anybody, or not at all; nil for any other.
  func ownAnswer(_ request: LookupRequest, at now: ResolverInstant) -> Result<Resolution, DirectDNSError>? {
    do throws(DirectDNSError) {
      return try request.ownAnswer(cache.ranking, hasSystem: settings.system != nil, at: now).map { .success($0) }
    } catch {
      return .failure(error)
    }
  }

  func deadlines(_ timeout: Duration?, from now: ResolverInstant, hasSystem: Bool? = nil) -> LookupDeadlines {
    LookupDeadlines(
      timeout: timeout ?? settings.configuration.timeout, from: now, hasSystem: hasSystem ?? (settings.system != nil),
      usual: timeout == nil ? nil : settings.configuration.timeout)
  }
}
