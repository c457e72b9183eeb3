// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import NIOCore

/// A client's requests: their heads, the user, and where they go.
extension ClientHandler {
  /// Reads a head, and starts its request.
  ///
  /// - Returns: whether there is more to be read.
  func readHead() -> Bool {
    guard case .head(let since) = state, let first: UInt8 = buffered.getInteger(at: buffered.readerIndex) else {
      return false
    }
    if since == nil {
      takeSettings()
      // Only at the first byte of a connection: after a request, an HTTP intermediary would not notice the other
      // protocol.
      if first == 4 || first == 5, !speaksHTTP {
        state = .socks(SOCKSHandshake(wantsUser: settings.configuration.users != nil), since: .now())
        return true
      }
      speaksHTTP = true
      switch first {
      // Empty lines before a request, as old clients send them after a body (RFC 9112 §2.2).
      case 0x0d where buffered.readableBytes == 1: return false
      case 0x0d where buffered.getInteger(at: buffered.readerIndex + 1, as: UInt8.self) == 0x0a:
        buffered.moveReaderIndex(forwardBy: 2)
        return true
      default:
        lastActivity = .now()
        state = .head(since: lastActivity)
      }
    }
    let (limits, bytes) = (settings.limits, buffered)
    var read: MessageHead?
    do throws(MessageFault) {
      guard first.isTokenByte else {
        throw .malformed(
          first == 0x16 ? "this port takes no TLS: use http:// for the proxy's own URL" : "this is not an HTTP request")
      }
      read = try buffered.readHead(
        .request, searched: &searched, size: limits.headSize, fieldLimit: limits.fieldCount)
      guard let head = read else { return false }
      let framing = try BodyFraming.of(request: head)
      begin(head, framing, try ForwardTarget.of(checked(head)))
      return true
    } catch {
      searched = 0
      refuse(ProxyRefusal(request: error), nil, head: read, mayBeConnect: bytes.beginsConnect)
      return false
    }
  }

  /// Checks that there is one `Host`, and that it is valid (RFC 9112 §3.2).
  private func checked(_ head: MessageHead) throws(MessageFault) -> MessageHead {
    let hosts = head.values(.host)
    guard hosts.count <= 1 else { throw .malformed("it has Host more than once") }
    guard let host = hosts.first else {
      guard case .request(let method, _) = head.start else { return head }
      // Some clients leave it out of CONNECT, whose target names the host.
      guard head.minorVersion == 0 || head.bytes.span.extracting(method).isEqual("CONNECT") else {
        throw .malformed("it has no Host")
      }
      return head
    }
    let bytes = head.bytes.span.extracting(host)
    guard !bytes.isEmpty else { return head }
    do throws(DirectDNSError) { _ = try WebURL.HostAndPort(bytes) } catch {
      throw .malformed("its Host is invalid: \(error.clause)")
    }
    return head
  }

  private func begin(_ head: MessageHead, _ framing: BodyFraming, _ target: ForwardTarget) {
    guard case .request(let method, _) = head.start else { return }
    let request = ClientRequest(head, framing, method: head.text(method), target, began: headBegan ?? .now())
    if case .own(let path) = target { return path == "*" ? answerOptions(request) : serveOwn(path, request) }
    guard let users = settings.configuration.users else { return start(request) }
    authenticate(request, users)
  }

  func start(_ request: ClientRequest, user: String? = nil) {
    // First, so that whatever it is answered with, its record tells of its user.
    request.user = user
    guard !request.via.isLoop(at: loop.shared.mark) else {
      return refuse(
        ProxyRefusal(
          403, "proxy_loop_detected",
          "This request loops: this proxy and another one send it to each other. Remove --upstream from one of them."
        ), request)
    }
    switch request.target {
    case .own: break
    case .authority(let origin): connect(request, to: origin)
    case .absolute(let origin, let path, _):
      guard request.method != "TRACE" else {
        return refuse(
          ProxyRefusal(405, "http_request_denied", "TRACE is refused: it would show what a request holds."), request)
      }
      switch MaxForwards(request.head, method: request.method) {
      case .end: return answerOptions(request)
      case .forward(let count): request.maxForwards = count
      case .unlimited: break
      }
      let exchange = Exchange(self, request, origin, path: path)
      state = .exchange(exchange)
      exchange.start()
    }
  }

  /// Answers OPTIONS that may not be forwarded (RFC 9110 §7.6.2), or is about the proxy itself (RFC 9112 §3.2.4).
  private func answerOptions(_ request: ClientRequest) {
    respond(
      200, "Allow: \(ProxyRefusal.allowedMethods)\r\n", body: "", request, access(.http, request.origin, request))
  }

  // MARK: Tunnels

  private func connect(_ request: ClientRequest, to origin: ForwardOrigin) {
    guard request.framing == .none else {
      return refuse(
        ProxyRefusal(400, "http_request_error", "CONNECT has no body: send it after the response.", closes: true),
        request)
    }
    let access = access(.connect, origin, request)
    let goesOn = { [self] in keeps(request) }
    open(origin, access, request.via, began: request.began) { [self] outcome in
      switch outcome {
      case .success: ByteBuffer(string: "HTTP/1.1 200 Connection established\r\n\r\n")
      case .failure(let refusal):
        ByteBuffer(string: refusal.response(as: .none, closes: !goesOn(), date: loop.date).head)
      }
    } refused: {
      goesOn()
    }
  }

  /// Whether the connection stays open after a request.
  func keeps(_ request: ClientRequest) -> Bool {
    // A client of HTTP/1.0 may be a proxy that passes `Connection` on without understanding it, and waits for the end
    // (RFC 9112 §9.3). Bytes after CONNECT were meant for the tunnel, and are not a request.
    request.head.minorVersion == 1 && request.head.keepsConnection && !loop.isDraining
      && !(request.isConnect && buffered.readableBytes > 0)
  }

  /// Makes a record for the access log, and begins its span.
  func access(
    _ kind: ProxyAccess.Kind, _ origin: ForwardOrigin?, _ request: ClientRequest? = nil, isProbe: Bool = false
  ) -> ProxyAccess {
    // The text is made only if there is an access log.
    let isRead = settings.configuration.accessLog != nil
    var access = ProxyAccess(
      kind, method: request?.method ?? "", client: address, origin: isRead ? origin.map { "\($0)" } : nil)
    if let request {
      access.httpVersion = request.head.minorVersion == 1 ? "1.1" : "1.0"
      access.user = request.user
      access.path = request.path
    }
    access.isProbe = isProbe
    loop.shared.telemetry.begin(&access, to: origin, request?.head)
    return access
  }

  /// Opens a tunnel.
  ///
  /// - Parameters:
  ///   - origin: where to.
  ///   - access: its record for the access log.
  ///   - via: the proxies that the client's request has come through.
  ///   - began: when it was asked for.
  ///   - answer: makes the response to the client.
  ///   - refused: whether the connection stays open if there is no tunnel.
  func open(
    _ origin: ForwardOrigin, _ access: ProxyAccess, _ via: ProxyVia, began: NIODeadline,
    answer: @escaping (Result<Void, ProxyRefusal>) -> ByteBuffer, refused: @escaping () -> Bool
  ) {
    var access = access
    let fail = { [self] (refusal: ProxyRefusal, access: ProxyAccess) in
      var access = access
      access.status = refusal.status
      access.error = refusal.error
      settings.ended(access, since: began, loop.shared.telemetry)
      write(answer(.failure(refusal)))
      flush()
      guard !isGone else { return }
      guard refused() else { return linger() }
      state = .head(since: nil)
      processInput()
      resume()
    }
    let slot: TunnelSlot
    do throws(ProxyRefusal) { slot = try TunnelSlot(loop, settings.limits) } catch { return fail(error, access) }
    let pending = PendingTunnel(access, began: began, slot)
    let start = NIODeadline.now()
    state = .connecting(pending)
    pending.start(origin, loop, settings, via: via) { [self] outcome in
      guard case .connecting = state else {
        if case .connected(let handler) = outcome { handler.close() }
        return
      }
      access.connect = Duration(.now() - start)
      switch outcome {
      case .connected(let handler):
        access.status = 200
        access.address = handler.address
        if case .tunnel(let upstream) = handler.hop { access.upstream = upstream }
        write(answer(.success(())))
        beginTunnel(Tunnel(self, handler, access, began: began, slot), early: handler.beginTunnel(for: self))
      case .failed(let refusal):
        slot.leave()
        fail(refusal, access)
      }
    }
  }
}
