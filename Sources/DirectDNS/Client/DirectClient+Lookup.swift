// SPDX-License-Identifier: Apache-2.0
/// The lookups of a request, before it is sent.
extension DirectClient {
  /// Looks up a request's host, and waits until a connection race can begin.
  ///
  /// The race asks for the second family later, if it needs it. Not so through a proxy, which connects by name: then
  /// both families are looked up and judged before.
  nonisolated(nonsending) func lookUp(
    _ name: HostName, for target: RequestTarget, _ call: Call, _ watch: ClientTelemetry.Watch?, throughProxy: Bool
  ) async throws(DirectDNSError) {
    var options = call.options.lookup ?? call.settings.configuration.lookup
    if let pinned = call.settings.configuration.pins[HostPort(host: name, port: target.url.effectivePort)],
      let known = try resolver.pinned(name, to: pinned, options)
    {
      return note(known, of: name, for: target, call)
    }
    // An answer that is there needs neither a time limit nor a measurement of its time.
    if call.isDirect(name), let known = try resolver.freshOrOwnAnswer(name, options) {
      note(known, of: name, for: target, call)
      target.others = others(than: known, name, options, since: nil, call, watch)
    } else {
      options = call.lookupOptions(resolver)
      if !throughProxy { options = options.forConnecting }
      let start = resolver.clock.now
      let resolution = try await resolver.resolve(name, options, call, watch)
      target.lookup = resolver.clock.now - start
      note(resolution, of: name, for: target, call)
      target.others = others(than: resolution, name, options, since: start, call, watch)
    }
    guard let others = target.others else { return }
    let policy = call.settings.configuration.policy
    let isForbidden = target.addresses.allSatisfy { policy.objection(to: $0, host: target.host) != nil }
    if isForbidden {
      switch await others.outcome() {
      case .success(let other):
        target.resolution = other
        target.addresses += other.addresses
      // Then it is not known whether there is an address that is allowed.
      case .failure(let error) where error.code == .cancelled || error.code == .shutDown: throw error
      case .failure: break
      }
    }
    if isForbidden || throughProxy { target.others = nil }
  }

  private func note(_ resolution: Resolution, of name: HostName, for target: RequestTarget, _ call: Call) {
    call.options.observer?(.resolved(name, to: resolution))
    target.addresses = Array(resolution.addresses)
    target.resolution = resolution
  }

  private func others(
    than found: Resolution, _ name: HostName, _ options: LookupOptions, since began: ResolverInstant?, _ call: Call,
    _ watch: ClientTelemetry.Watch?
  ) -> OtherFamily? {
    // Captures the resolver and not the client: transfers keep this closure, and must not keep the client alive.
    resolver.otherFamily(than: found, of: name, options, since: began, isDirect: call.isDirect(name)) {
      [resolver] families async throws(DirectDNSError) in
      var options = call.lookupOptions(resolver)
      options.families = families
      return try await resolver.resolve(name, options, call, watch)
    } observer: { [observer = call.options.observer] in
      observer?(.resolved(name, to: $0))
    }
  }

  /// The proxy in libcurl's form; its addresses are not judged by the policy, since the proxy is the caller's choice.
  nonisolated(nonsending) func proxyRoute(_ proxy: WebURL?, _ call: Call) async throws(DirectDNSError) -> CurlProxy? {
    guard let proxy else { return nil }
    guard case .name(let name) = proxy.host else { return CurlProxy(proxy, resolvedHost: nil) }
    let host = try HostName(proxy.host)
    var addresses = call.settings.configuration.pins[HostPort(host: host, port: proxy.effectivePort)] ?? []
    if addresses.isEmpty {
      addresses = Array(try await resolver.resolve(host, call.lookupOptions(resolver), call, nil).addresses)
    }
    return CurlProxy(
      proxy, resolvedHost: CurlProxy.ResolvedHost(host: name, port: proxy.effectivePort, addresses: addresses))
  }
}

extension DirectClient.Call {
  /// The options of a lookup, which may take no longer than the request has left.
  fileprivate func lookupOptions(_ resolver: DirectResolver) -> LookupOptions {
    var options = self.options.lookup ?? settings.configuration.lookup
    let left = Duration.milliseconds(max(1, deadline - LoopTime.now))
    if left < options.timeout ?? resolver.settings.configuration.timeout { options.timeout = left }
    return options
  }

  fileprivate func isDirect(_ name: HostName) -> Bool { settings.configuration.direct.isOn(for: name) }
}

extension DirectResolver {
  /// Looks up a name as part of a request: as usual, or by the system's DNS if direct connect is switched off for it.
  nonisolated(nonsending) fileprivate func resolve(
    _ name: HostName, _ options: LookupOptions, _ call: DirectClient.Call, _ watch: ClientTelemetry.Watch?
  ) async throws(DirectDNSError) -> Resolution {
    nonisolated(nonsending) func look() async throws(DirectDNSError) -> Resolution {
      call.isDirect(name)
        ? try await resolve(name, options: options) : try await resolveWithSystemDNS(name, options: options)
    }
    guard let watch else { return try await look() }
    return try await watch.within { () async throws(DirectDNSError) in try await look() }
  }
}
