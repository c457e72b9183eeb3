// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import NIOCore

/// Carries bytes unchanged in both directions: CONNECT, SOCKS, and what a request switched to.
final class Tunnel {
  let origin: OriginHandler
  // It belongs to the client's handler, which ends it before it goes.
  private unowned let client: ClientHandler
  private var access: ProxyAccess
  private let began: NIODeadline
  private let slot: TunnelSlot
  private(set) var lastActivity = NIODeadline.now()
  private(set) var hasClientStopped = false
  private(set) var hasOriginStopped = false
  private var isEnded = false
  /// The bytes that were sent to the client and had not come when it stopped sending, and those since.
  private var sentSinceStop = 0
  /// Whether it has taken some of them.
  private var isStillRead = false
  /// The sides that still take what was sent to them, once it has ended.
  private var sidesLeft = 0

  init(
    _ client: ClientHandler, _ origin: OriginHandler, _ access: ProxyAccess, began: NIODeadline, _ slot: TunnelSlot
  ) {
    self.client = client
    self.origin = origin
    self.access = access
    self.began = began
    self.slot = slot
    client.loop.shared.telemetry.tunnels(1)
  }

  var isOver: Bool { hasClientStopped && hasOriginStopped }
  var isHalfOver: Bool { hasClientStopped || hasOriginStopped }

  func clientSent(_ buffer: ByteBuffer) {
    access.received += buffer.readableBytes
    origin.write(buffer)
  }

  func originSent(_ buffer: ByteBuffer) {
    lastActivity = .now()
    if hasClientStopped {
      lookAtClient()
      sentSinceStop += buffer.readableBytes
    }
    access.sent += buffer.readableBytes
  }

  /// The client has stopped sending: the origin is told so, and may still send.
  func clientStopped() {
    guard !hasClientStopped else { return }
    hasClientStopped = true
    // Its end acknowledges all that had come before (RFC 9293 §3.4).
    sentSinceStop = client.unsentBytes
    origin.finishSending()
    endIfOver()
  }

  /// Looks whether a client that has stopped sending still takes what comes: then it has ended one direction
  /// (shutdown(2)), and not both (close(2)).
  func lookAtClient() {
    guard hasClientStopped, !isStillRead else { return }
    isStillRead = client.unsentBytes < sentSinceStop
  }

  /// The connection of a client that has stopped sending has ended, and the origin's has not.
  func clientGone() {
    // That both sides have ended their data closes it, and the call that does so ends the tunnel.
    guard !isOver else { return }
    // A client that has closed its connection has all that it wanted. What still comes meets a reset, such as the last
    // record of TLS. At a Unix socket the kernel tells of that at once.
    guard !client.isAtUnixSocket, sentSinceStop == 0 || isStillRead else { return end(isBroken: false) }
    // As without a proxy, the origin sees the reset too, but only once it has everything: a reset takes the rest away.
    end(isBroken: origin.hasArrived, "connection_terminated")
  }

  func originStopped() {
    guard !hasOriginStopped else { return }
    hasOriginStopped = true
    client.finishSending()
    endIfOver()
  }

  private func endIfOver() {
    guard isOver else { return }
    // What was written last goes out before either connection closes.
    client.closeBehindWrites()
    end(isBroken: false)
  }

  /// Ends it, and reports that once, when both sides have been sent everything, or never will be.
  ///
  /// - Parameters:
  ///   - isBroken: whether the origin sees a reset.
  ///   - error: why it was cut off; nil if it ended by itself.
  func end(isBroken: Bool, _ error: String? = nil) {
    guard !isEnded else { return }
    isEnded = true
    access.error = error
    let (loop, settings) = (client.loop, client.settings)
    guard !isBroken, origin.hasUnwritten || client.hasUnwritten else {
      if isBroken { origin.reset() } else { origin.close() }
      return report(loop, settings)
    }
    // The client may be gone by then, and the proxy may be stopped before.
    loop.add(self)
    sidesLeft = 2
    let finish = { [self] (error: String?) in
      access.error = access.error ?? error
      sidesLeft -= 1
      guard sidesLeft == 0 else { return }
      loop.remove(self)
      report(loop, settings)
    }
    client.whenSentAll(finish)
    origin.close(finish)
  }

  private func report(_ loop: ProxyLoop, _ settings: ProxySettings) {
    slot.leave()
    loop.shared.telemetry.tunnels(-1)
    settings.ended(access, since: began, loop.shared.telemetry)
  }
}

/// A tunnel that is being connected.
final class PendingTunnel {
  /// Its record for the access log, if it is cancelled.
  private(set) var access: ProxyAccess
  let began: NIODeadline
  let slot: TunnelSlot
  private var finder: RouteFinder?
  private var connection: (any Connector)?
  /// Whether its completion has been called, or must not be.
  private var isOver = false

  init(_ access: ProxyAccess, began: NIODeadline, _ slot: TunnelSlot) {
    self.access = access
    self.began = began
    self.slot = slot
  }

  /// Finds the route and connects.
  func start(
    _ origin: ForwardOrigin, _ loop: ProxyLoop, _ settings: ProxySettings, via: ProxyVia,
    _ completion: @escaping (Dialer.Outcome) -> Void
  ) {
    let finder = RouteFinder(to: origin, loop, settings, below: access.context)
    self.finder = finder
    let end = { [self] (outcome: Dialer.Outcome) in
      self.connection = nil
      isOver = true
      completion(outcome)
    }
    finder.find { [self] outcome in
      guard !isOver else { return }
      switch outcome {
      case .refused(let refusal): end(.failed(refusal))
      case .route(var route):
        route.via = via
        let connection = route.connection(to: origin, route.hop(isPlain: false), loop, settings)
        self.connection = connection
        connection.start(end)
      }
    }
  }

  /// Gives up; the completion is not called.
  ///
  /// - Returns: its record for the access log; nil if its completion was called, which sees to that.
  func cancel() -> ProxyAccess? {
    guard !isOver else { return nil }
    isOver = true
    finder?.cancel()
    connection?.cancel()
    connection = nil
    slot.leave()
    access.error = "connection_terminated"
    return access
  }
}
