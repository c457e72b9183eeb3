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
    for (number, question) in pending.all {
      var question = question
      if case .reserved? = question.turn { continue }
      pending[number] = nil
      timers.set(number, at: nil)
      for attempt in question.running {
        actions.append(.cancel(attempt))
        attempts[attempt] = nil
      }
      if case .batch = question.subject {
        actions.append(.finishedBatch(number, [:]))
        continue
      }
      (question.running, question.race, question.turn) = ([], nil, nil)
      question.candidates = Candidates(order: order(for: question.subject, at: now))
      question.isRaced = question.candidates.order.count > 1
      start(number, question, at: now)
    }
  }

  /// Ends every question; none is taken afterwards.
  mutating func shutdown() {
    isShutDown = true
    for (number, _) in pending.all { cancel(number) }
  }
}
