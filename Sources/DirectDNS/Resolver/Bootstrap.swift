// SPDX-License-Identifier: Apache-2.0
/// The addresses of endpoints that have a name and no bootstrap addresses: asked of the system's DNS, kept by their TTL;
/// `localhost` is this machine, whatever that says.
final class Bootstrap: Sendable {
  private struct Known: Sendable {
    var addresses: [IPAddress]
    var until: ResolverInstant
  }

  private typealias Outcome = Result<[IPAddress], ProviderFailure>

  private struct State {
    var system: (any SystemSource)?
    var known: [HostName: Known] = [:]
    /// Who waits for a name that is looked up; each leaves alone.
    var waiting: [HostName: [Int: CheckedContinuation<Outcome, Never>]] = [:]
    var lastNumber = 0
  }

  private let state: Locked<State>
  private let clock: any ResolverClock

  init(system: (any SystemSource)?, clock: any ResolverClock) {
    state = Locked(State(system: system))
    self.clock = clock
  }

  /// Goes on with another system's DNS, or without one; addresses that are known stay.
  func update(system: (any SystemSource)?) { state.withLock { $0.system = system } }

  /// The endpoint of a provider with the addresses to reach it at.
  func endpoint(
    _ provider: ProviderConfiguration, timeout: Duration
  ) async throws(ProviderFailure) -> HTTPEndpoint {
    if let known = HTTPEndpoint(reachedWithoutDNS: provider) { return known }
    let url = provider.provider.url
    let host: HostName
    do { host = try HostName(url.host) } catch { throw ProviderFailure(.transport, error.message) }
    return HTTPEndpoint(url: url, addresses: try await addresses(of: host, timeout: timeout))
  }

  /// Forgets an endpoint's addresses, since none of them could be connected to.
  func connectingFailed(_ endpoint: HTTPEndpoint) {
    guard case .name = endpoint.url.host, let host = try? HostName(endpoint.url.host) else { return }
    state.withLock { $0.known[host] = nil }
  }

  private func addresses(of host: HostName, timeout: Duration) async throws(ProviderFailure) -> [IPAddress] {
    let now = clock.now
    let (known, system, number) = state.withLock { state in
      state.lastNumber += 1
      return (state.known[host], state.system, state.lastNumber)
    }
    if let known, known.until > now { return known.addresses }
    guard let system else {
      throw ProviderFailure(.transport, "no address is known for \(host), and the system's DNS is off: use --bootstrap")
    }
    return try await withTaskCancellationHandler {
      await withCheckedContinuation { caller in
        let (found, isFirst) = state.withLock { state in
          // A lookup may have ended since its outcome was looked for.
          if let known = state.known[host], known.until > now { return (known.addresses as [IPAddress]?, false) }
          let isFirst = state.waiting[host] == nil
          state.waiting[host, default: [:]][number] = caller
          return (nil, isFirst)
        }
        if let found { return caller.resume(returning: .success(found)) }
        // It goes on when those who wait leave: the system's DNS takes its time, and the next one has use for it.
        if isFirst { Task.immediateDetached { [self] in await lookUp(host, by: system, timeout: timeout) } }
        // It may have been cancelled before there was anybody to resume.
        if Task.isCancelled { cancel(number, host) }
      }
    } onCancel: {
      cancel(number, host)
    }.get()
  }

  private func cancel(_ number: Int, _ host: HostName) {
    state.withLock { $0.waiting[host]?.removeValue(forKey: number) }?
      .resume(returning: .failure(ProviderFailure(.cancelled, "cancelled")))
  }

  private func lookUp(_ host: HostName, by system: any SystemSource, timeout: Duration) async {
    var addresses: [IPAddress] = []
    var ttl: UInt32 = 600
    var reason = "the system's DNS has no address for \(host)"
    for family in IPAddress.Family.allCases {
      do throws(ProviderFailure) {
        let answer = try await system.answer(to: host, family: family, timeout: timeout / 2)
        addresses += answer.addresses
        if !answer.addresses.isEmpty { ttl = min(ttl, answer.ttl ?? ttl) }
      } catch {
        reason = "the system's DNS was asked for \(host): \(error.reason)"
      }
    }
    let until = clock.now + .seconds(Int64(max(ttl, 10)))
    let outcome: Outcome = addresses.isEmpty ? .failure(ProviderFailure(.transport, reason)) : .success(addresses)
    let callers = state.withLock { state in
      if !addresses.isEmpty { state.known[host] = Known(addresses: addresses, until: until) }
      return state.waiting.removeValue(forKey: host)
    }
    for caller in (callers ?? [:]).values { caller.resume(returning: outcome) }
  }
}
