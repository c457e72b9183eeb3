// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import NIOCore

/// A request in the clear and its response (RFC 9110 §7.6): finds its route, and passes both on.
final class Exchange {
  enum Stage {
    case routing
    case dialing
    /// The request is going out, and the response is awaited or coming.
    case passing(OriginHandler)
    case over
  }

  // It belongs to the client's handler, which abandons it before it goes.
  unowned let client: ClientHandler
  let request: ClientRequest
  let origin: ForwardOrigin
  private let path: [UInt8]
  let settings: ProxySettings
  private let finder: RouteFinder
  private var connection: (any Connector)?
  var stage = Stage.routing
  private(set) var progress: BodyProgress
  var access: ProxyAccess
  private(set) var route = ChosenRoute(addresses: [])
  /// Whether the response's head has gone to the client.
  var hasResponse = false
  /// Whether all of the response has come, and the rest of the request still goes out.
  var isAnswered = false
  var closesClient = false
  /// Whether nothing but the end of its connection tells the client where the response ends.
  var endsByClose = false
  var keepsOrigin = false
  /// Whether an interim response has said that the origin's connection ends.
  var isLast = false
  var decodesChunks = false
  var lastActivity = NIODeadline.now()
  var began = NIODeadline.now()
  private let isUpgrade: Bool
  /// The slot of an `Upgrade` among the tunnels, taken before the origin can switch to another protocol.
  private(set) var slot: TunnelSlot?

  init(_ client: ClientHandler, _ request: ClientRequest, _ origin: ForwardOrigin, path: [UInt8]) {
    self.client = client
    self.request = request
    self.origin = origin
    self.path = path
    progress = request.progress
    isUpgrade = request.framing == .none && ForwardedHead.upgrade(request.head) != nil
    access = client.access(.http, origin, request)
    settings = client.settings
    finder = RouteFinder(to: origin, client.loop, client.settings, below: access.context)
  }

  var loop: ProxyLoop { client.loop }

  // MARK: Request

  func start() {
    if isUpgrade {
      do throws(ProxyRefusal) { slot = try TunnelSlot(loop, settings.limits) } catch { return refuse(error) }
    }
    finder.find { [self] outcome in
      guard case .routing = stage else { return }
      switch outcome {
      case .refused(let refusal): refuse(refusal)
      case .route(let route):
        self.route = route
        self.route.via = request.via
        let reuse: OriginPool.Reuse =
          request.canBeRetried ? .any : client.lastOrigin == origin ? .recent : .own
        if let kept = client.ownPool?.take(origin, self.route, hop, reuse)
          ?? loop.pool.take(origin, self.route, hop, reuse)
        {
          pass(to: kept)
        } else {
          connect()
        }
      }
    }
  }

  /// An `Upgrade` goes through a tunnel: few proxies pass it on.
  private var hop: ChosenRoute.Hop { route.hop(isPlain: !isUpgrade) }

  /// Sends the request, of which nothing is known to have been seen, to another address of the proxy that it goes to.
  func connectElsewhere(than address: IPAddress, _ refusal: ProxyRefusal) {
    route.closed = ([address], refusal)
    connect()
  }

  func connect() {
    stage = .dialing
    let connection = route.connection(to: origin, hop, loop, settings)
    self.connection = connection
    connection.start { [self] outcome in
      self.connection = nil
      access.connect = Duration(.now() - began)
      switch outcome {
      case .connected(let handler): pass(to: handler)
      case .failed(let refusal):
        refuse(isUpgrade ? refusal : route.advised(refusal, for: origin, loop.shared.resolver))
      }
    }
  }

  private func pass(to handler: OriginHandler) {
    stage = .passing(handler)
    isLast = false
    access.address = handler.address
    access.upstream = route.upstream
    lastActivity = .now()
    if request.head.authenticatesConnection { handler.isConnectionAuthenticated = true }
    handler.begin(for: client, isToHEAD: request.method == "HEAD", settings.limits)
    // It may have vanished while it was kept, which nothing but the lack of an answer tells.
    handler.limitSilence(to: handler.isReused && request.canBeRetried ? OriginHandler.silenceLimit : nil)
    var proxy: UpstreamProxy?
    var via = ProxyVia()
    if case .proxy(let upstream) = handler.hop { (proxy, via) = (upstream, route.via.adding(loop.shared.mark)) }
    handler.write(
      ByteBuffer(
        bytes: ForwardedHead.request(
          request.head, to: origin, path: path, authorization: request.authorization,
          maxForwards: request.maxForwards, upgrades: isUpgrade, through: proxy, via: via)))
    passRequest()
    handler.flush()
    handler.readEarly()
    // What came of it waits for this, such as that the client has stopped.
    client.processInput()
  }

  /// Passes on the part of the request's body that has come, as long as the origin can take it.
  func passRequest() {
    guard case .passing(let handler) = stage, !progress.isOver, handler.isWritable else { return }
    var buffer = client.buffered.takeRest()
    guard buffer.readableBytes > 0 else { return }
    lastActivity = .now()
    do throws(MessageFault) {
      // A write may report at once that the origin can take no more, and `progress` cannot be asked for meanwhile.
      try client.holdingInput { () throws(MessageFault) in
        _ = try progress.pass(&buffer) { handler.write($0) }
      }
    } catch {
      guard !isAnswered else { return cutOff("http_request_error") }
      // The origin has a part of a request, which it must not take for a complete one.
      handler.reset()
      guard hasResponse else { return refuse(ProxyRefusal(request: error)) }
      stage = .over
      end("http_request_error")
      return client.reset()
    }
    client.requeue(buffer)
    client.resume()
    finishIfSent()
  }

  /// The client has stopped sending, and the origin is told so once it has the whole request: as without a proxy, it
  /// decides whether to go on for a client that may be gone.
  ///
  /// - Returns: whether the request goes on.
  func clientStopped() -> Bool {
    // Before it is sent, only an idempotent request goes on: the client may have given up, and ask somebody else.
    guard case .passing(let handler) = stage else { return request.isIdempotent }
    guard progress.isOver else { return client.buffered.readableBytes > 0 }
    handler.finishSending()
    return true
  }

  func flush() { if case .passing(let handler) = stage { handler.flush() } }

  func clientCanTakeMore() {
    lastActivity = .now()
    if case .passing(let handler) = stage { handler.resume() }
  }

  // MARK: End

  func timePassed(_ now: NIODeadline, _ limits: ProxyLimits) {
    // If the client reads slowly, the origin waits for it, and not the other way round.
    let silence = client.canTakeMore ? limits.responseTimeout : limits.tunnelTimeout
    let limit = client.hasStopped ? min(silence, limits.halfClosedTimeout) : silence
    guard case .passing(let handler) = stage else { return }
    handler.lookAtWrites(now)
    guard now - max(lastActivity, client.writes.last, handler.writes.last) > TimeAmount(limit) else { return }
    guard !isAnswered else {
      let isSent = !progress.isOver && handler.isWritable
      return cutOff(isSent ? "connection_read_timeout" : "connection_write_timeout")
    }
    leave(handler)
    stage = .over
    guard !hasResponse else {
      end(client.canTakeMore ? "connection_read_timeout" : "connection_write_timeout")
      return client.reset()
    }
    // A client that waits for 100 Continue waits for the origin.
    let isClientLate =
      !progress.isOver && handler.isWritable && (progress.passed > 0 || !request.awaitsContinue)
    refuse(
      isClientLate
        ? ProxyRefusal(408, nil, "The request's body did not come in time.", closes: true)
        : ProxyRefusal(504, "connection_read_timeout", "\(sender(on: handler)) has not answered in time."))
  }

  /// Whose responses come by a connection, in words: of a proxy that is sent whole URLs only its own failures are seen.
  func sender(on handler: OriginHandler) -> String {
    if case .proxy(let upstream) = handler.hop { "The upstream proxy \(upstream)" } else { "\(origin)" }
  }

  /// Ends the request of a client that is gone.
  func abandon() {
    finder.cancel()
    connection?.cancel()
    connection = nil
    if case .passing(let handler) = stage { isAnswered ? leave(handler) : handler.reset() }
    if case .over = stage { return }
    stage = .over
    end("connection_terminated")
  }

  /// Sends a refusal in place of a response, and goes on with the next request if possible.
  func refuse(_ refusal: ProxyRefusal) {
    stage = .over
    slot?.leave()
    access.received = progress.dataCount
    client.refuse(refusal, request, access, progress)
    // The next request, or this one's body, may be there already.
    client.processInput()
    client.resume()
  }

  func end(_ error: String?) {
    slot?.leave()
    access.error = error
    access.received = progress.dataCount
    settings.ended(access, since: request.began, loop.shared.telemetry)
  }
}
