internal import DirectDNS
internal import NIOCore

/// Finds where a request may go: a name's addresses, judged.
final class Route {
  enum Outcome {
    /// The addresses that may be connected to, in the order of use.
    case addresses([IPAddress])
    case refused(ProxyRefusal)
  }

  private var task: Task<Void, Never>?
  private var completion: ((Outcome) -> Void)?

  /// Nobody wants it any more; a query that is under way goes on for the cache.
  func cancel() {
    completion = nil
    task?.cancel()
    task = nil
  }

  /// Looks an origin up and judges what is found.
  ///
  /// - Parameters:
  ///   - origin: the origin.
  ///   - loop: where the completion is called: at once where nobody has to be asked.
  ///   - completion: is told the addresses.
  func find(_ origin: ForwardOrigin, on loop: ProxyLoop, _ completion: @escaping (Outcome) -> Void) {
    let settings = loop.settings
    let configuration = settings.configuration
    guard configuration.ports.allow(origin.port) else {
      let text =
        "Port \(origin.port) of \(origin.host) may not be connected to: the proxy's ports are \(configuration.ports)."
      return completion(.refused(ProxyRefusal(403, "http_request_denied", text)))
    }
    do throws(DirectDNSError) { try settings.policy.check(origin.host) } catch {
      return completion(.refused(ProxyRefusal(error)))
    }
    guard case .name = origin.host else {
      guard case .address(let address) = origin.host else { return }
      return completion(Self.judge([address], origin, loop))
    }
    do throws(DirectDNSError) { find(try HostName(origin.host), origin, on: loop, completion) } catch {
      completion(.refused(ProxyRefusal(error)))
    }
  }

  private func find(
    _ name: HostName, _ origin: ForwardOrigin, on loop: ProxyLoop, _ completion: @escaping (Outcome) -> Void
  ) {
    let configuration = loop.settings.configuration
    let resolver = loop.shared.resolver
    let isDirect = configuration.direct.isOn(for: name)
    if isDirect, let known = resolver.cached(name, options: configuration.lookup) {
      return completion(Self.judge(Array(known.addresses), origin, loop))
    }
    self.completion = completion
    let bound = NIOLoopBound(self, eventLoop: loop.eventLoop)
    let boundLoop = NIOLoopBound(loop, eventLoop: loop.eventLoop)
    let tell: @Sendable (Result<Resolution, DirectDNSError>) -> Void = { [eventLoop = loop.eventLoop] outcome in
      eventLoop.execute { bound.value.found(outcome, origin, boundLoop.value) }
    }
    task = Self.look(name, isDirect, configuration, resolver, tell)
  }

  private func found(_ outcome: Result<Resolution, DirectDNSError>, _ origin: ForwardOrigin, _ loop: ProxyLoop) {
    guard let completion else { return }
    self.completion = nil
    switch outcome {
    case .success(let found): completion(Self.judge(Array(found.addresses), origin, loop))
    case .failure(let error): completion(.refused(ProxyRefusal(error)))
    }
  }

  private static func look(
    _ name: HostName, _ isDirect: Bool, _ configuration: ProxyConfiguration, _ resolver: Resolver,
    _ tell: @escaping @Sendable (Result<Resolution, DirectDNSError>) -> Void
  ) -> Task<Void, Never> {
    Task {
      do throws(DirectDNSError) {
        tell(
          .success(
            isDirect
              ? try await resolver.resolve(name, options: configuration.lookup)
              : try await resolver.resolveWithSystemDNS(name, options: configuration.lookup)))
      } catch {
        tell(.failure(error))
      }
    }
  }

  private static func judge(_ addresses: [IPAddress], _ origin: ForwardOrigin, _ loop: ProxyLoop) -> Outcome {
    let allowed: [IPAddress]
    do throws(DirectDNSError) { allowed = try loop.settings.policy.allowed(addresses, for: origin.host) } catch {
      return .refused(ProxyRefusal(error))
    }
    // A request to the proxy itself would go round for ever.
    let others = allowed.filter { !isOwn($0, origin.port, loop) }
    guard !others.isEmpty else {
      return .refused(ProxyRefusal(403, "proxy_loop_detected", "\(origin) is this proxy itself."))
    }
    return .addresses(others)
  }

  private static func isOwn(_ address: IPAddress, _ port: UInt16, _ loop: ProxyLoop) -> Bool {
    loop.shared.places.contains { place in
      guard case .tcp(let own, let ownPort) = place, ownPort == port else { return false }
      // 0.0.0.0 and :: listen at every address of this machine.
      let isWildcard = own.bytes.allSatisfy { $0 == 0 }
      return own == address || address.isLoopback || isWildcard && loop.shared.machine.contains(address)
    }
  }
}
