// SPDX-License-Identifier: Apache-2.0
#if AsyncHTTPClient
  public import AsyncHTTPClient
  public import DirectDNS
  internal import HTTPTypes
  public import NIOCore
  internal import NIOPosix

  /// AsyncHTTPClient, connecting to the addresses that DirectDNS finds.
  ///
  /// ```swift
  /// let client = DirectHTTPClient(resolver: try DirectResolver())
  /// let response = try await client.execute(HTTPClientRequest(url: "https://www.example.com/"))
  /// ```
  ///
  /// URL, `Host`, SNI and the certificate check keep the name. Each address is judged by the policy before anything is
  /// connected to, and each redirect is looked up and judged like a first request; a server that calls itself by its address
  /// is called by its name again (``/DirectDNS/ResponseRestorer``). An address that cannot be connected to,
  /// or not in time, is followed by the next one.
  ///
  /// `HTTPClient`'s `dnsOverride` holds one address for a name and is fixed when the client is made, so there is an
  /// `HTTPClient` for each origin and address in use. They share the threads of `MultiThreadedEventLoopGroup.singleton`.
  public actor DirectHTTPClient {
    /// How many origins keep their connections; the one that was used longest ago gives way.
    private static let originLimit = 256

    private let resolver: DirectResolver
    private let policy: AddressPolicy
    private let redirects: DirectDNS.RedirectConfiguration?
    private let attemptTimeout: TimeAmount
    private let configuration: HTTPClient.Configuration
    private var clients: [Origin: PinnedClient] = [:]
    private var isShutDown = false

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - resolver: finds the addresses, and remembers those that could not be reached.
    ///   - policy: which of them may be connected to; public ones only by default.
    ///   - redirects: how redirects are followed; nil to hand them to the caller. Those of `configuration` are not
    ///     looked at, since nobody would judge where they lead.
    ///   - attemptTimeout: how long connecting to one address may take while there are others, more than 0; by default
    ///     a second, and less where the time that is left would not do for all of them. With one address the time of
    ///     `configuration` counts.
    ///   - configuration: everything else about the connections. With a `proxy` each request is refused: connections
    ///     would go to that, and not to the address that was judged.
    public init(
      resolver: DirectResolver, policy: AddressPolicy = .publicOnly,
      redirects: DirectDNS.RedirectConfiguration? = .init(), attemptTimeout: TimeAmount = .seconds(1),
      configuration: HTTPClient.Configuration = .init()
    ) {
      self.resolver = resolver
      self.policy = policy
      self.redirects = redirects
      self.attemptTimeout = attemptTimeout
      var configuration = configuration
      configuration.redirectConfiguration = .disallow
      // The same address again and again for ten seconds is no better than another one at once.
      configuration.connectionPool.retryConnectionEstablishment = false
      self.configuration = configuration
    }

    /// Sends a request, and follows where it is redirected to.
    ///
    /// The fields are those of the request, with the URL's user info as `Authorization` unless there is one, and without
    /// `originalUrl` and `Proxy-Authorization`, which are not for origins. A `Host` that the policy denies is refused.
    /// A client's certificate, the request's or the configuration's, is not shown to another origin that redirects lead to.
    ///
    /// - Parameters:
    ///   - request: the request. A body that a redirect wants once more (307, 308) is not sent twice: the response is
    ///     the redirect then.
    ///   - timeout: how long all of it may take, lookups and redirects included, until the response's head; default 30 s.
    /// - Returns: the response, whose body comes as it is read, and whose `history` has every hop, the first one first.
    /// - Throws: `invalidConfiguration` for a client with a proxy, or without time for an attempt; `invalidURL`; the
    ///   lookup's error, `timedOut` where the time ends with it; `addressForbidden` and `invalidRequest` before
    ///   anything is sent; ``CertificateNameMismatch``; `tooManyRedirects` and `redirectRefused`; AsyncHTTPClient's
    ///   errors, that of the first address where all failed, `deadlineExceeded`, and `alreadyShutdown` after
    ///   ``shutdown()``.
    public func execute(
      _ request: HTTPClientRequest, timeout: TimeAmount = .seconds(30)
    ) async throws -> HTTPClientResponse {
      guard configuration.proxy == nil else {
        throw DirectDNSError(
          .invalidConfiguration,
          "A proxy of HTTPClient.Configuration would be connected to in place of the address that was judged. Leave it "
            + "out, or use HTTPClient itself with it.")
      }
      guard attemptTimeout > .nanoseconds(0) else {
        throw DirectDNSError(
          .invalidConfiguration,
          "attemptTimeout is \(attemptTimeout.nanoseconds) ns: give connecting to an address some time.")
      }
      let deadline = NIODeadline.now() + timeout
      var request = request
      var history: [HTTPClientRequestResponse] = []
      var hops = 0
      while true {
        // One parser decides whom a URL names. `dnsOverride` knows a host in one spelling only, and any other would go
        // to the system's DNS.
        let url = try WebURL(request.url)
        request.url = url.rfc3986
        var response = try await send(request, to: url, until: deadline)
        // It knows of its own hop alone.
        history += response.history
        response.history = history
        guard let redirects,
          let next = try request.next(
            after: response, at: url, hops: hops, by: redirects, sharedTLS: configuration.tlsConfiguration)
        else { return response }
        await response.readRest(until: deadline)
        request = next
        hops += 1
      }
    }

    /// Closes connections that carry no request; the others close with the end of their responses.
    ///
    /// Requests that come later fail, and those that wait for a lookup. Without this call all of it happens when the
    /// client goes.
    public func shutdown() {
      isShutDown = true
      for client in clients.values { client.retire() }
      clients = [:]
    }

    // MARK: One hop

    private func send(
      _ request: HTTPClientRequest, to url: WebURL, until deadline: NIODeadline
    ) async throws -> HTTPClientResponse {
      let origin = Origin(url)
      // A lookup alone tells a name to whoever answers for it.
      try policy.check(url.host)
      let found = try await resolver.resolve(url.host, options: lookup(until: deadline)).addresses
      let (addresses, fields) = try rewrite(request, to: url, using: found)
      let sent = try request.carrying(fields).naming(url)
      // The password must not get into the head, which may be logged; a redirect takes it from the request's URL. Any
      // address of the answer stands for the name, one that must not be connected to as well.
      let restorer = ResponseRestorer(originalURL: try WebURL(url.text(userInfo: false)), addresses: found)
      var rest = addresses
      // Connections that are established, or come about for another request, are better than the best address.
      if let known = clients[origin], known.isAlive, let index = rest.firstIndex(of: known.address) {
        rest.insert(rest.remove(at: index), at: 0)
      }
      var first: (any Error)?
      for (index, address) in rest.enumerated() {
        let left = deadline - .now()
        guard left > .nanoseconds(0) else { break }
        let usual = configuration.timeout.connect ?? Self.usualConnectTime
        let time =
          rest.count == 1
          ? usual : Self.connectTime(left: left, addresses: rest.count - index, attempt: min(attemptTimeout, usual))
        let pinned = try client(for: origin, at: address, connectingWithin: time)
        let use = pinned.begin()
        do {
          var response = try await pinned.client.execute(sent, deadline: deadline)
          response.restore(by: restorer, request)
          return response.holding(use)
        } catch {
          // One without a connection would have the next request wait for the very attempt that this one gave up.
          if error.isOfAddress || !pinned.isConnected { forget(pinned, of: origin) }
          guard error.isOfAddress else { throw error }
          resolver.report(.failed, for: address)
          first = first ?? error
        }
      }
      throw first ?? HTTPClientError.deadlineExceeded
    }

    /// The addresses that the policy allows, and the fields that the origin gets: one rule with every other client.
    private func rewrite(
      _ request: HTTPClientRequest, to url: WebURL, using found: AddressList
    ) throws -> (addresses: [IPAddress], fields: HTTPFields) {
      let head = request.head(to: url)
      switch RequestRewriter(form: .pinned, policy: policy).rewrite(head, using: found) {
      case .direct(let direct): return (direct.addresses, direct.request.headerFields)
      // An address's URL: there is no name to put back later, and the fields are for an origin all the same.
      case .bypassed:
        var fields = head.headerFields.forOrigin(of: url)
        fields[.originalURL] = nil
        return (try policy.allowed(found, for: url.host), fields)
      case .refused(let error): throw error
      }
    }

    /// What a lookup may take of the time that is left.
    private func lookup(until deadline: NIODeadline) throws -> LookupOptions {
      guard !isShutDown else { throw HTTPClientError.alreadyShutdown }
      let left = Duration.nanoseconds((deadline - .now()).nanoseconds)
      guard left > .zero else { throw HTTPClientError.deadlineExceeded }
      return LookupOptions(timeout: min(left, resolver.configuration.timeout))
    }

    /// AsyncHTTPClient's own.
    private static let usualConnectTime = TimeAmount.seconds(10)

    /// How long connecting to an address may take while others wait: no longer than its share of the time that is left.
    ///
    /// In tenths of what an attempt may take, since a client has one such time for good: requests that have about as
    /// much time left share a client.
    static func connectTime(left: TimeAmount, addresses: Int, attempt: TimeAmount) -> TimeAmount {
      let share = left.nanoseconds / Int64(addresses)
      guard share < attempt.nanoseconds else { return attempt }
      let tenth = max(1, attempt.nanoseconds / 10)
      return .nanoseconds(share < tenth ? share : share / tenth * tenth)
    }

    /// The client that the origin has at that address, or a new one.
    private func client(
      for origin: Origin, at address: IPAddress, connectingWithin time: TimeAmount
    ) throws -> PinnedClient {
      // It may have been shut down while the lookup or another address was waited for.
      guard !isShutDown else { throw HTTPClientError.alreadyShutdown }
      if let known = clients[origin], known.address == address, known.isUsable(connectingWithin: time) {
        known.used = .now()
        return known
      }
      var configuration = configuration
      configuration.timeout.connect = time
      let connections = OpenConnections()
      connections.count(in: &configuration)
      if case .name = origin.host {
        let name = try HostName(origin.host)
        configuration.dnsOverride = [name.text: address.description]
        if origin.scheme.isSecure { ServerName(name).require(of: &configuration) }
      }
      // SwiftNIO everywhere: on macOS the default is Network.framework, whose certificates cannot be looked at.
      let client = HTTPClient(eventLoopGroup: MultiThreadedEventLoopGroup.singleton, configuration: configuration)
      let pinned = PinnedClient(address: address, connectTime: time, client: client, connections: connections)
      clients.updateValue(pinned, forKey: origin)?.retire()
      if clients.count > Self.originLimit, let idle = clients.min(by: { $0.value.used < $1.value.used }) {
        clients.removeValue(forKey: idle.key)?.retire()
      }
      return pinned
    }

    private func forget(_ pinned: PinnedClient, of origin: Origin) {
      if clients[origin] === pinned { clients[origin] = nil }
      pinned.retire()
    }
  }
#endif
