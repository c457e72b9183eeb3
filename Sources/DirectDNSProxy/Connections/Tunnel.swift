// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import NIOCore

/// Bytes both ways, as they are: CONNECT, SOCKS, and what a request switched to.
final class Tunnel {
  let origin: OriginHandler
  private unowned let client: ClientHandler
  private var access: ProxyAccess
  private let began: NIODeadline
  private(set) var lastActivity = NIODeadline.now()
  private var hasClientStopped = false
  private var hasOriginStopped = false
  private var isEnded = false

  init(_ client: ClientHandler, _ origin: OriginHandler, _ access: ProxyAccess, began: NIODeadline) {
    self.client = client
    self.origin = origin
    self.access = access
    self.began = began
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
    access.sent += buffer.readableBytes
  }

  /// The client sends no more: the origin hears that, and may go on sending.
  func clientStopped() {
    guard !hasClientStopped else { return }
    hasClientStopped = true
    origin.finishSending()
    endIfOver()
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

  /// Ends it, and says so once.
  func end(isBroken: Bool) {
    guard !isEnded else { return }
    isEnded = true
    if isBroken { origin.reset() } else { origin.closeBehindWrites() }
    client.loop.shared.telemetry.tunnels(-1)
    access.duration = Duration(.now() - began)
    client.loop.shared.ended(access)
  }
}

/// A tunnel whose way is being found.
final class PendingTunnel {
  private let route = Route()
  private var dial: Dial?
  private var isCancelled = false

  /// Finds the way and connects.
  func start(
    _ origin: ForwardOrigin, on loop: ProxyLoop, _ completion: @escaping (Dial.Outcome) -> Void
  ) {
    route.find(origin, on: loop) { [self] outcome in
      guard !isCancelled else { return }
      switch outcome {
      case .refused(let refusal): completion(.failed(refusal))
      case .addresses(let addresses, let others):
        let dial = Dial(
          loop, origin, addresses, others: others, loop.settings.policy, timeout: loop.settings.limits.connectTimeout)
        self.dial = dial
        dial.start { [self] outcome in
          self.dial = nil
          completion(outcome)
        }
      }
    }
  }

  /// Nobody wants it any more.
  func cancel() {
    isCancelled = true
    route.cancel()
    dial?.cancel()
    dial = nil
  }
}
