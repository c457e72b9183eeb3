// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import NIOCore

/// Reads what a client has sent, whenever something has changed.
extension ClientHandler {
  /// Processes the bytes that have come.
  func processInput() {
    // Not recursive: a request that ends inside the loop continues in it, instead of one call deeper for each request.
    guard !isProcessingInput else { return }
    isProcessingInput = true
    while buffered.readableBytes > 0, processNext() {}
    isProcessingInput = false
    if hasStopped { inputEnded() }
  }

  /// Passes bytes on, while what that causes waits: whoever calls this processes the input, and flushes, behind it.
  func holdingInput(_ body: () throws(MessageFault) -> Void) throws(MessageFault) {
    let wasProcessing = isProcessingInput
    isProcessingInput = true
    defer { isProcessingInput = wasProcessing }
    try body()
  }

  /// Processes the next part of them.
  ///
  /// - Returns: whether there is more to be read.
  private func processNext() -> Bool {
    switch state {
    case .head: return canTakeMore && readHead()
    case .socks: return readSOCKS()
    case .exchange(let exchange):
      exchange.passRequest()
      if case .exchange = state { return false }
      return true
    case .draining(var progress, let end):
      let before = buffered.readableBytes
      do throws(MessageFault) {
        let isOver = try progress.pass(&buffered) { _ in }
        state = isOver ? .head(since: nil) : .draining(progress, end: end)
        if isOver, loop.isDraining { linger() }
      } catch {
        linger()
      }
      return buffered.readableBytes < before
    case .authenticating, .connecting, .tunnel, .lingering, .closed: return false
    }
  }

  /// The client has stopped sending, which may be only one direction of the connection (RFC 9112 §9.6): what it has
  /// asked for is answered.
  private func inputEnded() {
    switch state {
    case .tunnel(let tunnel): tunnel.clientStopped()
    case .exchange(let exchange):
      guard !exchange.clientStopped() else { break }
      let isCutOff = exchange.hasResponse && !exchange.isAnswered
      leave(isBroken: false)
      // If it still reads, it must not take what it has for the whole response.
      isCutOff ? reset() : closeBehindWrites()
    // Bytes that it sent ahead are for the tunnel; without them the tunnel would be of no use to it.
    case .connecting where buffered.readableBytes > 0: break
    // More requests wait for it to read the responses.
    case .head where buffered.readableBytes > 0 && !canTakeMore: break
    case .head, .socks, .draining, .connecting, .lingering:
      leave(isBroken: false)
      closeBehindWrites()
    case .authenticating, .closed: break
    }
  }

  /// Puts back what was taken of ``buffered`` and not used.
  func requeue(_ rest: ByteBuffer) {
    var rest = rest
    guard rest.readableBytes > 0 else { return }
    if buffered.readableBytes > 0 { rest.appendOrTake(&buffered) }
    buffered = rest
  }
}
