// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import NIOCore

/// What has come from a client is read on, each time when something has changed.
extension ClientHandler {
  /// Goes on with what has come.
  func goOn() {
    // Once at a time: what ends within goes on in the loop that led to it, and not a call deeper for each request.
    guard !isGoingOn else { return }
    isGoingOn = true
    while held.readableBytes > 0, readOn() {}
    isGoingOn = false
    if hasStopped { inputEnded() }
  }

  /// Reads what has come.
  ///
  /// - Returns: whether there is more to be read.
  private func readOn() -> Bool {
    switch state {
    case .head: return canTakeMore && readHead()
    case .socks: return readSOCKS()
    case .exchange(let exchange):
      exchange.passRequest()
      if case .exchange = state { return false }
      return true
    case .draining(var progress, let end):
      let before = held.readableBytes
      do throws(MessageFault) {
        let isOver = try progress.pass(&held) { _ in }
        state = isOver ? .head(since: nil) : .draining(progress, end: end)
        if isOver, loop.isDraining { linger() }
      } catch {
        linger()
      }
      return held.readableBytes < before
    case .judging, .connecting, .tunnel, .lingering, .closed: return false
    }
  }

  /// The client sends no more (RFC 9112 §9.6 knows that of each side alone): what it has asked for is answered.
  private func inputEnded() {
    switch state {
    case .tunnel(let tunnel): tunnel.clientStopped()
    case .exchange(let exchange):
      guard !exchange.clientStopped() else { break }
      let hasResponse = exchange.hasResponse
      leave(isBroken: false)
      // Should it read on, it must not take what it has for the whole.
      hasResponse ? reset() : close()
    // What it sent ahead is for the tunnel; one without that has no use for it.
    case .connecting where held.readableBytes > 0: break
    // It has asked for more than it has read.
    case .head where held.readableBytes > 0 && !canTakeMore: break
    case .head, .socks, .draining, .connecting, .lingering:
      leave(isBroken: false)
      closeBehindWrites()
    case .judging, .closed: break
    }
  }

  /// What has come and was not looked at, for somebody who puts back what he leaves of it.
  func takeHeld() -> ByteBuffer {
    let taken = held
    held = ByteBuffer()
    return taken
  }

  func putBack(_ rest: ByteBuffer) {
    var rest = rest
    if rest.readableBytes > 0 {
      rest.writeBuffer(&held)
      held = rest
    }
  }
}
