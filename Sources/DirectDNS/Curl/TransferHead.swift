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
  /// How long connecting took, and then the TLS handshake; nil for a reused connection.
  let connect: Duration?
  let tls: Duration?
  /// From when the request got its connection to the head.
  let wait: Duration
  let slower: [SlowerAddress]
  /// Addresses that failed before this one.
  let attempts: [FailedAddress]
  /// Whether libcurl has sent the request more than once, so that it may have reached the server before.
  let wasRetried: Bool
  /// Whether the whole body was sent, over HTTP/1.1, of a request that was to wait for the server's permission.
  let hasSentBody: Bool

  init(
    lines: consuming HeadLines, address: IPAddress?, isReused: Bool, connect: Duration?, tls: Duration?,
    wait: Duration, slower: [SlowerAddress], attempts: [FailedAddress], wasRetried: Bool,
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
