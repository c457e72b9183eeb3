// SPDX-License-Identifier: Apache-2.0
/// What changes for all questions at once: other servers, another network, the end.
extension QueryMachine {
  /// Goes on with other servers; those that stay keep their health and what is left of their rate.
  ///
  /// A lookup under way asks none any more that has gone, and none that came after it had begun.
  mutating func update(_ configuration: ResolverConfiguration, at now: ResolverInstant) {
    let gone = states.all
    states.update(configuration, at: now)
    // A breaker that has gone is closed; one that came may have the same name.
    for state in gone { actions.append(.breaker(state.server, isOpen: false)) }
    tellBreakers()
  }

  /// Forgets what the last network taught, and asks anew what was asked by it: a query that it has lost would be silent
  /// until its time is over.
  mutating func networkDidChange(at now: ResolverInstant) {
    states.networkDidChange()
    tellBreakers()
    for (number, ask) in asks.all {
      var ask = ask
      if case .reserved? = ask.turn { continue }
      asks[number] = nil
      timers.set(number, at: nil)
      for attempt in ask.running {
        actions.append(.cancel(attempt))
        attempts[attempt] = nil
      }
      if case .batch = ask.subject {
        actions.append(.finishedBatch(number, [:]))
        continue
      }
      (ask.running, ask.race, ask.turn) = ([], nil, nil)
      ask.candidates = Candidates(order: order(for: ask.subject, at: now))
      ask.isRaced = ask.candidates.order.count > 1
      start(number, ask, at: now)
    }
  }

  /// Ends every question; none is taken afterwards.
  mutating func shutdown() {
    isShutDown = true
    for (number, _) in asks.all { cancel(number) }
  }
}
