// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import NIOCore
internal import Tracing

/// Finds where a request may go: the route of its host, and the host's allowed addresses.
final class RouteFinder {
  enum Outcome {
    case route(ChosenRoute)
    case refused(ProxyRefusal)
  }

  private let loop: ProxyLoop
  private let settings: ProxySettings
  private let origin: ForwardOrigin
  private let context: ServiceContext?
  private var upstream: UpstreamProxy?
  private var policy: AddressPolicy
  /// The addresses of the configured proxy that are not wanted any more.
  private var useless: [IPAddress] = []
  private var task: Task<Void, Never>?
  private var completion: ((Outcome) -> Void)?

  /// Creates one for what a client asked for.
  ///
  /// - Parameters:
  ///   - origin: what it asked for.
  ///   - loop: where it runs.
  ///   - settings: the settings of the request.
  ///   - context: the parent of its lookups' spans.
  init(to origin: ForwardOrigin, _ loop: ProxyLoop, _ settings: ProxySettings, below context: ServiceContext?) {
    self.loop = loop
    self.settings = settings
    self.origin = origin
    self.context = context
    policy = settings.policy
  }

  /// Gives up; a query that is in progress goes on for the cache.
  func cancel() {
    completion = nil
    task?.cancel()
    task = nil
  }

  /// Finds the route to what a client asked for.
  ///
  /// - Parameter completion: called with the result, at once if no lookup is needed.
  func find(_ completion: @escaping (Outcome) -> Void) {
    let telemetry = loop.shared.telemetry
    let completion = { (outcome: Outcome) in
      if case .refused(let refusal) = outcome, let code = refusal.policyCode { telemetry.refused(by: code) }
      completion(outcome)
    }
    let configuration = settings.configuration
    guard configuration.ports.contains(origin.port) else {
      let text =
        "Port \(origin.port) of \(origin.host) may not be connected to: the proxy's ports are \(configuration.ports) (dnsctl: --ports)."
      return completion(.refused(ProxyRefusal(denied: text)))
    }
    do throws(DirectDNSError) { try policy.check(origin.host) } catch {
      return completion(.refused(ProxyRefusal(denied: error.message, by: error.code)))
    }
    let route = configuration.route(for: origin.host)
    guard route != .refuse else {
      let text = "\(origin.host) is refused: the proxy's rules (--route, proxy.routes) send nothing there."
      return completion(.refused(ProxyRefusal(denied: text)))
    }
    upstream = route == .upstream ? configuration.upstream : nil
    self.completion = completion
    find(by: route)
  }

  /// Finds the route to the configured proxy: no policy checks it.
  ///
  /// - Parameters:
  ///   - useless: those of its addresses that are not wanted any more; it is refused where there are no others.
  ///   - completion: called with the result, at once if no lookup is needed.
  func findUpstream(without useless: [IPAddress], _ completion: @escaping (Outcome) -> Void) {
    policy = .any
    self.useless = useless
    self.completion = completion
    find(by: settings.configuration.routeToUpstream(origin.host))
  }

  private func find(by route: ProxyRoute) {
    switch origin.host {
    case .address(let address): finish(check([address]))
    case .name:
      do throws(DirectDNSError) { look(up: try HostName(origin.host), route) } catch {
        finish(.refused(ProxyRefusal(error)))
      }
    }
  }

  private func look(up name: HostName, _ route: ProxyRoute) {
    let configuration = settings.configuration
    let resolver = loop.shared.resolver
    // Names that are never looked up, such as localhost, would mean another host at the other proxy.
    if let upstream, upstream.resolvesNames, !resolver.answersItself(name) {
      return finish(.route(ChosenRoute(addresses: [], upstream: upstream, context: context)))
    }
    let isDirect = configuration.isDirect(name, by: route)
    let lookup = configuration.lookup
    // A connection that needs the other family looks it up later, and knows nothing of spans.
    let look = { @Sendable [context] (families: AddressFamilies?) async throws(DirectDNSError) -> Resolution in
      var options = lookup.forConnecting
      if let families { options.families = families }
      let outcome = await ServiceContext.$current.withValue(context ?? ServiceContext.current) {
        [options] () async -> Result<Resolution, DirectDNSError> in
        do throws(DirectDNSError) {
          return isDirect
            ? .success(try await resolver.resolve(name, options: options))
            : .success(try await resolver.resolveWithSystemDNS(name, options: options))
        } catch {
          return .failure(error)
        }
      }
      return try outcome.get()
    }
    let others = { @Sendable (found: Resolution, began: ResolverInstant?) -> OtherFamily? in
      resolver.otherFamily(than: found, of: name, lookup, since: began, isDirect: isDirect) {
        families async throws(DirectDNSError) in try await look(families)
      }
    }
    // A stale answer is used only if the refresh does not come in time, so the lookup is awaited.
    if isDirect, let known = resolver.answerAtOnce(name, lookup) { return found(known, others(known, nil)) }
    let began = resolver.clock.now
    wait { () async throws(DirectDNSError) in
      try await look(nil)
    } then: { [self] outcome in
      switch outcome {
      case .success(let known): found(known, others(known, began))
      case .failure(let error): finish(.refused(ProxyRefusal(error)))
      }
    }
  }

  /// A lookup has found addresses; if none of them is allowed, waits for the other family.
  private func found(_ known: Resolution, _ others: OtherFamily?) {
    guard completion != nil else { return }
    let checked = check(Array(known.addresses))
    guard let others else { return finish(checked) }
    switch checked {
    case .route(var route):
      route.others = others
      finish(.route(route))
    case .refused:
      wait { () async throws(DirectDNSError) in
        try await others.outcome().get()
      } then: { [self] outcome in
        // If it failed, no address is allowed.
        let more = (try? outcome.get())?.addresses.map { $0 } ?? []
        finish(check(known.addresses + more))
      }
    }
  }

  private func finish(_ outcome: Outcome) {
    task = nil
    let completion = completion
    self.completion = nil
    completion?(outcome)
  }

  /// Waits for a lookup, and continues on the event loop.
  private func wait(
    for look: @escaping @Sendable () async throws(DirectDNSError) -> Resolution,
    then: @escaping (Result<Resolution, DirectDNSError>) -> Void
  ) {
    let bound = NIOLoopBound(then, eventLoop: loop.eventLoop)
    task = Task { [entrance = loop.entrance] in
      let outcome: Result<Resolution, DirectDNSError>
      do throws(DirectDNSError) { outcome = .success(try await look()) } catch { outcome = .failure(error) }
      entrance.execute { bound.value(outcome) }
    }
  }

  private func check(_ addresses: [IPAddress]) -> Outcome {
    let addresses = addresses.filter { !useless.contains($0) }
    guard useless.isEmpty || !addresses.isEmpty else {
      return .refused(ProxyRefusal(502, "destination_unavailable", "\(origin) has no other address."))
    }
    do throws(DirectDNSError) {
      let allowed = try policy.allowed(addresses, for: origin.host)
      return .route(ChosenRoute(addresses: allowed, upstream: upstream, context: context))
    } catch {
      return .refused(ProxyRefusal(error))
    }
  }
}

extension ProxyConfiguration {
  /// The route of a host.
  func route(for host: WebURL.Host) -> ProxyRoute {
    if let route = routes.route(for: host) { return route }
    if case .offUnder = direct, !direct.isOn(for: host) { return .system }
    return routes.otherwise ?? (upstream == nil ? .direct : .upstream)
  }

  /// The route to the upstream proxy itself: what holds for other hosts decides only whether the system's DNS is used.
  func routeToUpstream(_ host: WebURL.Host) -> ProxyRoute { route(for: host) == .system ? .system : .direct }

  /// Whether the resolver looks a name of this route up, and not the system's DNS.
  func isDirect(_ name: HostName, by route: ProxyRoute) -> Bool {
    switch route {
    case .system, .refuse: false
    // A rule for the name overrides the switch, unless that is off for all.
    case .direct: direct != .off
    case .upstream: direct.isOn(for: name)
    }
  }
}
