// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import NIOCore

/// The responses that an origin sends: heads, bodies, and where they end.
extension OriginHandler {
  /// More interim responses than any server sends.
  private static let interimLimit = 100

  func readHead() { while readOneHead() {} }

  /// Reads the head of a response, or of an interim one.
  ///
  /// - Returns: whether it was an interim one (RFC 9110 §15.2), after which others follow.
  private func readOneHead() -> Bool {
    guard case .head(let isToHEAD) = state, let client else { return false }
    // Empty lines that old servers send after a body or before a response.
    while buffered.readableBytes >= 2, buffered.getInteger(at: buffered.readerIndex, as: UInt16.self) == 0x0d0a {
      buffered.moveReaderIndex(forwardBy: 2)
    }
    do throws(MessageFault) {
      guard let head = try buffered.readHead(.response, searched: &searched, size: headSize, fieldLimit: fieldLimit),
        case .response(let status, _) = head.start
      else { return false }
      let framing = try BodyFraming.of(response: head, status: status, isToHEAD: isToHEAD)
      switch status {
      case 101:
        let rest = buffered.takeRest()
        state = .tunnel
        client.exchange?.originSwitched(head, rest)
      case 100..<200:
        interimCount += 1
        guard interimCount <= Self.interimLimit else { throw .malformed("it has interim responses without end") }
        client.exchange?.originInformed(head)
        return true
      default:
        client.exchange?.originAnswered(head, status: status, framing)
        // Not if the response could not be passed on.
        guard case .head = state else { return false }
        state = .body(BodyProgress(framing, of: .response, isDecoded: client.decodesChunks, below: head))
        if framing == .none { finishResponse() } else if buffered.readableBytes > 0 { pass(buffered.takeRest()) }
      }
    } catch {
      client.exchange?.originFailed(error)
    }
    return false
  }

  func pass(_ buffer: ByteBuffer) {
    guard case .body(var progress) = state, let client else { return }
    var buffer = buffer
    // Avoids a second copy of `progress`. Nobody sees this state: a write to the client that is not flushed reports at
    // most that it can take no more, which changes nothing here.
    state = .done
    do throws(MessageFault) {
      let isOver = try progress.pass(&buffer) { client.originSent($0) }
      client.exchange?.originPassed(progress.dataCount)
      state = .body(progress)
      // Nobody has asked for bytes that come after a response.
      if isOver { finishResponse(isClean: buffer.readableBytes == 0) }
    } catch {
      client.exchange?.originPassed(progress.dataCount)
      client.originBroke(isReset: client.decodesChunks)
    }
  }

  private func finishResponse(isClean: Bool = true) {
    guard case .body(let progress) = state else { return }
    state = .done
    self.isClean = isClean && buffered.readableBytes == 0 && progress.framing != .untilClose
    client?.exchange?.originFinished()
  }

  /// Whether it can serve another request, once it has the whole of this one.
  var canBeReused: Bool { isClean && !hasFinishedSending && !hasAnsweredEarly }

  func inputEnded(isBroken: Bool) {
    // SwiftNIO does not say that a read is over whose next one fails: what it brought is not flushed yet.
    if isBroken { client?.flush() }
    switch state {
    case .head: client?.exchange?.originFailed(nil)
    case .body(let progress):
      if progress.framing == .untilClose, !isBroken {
        finishResponse()
      } else {
        // Whether a client, of HTTP/1.0 for example, would take the end of the connection for the end of the response.
        let isWholeByItsEnd = progress.framing == .untilClose || client?.decodesChunks == true
        client?.originBroke(isReset: isBroken || isWholeByItsEnd)
      }
    case .tunnel: client?.originStopped(isBroken: isBroken)
    case .pooled: close()
    case .handshaking(let handshake, let completion):
      state = .unused
      completion(handshake.cutOff)
    case .done: isClean = false
    case .unused, .closed: break
    }
  }
}
