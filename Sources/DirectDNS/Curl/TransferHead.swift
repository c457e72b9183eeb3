// SPDX-License-Identifier: Apache-2.0
/// A response's head, and how it was received.
///
/// A class, since the loop's thread passes it to the caller's task: a copy would cost a retain for each part.
final class TransferHead: Sendable {
  /// The status line and the fields, as they came.
  let lines: HeadLines
  /// The address of the connection; nil through a proxy.
  let address: IPAddress?
  let isReused: Bool
  /// Microseconds that connecting took, and then the TLS handshake; nil for a reused connection.
  let connect: Int64?
  let tls: Int64?
  /// Milliseconds from when the connection was established to the head, by ``LoopTime``.
  let wait: Int64
  let slower: [SlowerAddress]
  /// Addresses that failed before this one.
  let attempts: [FailedAddress]
  /// Whether libcurl has sent the request more than once, so that it may have reached the server before.
  let wasRetried: Bool
  /// Whether the whole body was sent, over HTTP/1.1, of a request that was to wait for the server's permission.
  let hasSentBody: Bool

  init(
    lines: consuming HeadLines, address: IPAddress?, isReused: Bool, connect: Int64?, tls: Int64?, wait: Int64,
    slower: [SlowerAddress], attempts: [FailedAddress], wasRetried: Bool,
    hasSentBody: Bool = false
  ) {
    self.lines = lines
    self.address = address
    self.isReused = isReused
    self.connect = connect
    self.tls = tls
    self.wait = wait
    self.slower = slower
    self.attempts = attempts
    self.wasRetried = wasRetried
    self.hasSentBody = hasSentBody
  }
}

/// What follows a response's body.
struct TransferEnd: Sendable {
  /// Trailer fields, as they came.
  var trailers: [UInt8]
}
