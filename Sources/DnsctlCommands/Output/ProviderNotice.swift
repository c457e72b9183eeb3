// SPDX-License-Identifier: Apache-2.0
package import DirectDNS
internal import Synchronization

/// Reports on standard error, for a command that goes on, which providers fail again and again, and which of these
/// answer again.
package final class ProviderNotice: Sendable {
  private struct Standing {
    /// Since its last answer.
    var failures = 0
    /// The names that it could not answer.
    var names: Set<HostName> = []
    var reason = ""
    var isTold = false

    /// Whether a failure may say that the provider is out: not that another one was faster, or that it wants fewer
    /// queries.
    mutating func counts(_ failure: ProviderFailure.Kind, of host: HostName) -> Bool {
      switch failure {
      case .transport, .local: true
      case .rateLimited, .cancelled: false
      // A name whose own servers are down or whose DNSSEC is broken is asked for again and again: it counts once.
      case .response: failures < ProviderNotice.limit && names.insert(host).inserted
      }
    }
  }

  private struct State {
    var isSilent = true
    var providers: [String: Standing] = [:]

    /// What is to be said of a provider that failed, and was not said yet.
    mutating func objection(to name: String) -> String? {
      guard !isSilent, var provider = providers[name], !provider.isTold, provider.failures >= ProviderNotice.limit
      else { return nil }
      provider.isTold = true
      providers[name] = provider
      return "Provider \(name) has failed \(provider.failures) times in a row (\(provider.reason)). See dnsctl check."
    }
  }

  /// How many queries in a row have to fail: those of three lookups in both families.
  static let limit = 6

  private let context: CommandContext
  private let state = Mutex(State())

  package init(_ context: CommandContext) { self.context = context }

  /// An observer of a resolver's queries, which passes events on to another observer.
  package func observer(
    passingTo next: (@Sendable (ResolverEvent) -> Void)?
  ) -> @Sendable (ResolverEvent) -> Void {
    { [self] event in
      if case .query(let query) = event { note(query) }
      next?(event)
    }
  }

  /// Reports from now on, and first what has failed already.
  package func begin() {
    state.withLock { state in
      state.isSilent = false
      for name in state.providers.keys.sorted() { say(state.objection(to: name)) }
    }
  }

  private func note(_ query: ResolverEvent.Query<AddressQuestion>) {
    guard query.provider != "system" else { return }
    let name = query.provider
    state.withLock { state in
      guard let failure = query.failure else {
        return say(state.providers.removeValue(forKey: name)?.isTold == true ? "Provider \(name) answers again." : nil)
      }
      guard state.providers[name, default: Standing()].counts(failure, of: query.question.host) else { return }
      state.providers[name]?.failures += 1
      state.providers[name]?.reason = query.outcome
      say(state.objection(to: name))
    }
  }

  /// Writes with the lock held: of what two threads have to say, the older comes first.
  private func say(_ message: String?) {
    if let message { context.reportError(message.printable) }
  }
}
