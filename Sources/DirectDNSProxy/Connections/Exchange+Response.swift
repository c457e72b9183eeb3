// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import NIOCore

/// The origin's response, and what is done with it.
extension Exchange {
  /// An interim response (RFC 9110 §15.2); HTTP/1.0 knows none.
  func originInformed(_ head: MessageHead) {
    lastActivity = .now()
    // Privoxy says so in an interim response alone, and reads nothing more behind the final one.
    if !head.keepsConnection { isLast = true }
    guard request.head.minorVersion == 1 else { return }
    client.write(ByteBuffer(bytes: ForwardedHead.response(head)))
  }

  func originAnswered(_ head: MessageHead, status: Int, _ framing: BodyFraming) {
    if status == 407, case .passing(let handler) = stage {
      leave(handler)
      // The client's password, if it has one, is for this proxy.
      if case .proxy(let upstream) = handler.hop { return refuse(upstream.credentialsRefusal(by: head)) }
      // Only a proxy may send 407: the client would think that this one asks, and for the origin's realm (RFC 9110
      // §11.7.1).
      return refuse(
        ProxyRefusal(
          502, "http_protocol_error",
          "\(origin) answered as only a proxy may, by 407: it wants a password for itself by 401."))
    }
    if request.head.minorVersion == 0, framing == .untilClose, head.contains(.transferEncoding),
      case .passing(let handler) = stage
    {
      // HTTP/1.0 has no transfer codings (RFC 9112 §6.1), and this proxy cannot decode this one.
      leave(handler)
      return refuse(ProxyRefusal(response: .coding, from: sender(on: handler)))
    }
    if head.authenticatesConnection, case .passing(let handler) = stage { handler.isConnectionAuthenticated = true }
    hasResponse = true
    lastActivity = .now()
    access.status = status
    decodesChunks = request.head.minorVersion == 0 && framing == .chunked
    endsByClose = framing == .untilClose || decodesChunks
    let staysOpen = !isLast && head.keepsConnection
    closesClient =
      !client.keeps(request) || framing == .untilClose
      || !progress.isOver && !(Self.wantsRest(status) && staysOpen)
    client.write(
      ByteBuffer(
        bytes: ForwardedHead.response(
          head, closes: closesClient, isDecoded: request.head.minorVersion == 0, date: loop.date)))
    // A response that cannot have a body, but announces one, may still send it. It would be taken for the next
    // response.
    let announcesBody =
      head.contains(.transferEncoding)
      || status == 204 && head.contains(.contentLength) && !head.has("0", in: .contentLength)
    keepsOrigin = head.minorVersion == 1 && staysOpen && !(BodyFraming.isBodiless(status) && announcesBody)
  }

  /// Parts of the response's body were passed on; it has so many bytes by now.
  func originPassed(_ count: Int) {
    lastActivity = .now()
    access.sent = count
  }

  func originFinished() {
    guard case .passing(let handler) = stage else { return }
    sendsOn(to: handler) ? sendOn() : finish(handler)
  }

  /// Ends the request, and waits for the client's next one.
  func finish(_ handler: OriginHandler) {
    stage = .over
    if handler.canBeReused, keepsOrigin, progress.isOver, !loop.isDraining {
      client.pool(for: handler).put(handler, for: origin, settings.limits)
    } else {
      leave(handler)
    }
    client.flush()
    client.whenWrittenOut { [self] error in end(error) }
    guard !client.isGone else { return }
    guard !closesClient else { return client.linger() }
    client.lastOrigin = origin
    client.awaitRequest()
  }

  /// The connection carries another protocol from now on.
  func originSwitched(_ head: MessageHead, _ rest: ByteBuffer) {
    guard case .passing(let handler) = stage else { return }
    guard let slot else {
      handler.reset()
      return refuse(
        ProxyRefusal(502, "http_protocol_error", "\(origin) switched protocols without being asked to.", closes: true))
    }
    stage = .over
    handler.limitSilence(to: nil)
    client.write(ByteBuffer(bytes: ForwardedHead.response(head)))
    access.kind = .upgrade
    access.status = 101
    client.beginTunnel(Tunnel(client, handler, access, began: request.began, slot), early: rest)
  }

  /// There is no valid response; `fault` says what is wrong with the one that came, if any.
  func originFailed(_ fault: MessageFault?) {
    guard case .passing(let handler) = stage else { return }
    // If the origin was told that the client has stopped sending, it may have closed for that reason.
    let canRetry =
      fault == nil && handler.isReused && !handler.hasAnswered && !handler.hasFinishedSending && request.canBeRetried
    leave(handler)
    guard !canRetry else {
      // The server closed a connection that it had kept, as it may at any time (RFC 9112 §9.3.1).
      loop.shared.telemetry.retried()
      began = .now()
      return connect()
    }
    let refusal =
      fault.map { ProxyRefusal(response: $0, from: sender(on: handler)) }
      ?? ProxyRefusal(
        502, "connection_terminated", "\(sender(on: handler)) closed the connection without a response.")
    // As in the handshake of a tunnel, the other proxy may be gone at that address alone.
    if case .proxy(let upstream) = handler.hop, case .name = upstream.host, fault == nil,
      route.closed.addresses.isEmpty, !handler.hasAnswered, !handler.hasFinishedSending, request.canBeRetried
    {
      began = .now()
      return connectElsewhere(than: handler.address, refusal)
    }
    stage = .over
    refuse(refusal)
  }

  /// The response broke off after its head.
  func broke() {
    if case .passing(let handler) = stage { leave(handler) }
    stage = .over
    end("http_response_incomplete")
  }
}
