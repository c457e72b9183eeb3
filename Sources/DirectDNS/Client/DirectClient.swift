// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes
internal import Logging
public import ServiceLifecycle

/// An HTTP client with a resolver of its own: it works while DNS is dead, and never connects to forbidden addresses.
///
/// It resolves each request's host by a ``DirectResolver``, judges every address by the ``AddressPolicy``, and races
/// connections to those that are left (RFC 8305). `Host`, certificate check, cookies and redirects go by the name.
/// <doc:Requests> describes how to use it, <doc:Failover> what happens when something is broken.
///
/// A client is safe for concurrent use and keeps its connections: make one, and share it. When the last reference is
/// dropped, its connections and threads end, after the bodies that are still being read.
public final class DirectClient: Sendable {
  /// The resolver of its names.
  public let resolver: DirectResolver
  let current: Locked<ClientSettings>
  let loops: [Loop<CurlTransfers>]
  let inFlight: InFlight
  /// Called at the end of each transfer; made once, since a closure for each would be an allocation.
  let leave: @Sendable () -> Void
  let telemetry: ClientTelemetry
  let logger = Logger(label: "directdns.client")
  private let ownsResolver: Bool

  /// Runs tasks on the thread that carries the client's requests, or on the first one if there are several.
  ///
  /// A task that sends many requests and does little with each response is faster there, since no response makes it
  /// switch threads. But while such a task computes, none of the client's requests makes progress: anything that takes
  /// more than some microseconds, or blocks, must run elsewhere.
  ///
  ///     await withTaskExecutorPreference(client.executor) { … }
  ///
  /// Once the client has ended, tasks run on the shared pool again.
  public var executor: any TaskExecutor { loops[0].executor }

  /// Creates a client.
  ///
  /// - Parameters:
  ///   - configuration: how it behaves; by default it connects to public addresses only.
  ///   - resolver: the resolver of its names; by default one with the default providers, which ends with the client.
  /// - Throws: an error of code ``DirectDNSError/Code/invalidConfiguration`` that names the value that is wrong.
  public convenience init(
    _ configuration: DirectClientConfiguration = DirectClientConfiguration(), resolver: DirectResolver? = nil
  ) throws(DirectDNSError) {
    try self.init(configuration, resolver: resolver, telemetry: ClientTelemetry())
  }

  init(
    _ configuration: DirectClientConfiguration, resolver: DirectResolver?, telemetry: ClientTelemetry
  ) throws(DirectDNSError) {
    current = Locked(try ClientSettings(configuration))
    let inFlight = InFlight()
    self.inFlight = inFlight
    leave = { inFlight.leave() }
    self.telemetry = telemetry
    ownsResolver = resolver == nil
    if let resolver { self.resolver = resolver } else { self.resolver = try DirectResolver() }
    let settings = try CurlTransferSettings(configuration)
    loops = (0..<configuration.threads).map { _ in Loop(settings) }
  }

  deinit { if ownsResolver { resolver.shutdown() } }

  /// Sends a request, and follows redirects.
  ///
  /// <doc:Requests> says which header fields are added to the request's own.
  ///
  /// - Parameters:
  ///   - request: method, URL and header fields; see `HTTPRequest.init(method:url:headerFields:)`. Fields are sent as
  ///     they are.
  ///   - body: the body; by default none.
  ///   - options: options of this request, which override the client's configuration.
  /// - Returns: the response, whatever its status, as soon as its head has come.
  /// - Throws: why there is no response: `connectFailed`, `tlsFailed`, `connectionLost`, `malformedResponse`,
  ///   `fieldsTooLarge`, `timedOut`, `addressForbidden`, `bodyFailed` or the error of the body's own, `cancelled`,
  ///   `shutDown`; `invalidURL`, `invalidName` or `invalidRequest` for what cannot be sent, or has options that it
  ///   cannot be sent with; and what
  ///   ``DirectResolver/resolve(_:options:)-(HostName,_)`` and
  ///   ``Redirect/next(after:to:body:hops:configuration:)`` throw.
  nonisolated(nonsending) public func execute(
    _ request: HTTPRequest, body: RequestBody = .none, options: RequestOptions = RequestOptions()
  ) async throws(DirectDNSError) -> DirectResponse {
    try await execute(ClientRequest(request), body, options)
  }

  nonisolated(nonsending) func execute(
    _ request: ClientRequest, _ body: RequestBody, _ options: RequestOptions
  ) async throws(DirectDNSError) -> DirectResponse {
    guard inFlight.enter() else { throw DirectDNSError(.shutDown, "The client was shut down.") }
    defer { inFlight.leave() }
    if let timeouts = options.timeouts { try timeouts.validate(.invalidRequest) }
    return try await follow(request, body, Call(options, settings))
  }

  /// What all hops of a request have in common.
  struct Call: Sendable {
    let options: RequestOptions
    /// The settings of the present hop.
    var settings: ClientSettings
    let timeouts: RequestTimeouts
    let redirects: RedirectConfiguration?
    /// Whether the client's certificate may be shown: not once a redirect has led to another origin.
    var showsIdentity: Bool
    let began: ResolverInstant
    /// When the whole request must have ended, by the loops' clock.
    let deadline: Int64

    init(_ options: RequestOptions, _ settings: ClientSettings) {
      self.options = options
      self.settings = settings.adjusted(by: options)
      let configuration = settings.configuration
      timeouts = options.timeouts ?? configuration.timeouts
      showsIdentity = options.showsIdentity
      redirects =
        switch options.redirects {
        case .asConfigured: configuration.redirects
        case .followed(let rules): rules
        case .returned: nil
        }
      began = SystemClock().now
      deadline = LoopTime.milliseconds(began) + timeouts.total.wholeMilliseconds
    }
  }

  nonisolated(nonsending) private func follow(
    _ first: ClientRequest, _ firstBody: RequestBody, _ firstCall: Call
  ) async throws(DirectDNSError) -> DirectResponse {
    var call = firstCall
    var request = first
    var body = firstBody
    var hops: [DirectResponse.Hop] = []
    while true {
      let response: DirectResponse
      do throws(DirectDNSError) { response = try await send(request, body, call, hop: hops.count) } catch {
        // A server has answered the first hop.
        throw hops.isEmpty ? error : error.reachingServer
      }
      if let cookies = call.settings.configuration.cookies, response.maySetCookie {
        cookies.store(
          setCookie: response.headerFields.cookies, for: response.url,
          hostField: request.fields[.hostField],
          staysOnMachine: response.connection.remoteAddress?.isLoopback ?? false)
      }
      guard let rules = call.redirects, let next = try redirect(after: response, request, body, hops.count, rules)
      else { return hops.isEmpty ? response : response.following(hops) }
      hops.append(
        DirectResponse.Hop(
          method: request.method, url: response.url, head: response.head, connection: response.connection))
      call.options.observer?(.redirected(status: response.status.code, to: next.url))
      await response.leave(for: next)
      request = ClientRequest(next)
      if !next.keepsBody { body = .none }
      if next.crossesOrigin { call.showsIdentity = false }
      call.settings = settings.adjusted(by: call.options)
    }
  }

  private func redirect(
    after response: DirectResponse, _ request: ClientRequest, _ body: RequestBody, _ hops: Int,
    _ rules: RedirectConfiguration
  ) throws(DirectDNSError) -> Redirect? {
    guard response.status.kind == .redirection else { return nil }
    do {
      return try Redirect.next(
        after: response.head, to: request.request, body: body.kind, hops: hops, configuration: rules)
    } catch {
      response.body.cancel()
      throw error.reachingServer
    }
  }

  /// Tells the client that the machine is on another network: it closes idle connections, and tells its resolver too.
  ///
  /// Connections that carry requests stay until these have ended; new requests open connections of their own.
  public func networkDidChange() {
    resolver.networkDidChange()
    for loop in loops { loop.tell(.closeIdle(nil)) }
  }

  /// Ends the client: new requests are refused, and those under way may finish.
  ///
  /// They are cancelled when the time is over, or when the task that calls this is cancelled. On return all connections
  /// are closed and the client's threads have ended, so that the process may exit.
  ///
  /// - Parameter limit: how long requests under way may take; 30 s by default.
  public func shutdown(within limit: Duration = .seconds(30)) async {
    inFlight.close()
    await inFlight.waitUntilEmpty(within: limit)
    // All are told before one is waited for: they end at the same time.
    for loop in loops { loop.stop() }
    if ownsResolver { resolver.shutdown() }
    for loop in loops { await loop.end() }
    if ownsResolver { await resolver.endTransport() }
  }

  /// Whether it was shut down; requests may still be under way.
  package var hasEnded: Bool { inFlight.isClosed }
}

extension DirectClient: Service {
  /// Waits for the graceful shutdown of its service group, and then ends the client.
  ///
  /// Requests under way have 30 s to finish, or as long as the group allows if that is less; they are cancelled when
  /// the group's task is. Put the services that use the client after it: a group shuts down in reverse order.
  ///
  /// - Throws: nothing, although the protocol allows it.
  public func run() async throws {
    try? await gracefulShutdown()
    await shutdown()
  }
}

extension CurlTransferSettings {
  /// The settings of each of a client's loops.
  init(_ configuration: DirectClientConfiguration) throws(DirectDNSError) {
    let identity = configuration.identity
    try identity?.check()
    self.init(
      trust: try configuration.trust.resolved(), certificate: identity?.certificate, key: identity?.key,
      keyPassword: identity?.password?.text, requiresTLS13: configuration.minimumTLS == .v13,
      limits: PoolLimits(
        connections: max(1, configuration.connections / configuration.threads),
        connectionsPerRoute: configuration.connectionsPerOrigin, streams: configuration.streamsPerConnection,
        attemptDelay: configuration.attemptDelay.wholeMilliseconds),
      bufferSize: configuration.bufferSize)
  }
}
