// SPDX-License-Identifier: Apache-2.0
/// The addresses of servers whose URL has a name, and that have no bootstrap addresses.
///
/// They are looked up by the system's DNS, kept by their TTL, and then looked up again while the old ones are used:
/// queries wait only when connecting has failed, or on another network. If a lookup brings nothing, the old addresses
/// stay in use, since the system's DNS may be what has failed. `localhost` is always this machine.
final class Bootstrap: Sendable {
  private struct Known: Sendable {
    var addresses: [IPAddress]
    /// When they are looked up again.
    var until: ResolverInstant
    /// Whether that is waited for, since they may not work any more.
    var isDoubtful = false

    mutating func doubt(at now: ResolverInstant) {
      until = now
      isDoubtful = true
    }
  }

  /// The least time for the lookup of a family; it goes on for other callers when one with less time has left.
  private static let usualTimeout = Duration.milliseconds(1500)
  /// The time for the lookup of a family while there are other addresses that can be used.
  private static let systemTimeout = Duration.milliseconds(300)
  /// How long old addresses are used after a lookup has brought none, before the next one.
  private static let recheck = Duration.seconds(30)

  private typealias Outcome = Result<[IPAddress], ProviderFailure>

  private struct State {
    var system: (any SystemSource)?
    var known: [HostName: Known] = [:]
    /// Counts changes of the network and of the system's DNS: addresses from before a change are not fresh after it.
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

  /// Takes over another system's DNS, or none; addresses that are known stay.
  func update(system: (any SystemSource)?) {
    state.withLock { state in
      state.system = system
      state.network += 1
    }
  }

  /// The endpoint of a provider, with its addresses.
  func endpoint(
    _ provider: ProviderConfiguration, timeout: Duration
  ) async throws(ProviderFailure) -> HTTPEndpoint {
    if let known = HTTPEndpoint(reachedWithoutDNS: provider) { return known }
    let url = provider.provider.url
    let host: HostName
    do { host = try HostName(url.host) } catch { throw ProviderFailure(.transport, error.message) }
    return HTTPEndpoint(url: url, addresses: try await addresses(of: host, timeout: timeout))
  }

  /// No address of an endpoint could be connected to: they are looked up again.
  func connectingFailed(_ endpoint: HTTPEndpoint) {
    guard case .name = endpoint.url.host, let host = try? HostName(endpoint.url.host) else { return }
    let now = clock.now
    state.withLock { $0.known[host]?.doubt(at: now) }
  }

  /// All addresses are looked up again, since another network may have others.
  func networkDidChange() {
    let now = clock.now
    state.withLock { state in
      state.network += 1
      for host in state.known.keys { state.known[host]?.doubt(at: now) }
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
      let known = state.known[host]
      // A lookup may have ended since it was read before.
      if let known, known.until > now { return (known.addresses as [IPAddress]?, false) }
      let isFirst = state.waiting[host] == nil
      let usable = known.flatMap { $0.isDoubtful ? nil : $0.addresses }
      state.waiting[host, default: []] += usable == nil ? [outcome] : []
      return (usable, isFirst)
    }
    // The lookup goes on when those who wait for it have left: it takes its time, and the next caller can use it.
    let lookupTime = known == nil ? max(timeout / 2, Self.usualTimeout) : Self.systemTimeout
    if isFirst { Task.detached(calling: system) { [self] in await lookUp(host, by: system, timeout: lookupTime) } }
    if let found { return found }
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
        // It is common that a system's DNS never answers for one family: with the other one known, that wait is short.
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
      let before = state.known[host]?.addresses ?? []
      if !addresses.isEmpty {
        // In the order of before, if only that has changed: another one would mean another connection.
        let isSame = Set(addresses) == Set(before)
        state.known[host] = Known(addresses: isSame ? before : addresses, until: now + .seconds(Int64(max(ttl, 10))))
      } else if !before.isEmpty {
        state.known[host] = Known(addresses: before, until: now + Self.recheck)
      }
      if !addresses.isEmpty, state.network != network { state.known[host]?.doubt(at: now) }
      let outcome = state.known[host].map { Outcome.success($0.addresses) }
      return (state.waiting.removeValue(forKey: host), outcome ?? .failure(ProviderFailure(.transport, reason)))
    }
    for caller in callers ?? [] { caller.fulfil(outcome) }
  }
}

extension ProviderFailure {
  /// The caller's time is over; that is no failure of a server.
  static let noTimeLeft = ProviderFailure(.cancelled, "no time was left for it")
}
