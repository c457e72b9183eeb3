// SPDX-License-Identifier: Apache-2.0
/// Finds the addresses of servers whose URL has a name, and that have no bootstrap addresses, by the system's DNS.
///
/// What is looked up when, and who waits for it, is decided in ``BootstrapTable``. `localhost` is always this machine.
final class Bootstrap: Sendable {
  /// What callers wait for: a name's lookup on one network.
  private struct Awaited: Hashable {
    var host: HostName
    var network: Int
  }

  private struct State {
    var system: (any SystemSource)?
    var table = BootstrapTable()
    /// Those who wait for a name that is being looked up; each may stop waiting by itself.
    var waiting: [Awaited: [Promise<BootstrapTable.Outcome>]] = [:]
  }

  private let state: Locked<State>
  private let clock: any ResolverClock

  init(system: (any SystemSource)?, clock: any ResolverClock) {
    state = Locked(State(system: system))
    self.clock = clock
  }

  /// Takes over another system's DNS, or none; addresses that are known stay.
  func update(system: (any SystemSource)?) {
    state.withLock { state in
      state.system = system
      state.table.systemDidChange()
    }
  }

  /// The endpoint of a provider, with its addresses.
  func endpoint(
    _ provider: ProviderConfiguration, timeout: Duration
  ) async throws(ProviderFailure) -> HTTPEndpoint {
    if let known = HTTPEndpoint(reachedWithoutDNS: provider) { return known }
    let url = provider.provider.url
    let host: HostName
    do { host = try HostName(url.host) } catch { throw ProviderFailure(.transport, error.clause) }
    return HTTPEndpoint(url: url, addresses: try await addresses(of: host, timeout: timeout))
  }

  /// No address of an endpoint could be connected to: they are looked up again.
  func connectingFailed(_ endpoint: HTTPEndpoint) {
    guard case .name = endpoint.origin.host, let host = try? HostName(endpoint.origin.host) else { return }
    let now = clock.now
    state.withLock { $0.table.connectingFailed(to: host, at: now) }
  }

  /// All addresses are looked up again, since another network may have others.
  func networkDidChange() {
    let now = clock.now
    state.withLock { $0.table.networkDidChange(at: now) }
  }

  private func addresses(of host: HostName, timeout: Duration) async throws(ProviderFailure) -> [IPAddress] {
    let now = clock.now
    let outcome = Promise<BootstrapTable.Outcome>()
    let (step, lookup, system) = state.withLock { state in
      let (step, lookup) = state.table.find(host, within: timeout, hasSystem: state.system != nil, at: now)
      if case .wait = step {
        state.waiting[Awaited(host: host, network: state.table.network), default: []].append(outcome)
      }
      return (step, lookup, state.system)
    }
    if let lookup, let system { Task.detached(calling: system) { [self] in await perform(lookup, by: system) } }
    switch step {
    case .use(let addresses): return addresses
    case .fail(let failure): throw failure
    case .wait(let end, let substitute):
      let timer = end.flatMap { end in
        outcome.isFulfilled
          ? nil
          : Task { [clock] in
            if (try? await clock.sleep(until: end)) != nil { outcome.fulfil(substitute) }
          }
      }
      defer { timer?.cancel() }
      return try await outcome.value(ifCancelled: .failure(ProviderFailure(.cancelled, "cancelled"))).get()
    }
  }

  private func perform(_ lookup: BootstrapLookup, by system: any SystemSource) async {
    var lookup = lookup
    while let (family, timeout) = lookup.next {
      do throws(ProviderFailure) {
        lookup.answered(.success(try await system.answer(to: lookup.host, family: family, timeout: timeout)))
      } catch {
        lookup.answered(.failure(error))
      }
    }
    let now = clock.now
    let (outcome, callers) = state.withLock { [lookup] state in
      let awaited = Awaited(host: lookup.host, network: lookup.network)
      return (state.table.ended(lookup, at: now), state.waiting.removeValue(forKey: awaited) ?? [])
    }
    for caller in callers { caller.fulfil(outcome) }
  }
}
