// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import NIOCore

extension ClientHandler {
  /// Continues a SOCKS handshake.
  ///
  /// - Returns: whether there is more to be read.
  func readSOCKS() -> Bool {
    guard case .socks(var handshake, let since) = state else { return false }
    var bytes = buffered.readableBytesView.prefix(1024).map(\.self)[...]
    let count = bytes.count
    let step = handshake.read(&bytes)
    buffered.moveReaderIndex(forwardBy: count - bytes.count)
    state = .socks(handshake, since: since)
    return take(step, handshake, since)
  }

  private func take(_ step: SOCKSHandshake.Step, _ handshake: SOCKSHandshake, _ since: NIODeadline) -> Bool {
    switch step {
    case .wait: return false
    case .send(let bytes):
      write(ByteBuffer(bytes: bytes))
      flush()
      return true
    case .refuse(let bytes, let fault):
      var access = access(handshake.version == 4 ? .socks4 : .socks5, nil)
      // The status that HTTP has for it.
      access.status = fault == .credentials ? 407 : 400
      access.error = fault == .credentials ? nil : "http_request_error"
      settings.ended(access, since: since, loop.shared.telemetry)
      write(ByteBuffer(bytes: bytes))
      flush()
      linger()
      return false
    case .authenticate(let credentials):
      guard let users = settings.configuration.users else { return false }
      var handshake = handshake
      let result = users.quickCheck(credentials.name, credentials.password)
      switch result {
      case .correct, .token, .wrong:
        let step = handshake.authenticated(result != .wrong, as: result == .token ? ProxyUsers.tokenUser : nil)
        state = .socks(handshake, since: since)
        return take(step, handshake, since)
      case .needsHash:
        let finish = { [self] (isCorrect: Bool) in
          let step = handshake.authenticated(isCorrect)
          state = .socks(handshake, since: since)
          return take(step, handshake, since)
        }
        // SOCKS5 has no other refusal here than that of a wrong password (RFC 1929).
        return checkPassword(users, credentials, { _ = finish($0) }) ? false : finish(false)
      }
    case .connect(let origin):
      // SOCKS has no field for the proxies that a request has come through.
      var access = access(handshake.version == 4 ? .socks4 : .socks5, origin)
      access.user = handshake.user
      open(origin, access, ProxyVia(), began: since) { result in
        switch result {
        case .success: ByteBuffer(bytes: handshake.reply(.connected))
        case .failure(let refusal): ByteBuffer(bytes: handshake.reply(SOCKSHandshake.Reply(refusal)))
        }
      } refused: {
        false
      }
      return false
    }
  }
}

extension SOCKSHandshake.Reply {
  /// SOCKS5's reply for a refusal.
  init(_ refusal: ProxyRefusal) {
    switch refusal.error?.prefix(while: { $0 != ";" }) {
    case "destination_ip_prohibited"?, "http_request_denied"?, "proxy_loop_detected"?: self = .forbidden
    case "connection_refused"?: self = .refusedConnection
    case "dns_error"?, "dns_timeout"?, "destination_ip_unroutable"?, "connection_timeout"?: self = .unreachableHost
    default: self = .failed
    }
  }
}
