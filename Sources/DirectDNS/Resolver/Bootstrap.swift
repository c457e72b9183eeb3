// SPDX-License-Identifier: Apache-2.0
/// The addresses of endpoints that have a name and no bootstrap addresses: asked of the system's DNS, kept by their TTL,
/// and asked for again when connecting fails; `localhost` is this machine, whatever that says.
///
/// Where the system's DNS has nothing new, the addresses before serve on: it may be what has failed.
final class Bootstrap: Sendable {
  private struct Known: Sendable {
    var addresses: [IPAddress]
    /// When they are asked for again.
    var until: ResolverInstant
  }

  /// What a family's lookup may take at least: it goes on for others when a caller with less time has left.
  private static let usualTimeout = Duration.milliseconds(1500)
  /// What it may take while there are addresses to go on with.
  private static let systemTimeout = Duration.milliseconds(300)
  /// After how long addresses that could not be had anew are asked for once more.
  private static let recheck = Duration.seconds(30)

  private typealias Outcome = Result<[IPAddress], ProviderFailure>

  private struct State {
    var system: (any SystemSource)?
    var known: [HostName: Known] = [:]
    /// Counts the networks, and the sources: what one of them says is not fresh on the next.
    var network = 0
    /// Those who wait for a name that is being looked up; each may stop waiting by itself.
    var waiting: [HostName: [Promise<Outcome>]] = [:]
  }

  private let state: Locked<State>
  private let clock: any ResolverClock

  init(system: (any SystemSource)?, clock: any ResolverClock) {
    state = Locked(State(system: system))
    self.clock = clock
  }

  /// Goes on with another system's DNS, or without one; addresses that are known stay.
  func update(system: (any SystemSource)?) {
    state.withLock { state in
      state.system = system
      state.network += 1
    }
  }

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

  /// An endpoint's addresses are asked for again, since none of them could be connected to.
  func connectingFailed(_ endpoint: HTTPEndpoint) {
    guard case .name = endpoint.url.host, let host = try? HostName(endpoint.url.host) else { return }
    let now = clock.now
    state.withLock { $0.known[host]?.until = now }
  }

  /// All addresses are asked for again: another network may have others.
  func networkDidChange() {
    let now = clock.now
    state.withLock { state in
      state.network += 1
      for host in state.known.keys { state.known[host]?.until = now }
    }
  }

  private func addresses(of host: HostName, timeout: Duration) async throws(ProviderFailure) -> [IPAddress] {
    let now = clock.now
    let (known, system) = state.withLock { ($0.known[host], $0.system) }
    if let known, known.until > now { return known.addresses }
    guard let system else {
      if let known { return known.addresses }
      throw ProviderFailure(
        .transport,
        "no address is known for \(host), and the system's DNS is off: set its bootstrap (dnsctl: --bootstrap)")
    }
    let outcome = Promise<Outcome>()
    let (found, isFirst) = state.withLock { state in
      // A lookup may have ended since its outcome was looked for.
      if let known = state.known[host], known.until > now { return (known.addresses as [IPAddress]?, false) }
      let isFirst = state.waiting[host] == nil
      state.waiting[host, default: []].append(outcome)
      return (nil, isFirst)
    }
    if let found { return found }
    // The lookup goes on when those who wait for it have left: it takes its time, and the next caller can use it.
    let lookupTime = known == nil ? max(timeout / 2, Self.usualTimeout) : Self.systemTimeout
    if isFirst { Task.immediateDetached { [self] in await lookUp(host, by: system, timeout: lookupTime) } }
    // A caller with less time than the lookup may take, which asks for one family after the other, has a timer.
    let ownTime = known == nil ? timeout : timeout / 2
    let timer =
      ownTime >= lookupTime * 2 || outcome.isFulfilled
      ? nil
      : Task { [clock] in
        guard (try? await clock.sleep(until: now + ownTime)) != nil else { return }
        outcome.fulfil(known.map { Outcome.success($0.addresses) } ?? .failure(.noTimeLeft))
      }
    defer { timer?.cancel() }
    return try await outcome.value(ifCancelled: .failure(ProviderFailure(.cancelled, "cancelled"))).get()
  }

  private func lookUp(_ host: HostName, by system: any SystemSource, timeout: Duration) async {
    let network = state.withLock(\.network)
    var addresses: [IPAddress] = []
    var ttl: UInt32 = 600
    var reason = "the system's DNS has no address for \(host)"
    for family in IPAddress.Family.allCases {
      do throws(ProviderFailure) {
        // A system's DNS that never answers for one family is common: that one is not waited for with the other at hand.
        let wait = addresses.isEmpty ? timeout : min(timeout, Self.systemTimeout)
        let answer = try await system.answer(to: host, family: family, timeout: wait)
        addresses += answer.addresses
        if !answer.addresses.isEmpty { ttl = min(ttl, answer.ttl ?? ttl) }
      } catch {
        reason = "the system's DNS was asked for \(host): \(error.reason)"
      }
    }
    let now = clock.now
    let (callers, outcome) = state.withLock { state in
      if !addresses.isEmpty {
        let life = state.network == network ? Duration.seconds(Int64(max(ttl, 10))) : .zero
        state.known[host] = Known(addresses: addresses, until: now + life)
      } else {
        state.known[host]?.until = now + Self.recheck
      }
      let outcome = state.known[host].map { Outcome.success($0.addresses) }
      return (state.waiting.removeValue(forKey: host), outcome ?? .failure(ProviderFailure(.transport, reason)))
    }
    for caller in callers ?? [] { caller.fulfil(outcome) }
  }
}

extension ProviderFailure {
  /// The caller's time is over: nobody has failed.
  static let noTimeLeft = ProviderFailure(.cancelled, "no time was left for it")
}
