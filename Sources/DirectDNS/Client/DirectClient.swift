// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes
internal import Logging
public import ServiceLifecycle

/// An HTTP client that finds its own addresses: requests go out while DNS is dead, and never where they must not.
///
/// Each request's host is resolved by a ``DirectResolver``, every address is judged by the ``AddressPolicy``, and connections
/// are raced over those that are left (RFC 8305). `Host`, certificate check, cookies and redirects stay on the name.
/// <doc:Requests> tells how to use it, <doc:Failover> what happens when something is broken.
///
/// A client is safe for concurrent use and keeps its connections: make one and share it. One that is dropped ends its
/// connections and its threads once the bodies that are still being read have ended.
public final class DirectClient: Sendable {
  /// What it resolves names by.
  public let resolver: DirectResolver
  let current: Locked<ClientSettings>
  let loops: [Loop<CurlTransfers>]
  let inFlight: InFlight
  /// What each transfer calls at its end.
  let leave: @Sendable () -> Void
  let telemetry: ClientTelemetry
  let logger = Logger(label: "directdns.client")
  private let ownsResolver: Bool

  /// Runs tasks on the thread that carries the client's requests: the first one, where there are several.
  ///
  /// A task that sends request after request, and does little with each, goes faster there: nothing switches to another
  /// thread and back for a response. While such a task computes, no request of the client goes on, so that work of more
  /// than some microseconds belongs elsewhere, and whatever blocks.
  ///
  ///     await withTaskExecutorPreference(client.executor) { … }
  ///
  /// Once the client has ended, tasks run on the shared pool again.
  public var executor: any TaskExecutor { loops[0].executor }

  /// Creates a client.
  ///
  /// - Parameters:
  ///   - configuration: how it behaves; by default it sends to public addresses only.
  ///   - resolver: what it resolves names by; a resolver of the default providers, which ends with the client, if there
  ///     is none.
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

  /// Sends a request, and follows where it is redirected to.
  ///
  /// <doc:Requests> says which header fields are added to the request's own.
  ///
  /// - Parameters:
  ///   - request: method, URL and header fields; see `HTTPRequest.init(method:url:headerFields:)`. Fields go out as they
  ///     are.
  ///   - body: what is sent; nothing by default.
  ///   - options: what this request wants other than the client does.
  /// - Returns: the response, as soon as its head has come; whatever its status is.
  /// - Throws: why there is no response: `connectFailed`, `tlsFailed`, `connectionLost`, `timedOut`,
  ///   `addressForbidden`, what ``DirectResolver/resolve(_:options:)-(HostName,_)`` and
  ///   ``Redirect/next(after:to:body:hops:configuration:)`` throw, and others.
  nonisolated(nonsending) public func execute(
    _ request: HTTPRequest, body: RequestBody = .none, options: RequestOptions = RequestOptions()
  ) async throws(DirectDNSError) -> DirectResponse {
    try await execute(ClientRequest(request), body, options)
  }

  nonisolated(nonsending) func execute(
    _ request: ClientRequest, _ body: RequestBody, _ options: RequestOptions
  ) async throws(DirectDNSError) -> DirectResponse {
    guard inFlight.enter() else { throw DirectDNSError(.shutDown, "the client was shut down") }
    defer { inFlight.leave() }
    if let timeouts = options.timeouts { try timeouts.validate() }
    return try await follow(request, body, Call(options, settings))
  }

  /// What holds for all hops of a request.
  struct Call: Sendable {
    let options: RequestOptions
    /// What holds for the hop; renewed for each.
    var settings: ClientSettings
    let timeouts: RequestTimeouts
    let redirects: RedirectConfiguration?
    /// Whether the hop goes to the origin that the caller named, with no other one before it.
    var showsIdentity: Bool
    let began: ResolverInstant
    /// By the loops' time.
    let deadline: Int64

    init(_ options: RequestOptions, _ settings: ClientSettings) {
      self.options = options
      self.settings = settings
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
      deadline = LoopTime.milliseconds(began) + timeouts.whole.wholeMilliseconds
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
      let response = try await send(request, body, call, hop: hops.count)
      if let cookies = call.settings.configuration.cookies, response.maySetCookie {
        cookies.store(
          setCookie: response.headerFields.cookies, for: response.url,
          hostField: request.fields[.hostField],
          staysOnMachine: response.connection.remoteAddress?.isLoopback ?? false)
      }
      guard let rules = call.redirects, let next = try redirect(after: response, request, body, hops.count, rules)
      else { return hops.isEmpty ? response : response.following(hops) }
      response.body.discard()
      hops.append(
        DirectResponse.Hop(
          method: request.method, url: response.url, head: response.head, connection: response.connection))
      call.options.observer?(.redirected(status: response.status.code, to: next.url))
      request = ClientRequest(next)
      if !next.keepsBody { body = .none }
      if next.crossesOrigin { call.showsIdentity = false }
      call.settings = settings
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
      throw error
    }
  }

  /// Says that the machine is on another network: connections that no request uses are ended, and the resolver is told
  /// as well.
  ///
  /// One that carries requests goes on, and is used again while it stands.
  public func networkDidChange() {
    resolver.networkDidChange()
    for loop in loops { _ = loop.post(.closeIdle(nil)) }
  }

  /// Ends the client: new requests are refused, those under way finish or are cancelled when the time is over, or when the
  /// task that waits for them is cancelled.
  ///
  /// - Parameter limit: how long those under way may take; 30 s by default.
  public func shutdown(within limit: Duration = .seconds(30)) async {
    inFlight.close()
    await inFlight.drained(within: limit)
    for loop in loops { loop.stop() }
    if ownsResolver { resolver.shutdown() }
  }

  /// Whether it was shut down, be requests still under way.
  package var hasEnded: Bool { inFlight.hasEnded }

  /// The old name of ``shutdown(within:)``.
  @available(*, deprecated, renamed: "shutdown(within:)")
  public func shutDown(within limit: Duration = .seconds(30)) async { await shutdown(within: limit) }
}

extension DirectClient: Service {
  /// Waits for the graceful shutdown of its service group, and ends the client then.
  ///
  /// Requests under way finish within 30 s, or within the group's own limit if that is shorter, and are ended when its task
  /// is cancelled. Put the services that
  /// use the client after it: a group shuts down in reverse order.
  public func run() async throws {
    try? await gracefulShutdown()
    await shutdown()
  }
}
