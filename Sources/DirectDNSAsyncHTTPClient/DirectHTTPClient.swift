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
    ///   - attemptTimeout: how long connecting to one address may take while there are others; by default a second. With
    ///     one address the time of `configuration` counts.
    ///   - configuration: everything else about the connections.
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
    ///
    /// - Parameters:
    ///   - request: the request. A body that a redirect wants once more (307, 308) is not sent twice: the response is
    ///     the redirect then.
    ///   - timeout: how long all of it may take, lookups and redirects included, until the response's head; default 30 s.
    /// - Returns: the response, whose body comes as it is read.
    /// - Throws: the lookup's error, `timedOut` where the time ends with it; `addressForbidden` and `invalidRequest` before anything is sent;
    ///   ``CertificateNameMismatch``; `tooManyRedirects` and `redirectRefused`; AsyncHTTPClient's errors, that of the first
    ///   address where all failed, `deadlineExceeded`, and `alreadyShutdown` after ``shutdown()``.
    public func execute(
      _ request: HTTPClientRequest, timeout: TimeAmount = .seconds(30)
    ) async throws -> HTTPClientResponse {
      let deadline = NIODeadline.now() + timeout
      var request = request
      var hops = 0
      while true {
        // One parser decides whom a URL names. `dnsOverride` knows a host in one spelling only, and any other would go
        // to the system's DNS.
        let url = try WebURL(request.url)
        request.url = url.rfc3986
        let response = try await send(request, to: url, until: deadline)
        guard let redirects, let next = try request.next(after: response, at: url, hops: hops, by: redirects) else {
          return response
        }
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
      let found = try await resolver.resolve(url.host, options: lookup(until: deadline)).addresses
      let (addresses, fields) = try rewrite(request, to: url, using: found)
      let sent = try request.carrying(fields).naming(url)
      var rest = addresses
      // Connections that stand are better than the best address.
      if let known = clients[origin], let index = rest.firstIndex(of: known.address) {
        rest.insert(rest.remove(at: index), at: 0)
      }
      var first: (any Error)?
      for address in rest {
        let pinned = try client(for: origin, at: address, isOnly: addresses.count == 1)
        let use = pinned.begin()
        do {
          var response = try await pinned.client.execute(sent, deadline: deadline)
          // Any address of the answer stands for the name, one that must not be connected to as well.
          response.restore(by: ResponseRestorer(originalURL: url, addresses: found), request)
          return response.holding(use)
        } catch let error where error.isOfAddress {
          resolver.report(address, .failed)
          if clients[origin] === pinned { clients[origin] = nil }
          pinned.retire()
          first = first ?? error
          // The time for all of it is not the address's fault.
          if NIODeadline.now() >= deadline { break }
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

    /// The client that the origin has at that address, or a new one.
    private func client(for origin: Origin, at address: IPAddress, isOnly: Bool) throws -> PinnedClient {
      // It may have been shut down while the lookup or another address was waited for.
      guard !isShutDown else { throw HTTPClientError.alreadyShutdown }
      if let known = clients[origin], known.address == address {
        known.used = .now()
        return known
      }
      var configuration = configuration
      if !isOnly {
        configuration.timeout.connect = min(attemptTimeout, configuration.timeout.connect ?? attemptTimeout)
      }
      if case .name = origin.host {
        let name = try HostName(origin.host)
        configuration.dnsOverride = [name.text: address.description]
        if origin.scheme.isSecure { ServerName(name).require(of: &configuration) }
      }
      // SwiftNIO everywhere: on macOS the default is Network.framework, whose certificates cannot be looked at.
      let client = HTTPClient(eventLoopGroup: MultiThreadedEventLoopGroup.singleton, configuration: configuration)
      let pinned = PinnedClient(address: address, client: client)
      clients.updateValue(pinned, forKey: origin)?.retire()
      if clients.count > Self.originLimit, let idle = clients.min(by: { $0.value.used < $1.value.used }) {
        clients.removeValue(forKey: idle.key)?.retire()
      }
      return pinned
    }
  }
#endif
