// SPDX-License-Identifier: Apache-2.0
internal import NIOCore

/// How another proxy is asked to connect.
extension OriginHandler {
  /// Asks another proxy to connect; the completion gets the failure, if any, and is called once unless this is closed.
  func startHandshake(_ handshake: UpstreamHandshake, _ completion: @escaping (UpstreamHandshake.Failure?) -> Void) {
    state = .handshaking(handshake, completion)
    write(ByteBuffer(bytes: handshake.beginning))
    flush()
    continueHandshake()
  }

  /// Reads what the other proxy has answered.
  func continueHandshake() {
    while case .handshaking(var handshake, let completion) = state {
      let step = handshake.read(&buffered)
      switch step {
      case .wait:
        state = .handshaking(handshake, completion)
        return
      case .send(let bytes):
        state = .handshaking(handshake, completion)
        write(ByteBuffer(bytes: bytes))
        flush()
      case .connected:
        state = .unused
        completion(nil)
      case .failed(let failure):
        state = .unused
        completion(failure)
      }
    }
  }
}
