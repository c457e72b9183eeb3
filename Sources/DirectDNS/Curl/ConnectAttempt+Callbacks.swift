// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSCurl

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// The callbacks that libcurl calls while an attempt's transfer runs.
extension ConnectAttempt {
  /// Sets the callbacks that every transfer needs.
  func setCallbacks() {
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    unsafe directdns_setopt_write(handle.pointer, context) { bytes, size, count, context in
      unsafe context.call(ConnectAttempt.self) {
        unsafe $0.received(UnsafeRawBufferPointer(start: bytes, count: size * count))
      } ?? 0
    }
    unsafe directdns_setopt_header(handle.pointer, context) { bytes, size, count, context in
      unsafe context.call(ConnectAttempt.self) {
        unsafe $0.receivedLine(UnsafeRawBufferPointer(start: bytes, count: size * count))
      } ?? 0
    }
    unsafe directdns_setopt_connected(handle.pointer, context) { context, _, _, _, port in
      unsafe context.object(ConnectAttempt.self)?.established(port) ?? CURL_PREREQFUNC_ABORT
    }
    unsafe directdns_setopt_dial(handle.pointer, context) { context, _, address in
      unsafe context.object(ConnectAttempt.self)?.dial(address) ?? CURL_SOCKET_BAD
    }
  }

  /// Sets the callbacks that only some requests need.
  func setCallbacks(of request: TransferRequest) {
    guard !request.isPlain else { return }
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    if case .none = request.body {} else { unsafe setReading(context) }
    if !request.message.trailers.isEmpty {
      unsafe directdns_setopt_trailers(handle.pointer, context) { list, context in
        guard let attempt = unsafe context.object(ConnectAttempt.self) else { return CURL_TRAILERFUNC_ABORT }
        let lines = CurlList(lines: attempt.transfer?.request.message.trailers ?? [])
        guard lines.isComplete else {
          attempt.handle.note(CURLE_OUT_OF_MEMORY)
          return CURL_TRAILERFUNC_ABORT
        }
        // libcurl frees the list.
        unsafe list.pointee = lines.takeHead()
        return CURL_TRAILERFUNC_OK
      }
    }
    if request.message.decompresses, request.terms.idleTimeout != nil || hasBody {
      // What comes may decode to nothing, for a while or at the end.
      unsafe directdns_setopt_progress(handle.pointer, context) { context, _, received, _, _ in
        unsafe context.object(ConnectAttempt.self)?.hasReceived(Int64(received))
        return 0
      }
    }
    if request.watcher.observer != nil || request.followsStream {
      unsafe directdns_setopt_trace(handle.pointer, context) { _, type, text, size, context in
        if type == CURLINFO_TEXT {
          unsafe context.object(ConnectAttempt.self)?.traced(UnsafeRawBufferPointer(start: text, count: size))
        } else if type == CURLINFO_SSL_DATA_OUT || type == CURLINFO_HEADER_OUT {
          unsafe context.object(ConnectAttempt.self)?.beginsSending()
        }
        return 0
      }
    }
  }

  private func setReading(_ context: UnsafeMutableRawPointer) {
    unsafe directdns_setopt_read(
      handle.pointer,
      { room, size, count, context in
        unsafe context.object(ConnectAttempt.self)?.read(
          into: UnsafeMutableRawBufferPointer(start: room, count: size * count))
          ?? Int(CURL_READFUNC_ABORT)
      },
      { context, offset, origin in
        guard offset == 0, origin == SEEK_SET, let attempt = unsafe context.object(ConnectAttempt.self) else {
          return CURL_SEEKFUNC_FAIL
        }
        guard attempt.rewind() else {
          attempt.withEvents { $0.machine.cannotRewind(attempt.id, attempt: attempt.number) }
          return CURL_SEEKFUNC_FAIL
        }
        return CURL_SEEKFUNC_OK
      }, context)
  }

  private func dial(_ target: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
    let address = unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 16) { room -> IPAddress? in
      guard let base = room.baseAddress else { return nil }
      let count = unsafe Int(directdns_dialled_address(target, base))
      return unsafe IPAddress(bytes: UnsafeBufferPointer(start: base, count: count))
    }
    guard let address, withEvents({ $0.mayDial(address, self) }) else { return CURL_SOCKET_BAD }
    let socket = unsafe directdns_socket(target)
    guard socket != CURL_SOCKET_BAD else {
      socketError = errno
      return socket
    }
    note(dialled: socket)
    withEvents { $0.dialled(socket, self) }
    return socket
  }

  /// It has a connection, with that local port: whether the request may be sent on it.
  private func established(_ port: CInt) -> CInt {
    withEvents { $0.connected(self, port: port) }
    needsNewConnection = withEvents { $0.mustNotUse(port, of: self) }
    guard handle.canReceive(overPlainHTTP2: speaksPlainHTTP2), !needsNewConnection else {
      needsNewHandle = true
      // libcurl retries a request that HTTP/2 did not carry: whether it may is asked now, while it says so.
      if transfer?.carrier === self { maySendAgain = withEvents { $0.maySend(self) } }
      return CURL_PREREQFUNC_ABORT
    }
    if exchange(&maySendAgain, with: false) {
      withEvents { $0.goesOn(self) }
      return CURL_PREREQFUNC_OK
    }
    return withEvents { $0.maySend(self) } ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
  }

  /// Whether its connection speaks HTTP/2 without TLS.
  private var speaksPlainHTTP2: Bool {
    guard let route = transfer?.request.route else { return false }
    return route.version == .http2 && !route.usesTLS && route.proxy == nil
  }

  /// Something is sent: a head, that of CONNECT too, or a part of a TLS handshake.
  private func beginsSending() {
    // Before it has a socket of its own, it is the end of a kept connection (`close_notify`).
    guard dialled != nil, !hasBegunSending else { return }
    hasBegunSending = true
    withEvents { $0.opened(self) }
  }

  private func traced(_ text: UnsafeRawBufferPointer) {
    guard let request = transfer?.request else { return }
    if request.followsStream, let last = unsafe streamTrace.take(text.bindMemory(to: UInt8.self).span) {
      withEvents { $0.connectionEnds(after: last, self) }
    }
    guard let observer = request.watcher.observer else { return }
    let line = unsafe String(decoding: text.trimming { ASCII.isBlank($0) || HeadLine.isLineEnd($0) }, as: UTF8.self)
    if Self.sessionLines.contains(where: { line.hasPrefix($0) }) { observer(.secured(line)) }
  }

  /// How the lines of libcurl's trace begin, behind blanks, that tell of a TLS session what its user wants to know.
  ///
  /// Since 8.17 there are other blanks, and the last one ends with "verified via OpenSSL", not "verify ok".
  private static let sessionLines = [
    "SSL connection using", "ALPN: server", "Server certificate:", "subject:", "issuer:", "expire date:",
    "subjectAltName:", "SSL certificate verif",
  ]

  private func receivedLine(_ bytes: UnsafeRawBufferPointer) -> Int {
    if let observer = transfer?.request.watcher.observer, lines?.isUsed == false { observer(.wire(.response)) }
    switch unsafe lines?.take(bytes) {
    // Another attempt carries the request.
    case nil: break
    case .more: withEvents { $0.moved(self) }
    case .head: withEvents { $0.completedHead(self) }
    // libcurl ends the transfer.
    case .tooMuch: return 0
    }
    return bytes.count
  }

  /// So many bytes of the body have come, before they are decoded.
  private func hasReceived(_ count: Int64) {
    guard count != receivedCount else { return }
    receivedCount = count
    if lines != nil { withEvents { $0.receivedEncoded(self) } }
  }

  private func received(_ bytes: UnsafeRawBufferPointer) -> Int {
    if case .ending = receiving { return 0 }
    let taken = withEvents { unsafe $0.received(bytes, self) }
    if taken == Int(CURL_WRITEFUNC_PAUSE) { receiving = .holdingBack }
    return taken
  }

  private func read(into room: UnsafeMutableRawBufferPointer) -> Int {
    guard let transfer else { return Int(CURL_READFUNC_ABORT) }
    switch transfer.request.body {
    case .none: return 0
    case .bytes(let bytes):
      let count = min(room.count, bytes.count - bodyOffset)
      unsafe bytes[bodyOffset..<bodyOffset + count].withUnsafeBytes { unsafe room.copyMemory(from: $0) }
      bodyOffset += count
      withEvents { $0.sent(count, self) }
      return count
    case .pulled(let upload):
      switch unsafe upload.read(into: room) {
      case .bytes(let count):
        withEvents { $0.sent(count, self) }
        return count
      case .starved:
        withEvents { $0.machine.starved(id, at: $0.now) }
        return Int(CURL_READFUNC_PAUSE)
      case .ended:
        hasReadBody = true
        withEvents { $0.sent(0, self) }
        return 0
      case .failed: return Int(CURL_READFUNC_ABORT)
      }
    }
  }

  /// Goes back to the beginning of the request's body.
  ///
  /// - Returns: whether it can be sent from there.
  func rewind() -> Bool {
    guard let transfer else { return false }
    transfer.progress.sent = 0
    hasReadBody = false
    switch transfer.request.body {
    case .none: return true
    case .bytes:
      bodyOffset = 0
      return true
    case .pulled(let upload): return upload.restart()
    }
  }
}
