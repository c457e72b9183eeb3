/// The addresses of endpoints that have a name and no bootstrap addresses: asked of the system's DNS, kept by their TTL;
/// `localhost` is this machine, whatever that says.
final class Bootstrap: Sendable {
  private struct Known: Sendable {
    var addresses: [IPAddress]
    var until: ResolverInstant
  }

  private let system: Locked<(any SystemSource)?>
  private let clock: any ResolverClock
  private let known = Locked<[HostName: Known]>([:])
  private let flights = SingleFlight<HostName, Result<[IPAddress], ProviderFailure>>()

  init(system: (any SystemSource)?, clock: any ResolverClock) {
    self.system = Locked(system)
    self.clock = clock
  }

  /// Goes on with another system's DNS, or without one; addresses that are known stay.
  func update(system: (any SystemSource)?) { self.system.withLock { $0 = system } }

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
    known.withLock { $0[host] = nil }
  }

  private func addresses(of host: HostName, timeout: Duration) async throws(ProviderFailure) -> [IPAddress] {
    let now = clock.now
    if let addresses = known.withLock({ $0[host].flatMap { $0.until > now ? $0.addresses : nil } }) { return addresses }
    guard let system = system.withLock(\.self) else {
      throw ProviderFailure(.transport, "no address is known for \(host), and the system's DNS is off: use --bootstrap")
    }
    let flight = flights.flight(host) { [known, clock] in
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
      guard !addresses.isEmpty else { return .failure(ProviderFailure(.transport, reason)) }
      let kept = Known(addresses: addresses, until: clock.now + .seconds(Int64(max(ttl, 10))))
      known.withLock { $0[host] = kept }
      return .success(addresses)
    }
    // A caller that is cancelled, such as the loser of a race, leaves at once: the system's DNS takes its time.
    let waiter = Locked<CheckedContinuation<Result<[IPAddress], ProviderFailure>, Never>?>(nil)
    let cancelled = Result<[IPAddress], ProviderFailure>.failure(ProviderFailure(.cancelled, "cancelled"))
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        waiter.withLock { $0 = continuation }
        flight.observe { result in waiter.withLock { $0.take() }?.resume(returning: result) }
        if Task.isCancelled { waiter.withLock { $0.take() }?.resume(returning: cancelled) }
      }
    } onCancel: {
      waiter.withLock { $0.take() }?.resume(returning: cancelled)
    }
    return try result.get()
  }
}
