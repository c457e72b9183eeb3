// SPDX-License-Identifier: Apache-2.0
/// Events that concern all questions at once: other servers, another network, the end.
extension QueryMachine {
  /// Takes over other servers; those that stay keep their health and their request rate.
  ///
  /// Questions under way ask no server that was removed, and none that was added since they began.
  mutating func update(_ configuration: ResolverConfiguration, at now: ResolverInstant) {
    let gone = states.all
    states.update(configuration, at: now)
    // The metric of a removed server's breaker is reset; a server that was added may have the same name.
    for state in gone { actions.append(.breaker(state.server, isOpen: false)) }
    reportBreakers()
  }

  /// Forgets what was learned on the last network, and asks all questions under way again: a query that was lost with
  /// that network would only end with its timeout.
  mutating func networkDidChange(at now: ResolverInstant) {
    states.networkDidChange()
    reportBreakers()
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
