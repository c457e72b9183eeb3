// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import NIOCore

/// Finds where a request may go: a name's addresses, judged.
final class Route {
  enum Outcome {
    /// The addresses that may be connected to, in the order of use, and the family that may still come.
    case addresses([IPAddress], others: OtherFamily? = nil)
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
    let lookup = configuration.lookup
    let look = { @Sendable (families: AddressFamilies?) async throws(DirectDNSError) in
      var options = lookup.forConnecting
      if let families { options.families = families }
      return isDirect
        ? try await resolver.resolve(name, options: options)
        : try await resolver.resolveWithSystemDNS(name, options: options)
    }
    let others = { @Sendable (found: Resolution, began: ResolverInstant?) in
      resolver.otherFamily(than: found, of: name, lookup, since: began, isDirect: isDirect) {
        families async throws(DirectDNSError) in try await look(families)
      }
    }
    self.completion = completion
    if isDirect, let known = resolver.cached(name, options: lookup) {
      return found(known, others(known, nil), origin, loop)
    }
    let began = resolver.clock.now
    wait(on: loop) { () async throws(DirectDNSError) in
      try await look(nil)
    } then: { [self] outcome in
      switch outcome {
      case .success(let known): found(known, others(known, began), origin, loop)
      case .failure(let error): finish(.refused(ProxyRefusal(error)))
      }
    }
  }

  /// A lookup has brought addresses; where none of them may be used, the other family is awaited.
  private func found(_ known: Resolution, _ others: OtherFamily?, _ origin: ForwardOrigin, _ loop: ProxyLoop) {
    guard completion != nil else { return }
    let judged = Self.judge(Array(known.addresses), origin, loop)
    guard let others else { return finish(judged) }
    switch judged {
    case .addresses(let allowed, _): finish(.addresses(allowed, others: others))
    case .refused:
      wait(on: loop) { () async throws(DirectDNSError) in
        try await others.outcome().get()
      } then: { [self] outcome in
        // Without it nobody knows of an address that is allowed.
        let more = (try? outcome.get())?.addresses.map { $0 } ?? []
        finish(Self.judge(known.addresses + more, origin, loop))
      }
    }
  }

  private func finish(_ outcome: Outcome) {
    task = nil
    let completion = completion
    self.completion = nil
    completion?(outcome)
  }

  /// Waits for a lookup, and goes on where it began.
  private func wait(
    on loop: ProxyLoop, for look: @escaping @Sendable () async throws(DirectDNSError) -> Resolution,
    then: @escaping (Result<Resolution, DirectDNSError>) -> Void
  ) {
    let bound = NIOLoopBound(then, eventLoop: loop.eventLoop)
    task = Task { [eventLoop = loop.eventLoop] in
      let outcome: Result<Resolution, DirectDNSError>
      do throws(DirectDNSError) { outcome = .success(try await look()) } catch { outcome = .failure(error) }
      eventLoop.execute { bound.value(outcome) }
    }
  }

  /// Judges addresses by the policy, and by whether they are this proxy's own.
  static func judge(_ addresses: [IPAddress], _ origin: ForwardOrigin, _ loop: ProxyLoop) -> Outcome {
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
