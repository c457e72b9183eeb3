// SPDX-License-Identifier: Apache-2.0
/// Events that concern all questions at once: other servers, another network, the end.
extension QueryMachine {
  /// Takes over other servers; those that stay keep their health and their request rate.
  ///
  /// Questions under way ask no server that was removed, and none that was added since they began.
  mutating func update(_ configuration: ResolverConfiguration, at now: ResolverInstant) {
    let gone = states.all
    states.update(configuration, at: now)
    // A server that was added may have the name of one that was removed.
    let names = Set(states.all.map(\.server.name))
    for state in gone where !names.contains(state.server.name) { actions.append(.removed(state.server)) }
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
      (question.running, question.turn) = ([], nil)
      question.candidates = Candidates(order: order(for: question.subject, at: now))
      question.race = race(among: question.candidates, question.deadlines)
      start(number, question, at: now)
    }
  }

  /// Ends every question; none is taken afterwards.
  mutating func shutdown() {
    isShutDown = true
    for (number, _) in pending.all { cancel(number) }
  }
}
