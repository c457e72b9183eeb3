// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import NIOCore

/// What the connection to the origin reports to its client.
extension ClientHandler {
  /// The request that is under way, which responses are for.
  var exchange: Exchange? { if case .exchange(let exchange) = state { exchange } else { nil } }

  var decodesChunks: Bool { exchange?.decodesChunks ?? false }

  func originCanTakeMore() {
    switch state {
    case .tunnel(let tunnel): if tunnel.origin.isWritable { resume() }
    case .exchange(let exchange):
      // A write from within reports it. Flushed there, the connection could end in the middle of what is passed on.
      guard !isProcessingInput else { break }
      processInput()
      // This may be the last part of a body, and no later read would flush it.
      exchange.flush()
    default: break
    }
  }

  func originSent(_ buffer: ByteBuffer) {
    if case .tunnel(let tunnel) = state { tunnel.originSent(buffer) }
    write(buffer)
  }

  /// A response has broken off.
  func originBroke(isReset: Bool) {
    guard let exchange else { return }
    exchange.broke()
    // What has come is good, and so are responses before it: a client that has sent more would lose them to a reset.
    flush()
    guard !isGone else { return }
    isReset ? reset() : linger()
  }

  func originStopped(isBroken: Bool) {
    guard case .tunnel(let tunnel) = state else { return }
    // A second end is that of the connection: the origin takes no more either. No error may tell of that.
    guard isBroken || tunnel.hasOriginStopped else { return tunnel.originStopped() }
    // It was closed here, since both sides have stopped.
    guard !tunnel.isOver else { return }
    tunnel.end(isBroken: true, "connection_terminated")
    guard tunnel.hasOriginStopped else { return reset() }
    // As without a proxy, the client has all that was sent, and what it still sends meets a reset.
    hasArrived ? close() : linger(for: .zero)
  }

  /// A response is over, and the next request may come.
  func awaitRequest() {
    lastActivity = .now()
    state = .head(since: nil)
    processInput()
    resume()
  }

  /// A request became a tunnel.
  func beginTunnel(_ tunnel: Tunnel, early: ByteBuffer) {
    state = .tunnel(tunnel)
    if early.readableBytes > 0 { originSent(early) }
    flush()
    guard !isGone else { return }
    // Bytes that came right after the request.
    if buffered.readableBytes > 0 {
      tunnel.clientSent(buffered.takeRest())
      tunnel.origin.flush()
    }
    if hasStopped { tunnel.clientStopped() }
    resume()
    tunnel.origin.resume()
  }
}
