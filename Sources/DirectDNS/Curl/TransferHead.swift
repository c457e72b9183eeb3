// SPDX-License-Identifier: Apache-2.0
/// A response's head, and how it was received.
///
/// A class, since the loop's thread passes it to the caller's task: a copy would cost a retain for each part.
final class TransferHead: Sendable {
  /// The status line and the fields, as they came.
  let lines: HeadLines
  let connection: TransferConnection
  /// How long connecting took, and then the TLS handshake; nil for a reused connection.
  let connect: Duration?
  let tls: Duration?
  /// From when the request got its connection to the head.
  let wait: Duration
  /// Whether the whole body was sent, over HTTP/1.1, of a request that was to wait for the server's permission.
  let hasSentBody: Bool

  init(
    lines: consuming HeadLines, connection: TransferConnection, connect: Duration?, tls: Duration?, wait: Duration,
    hasSentBody: Bool
  ) {
    self.lines = lines
    self.connection = connection
    self.connect = connect
    self.tls = tls
    self.wait = wait
    self.hasSentBody = hasSentBody
  }
}

/// What follows a response's body.
struct TransferEnd: Sendable {
  /// Trailer fields, as they came.
  var trailers: [UInt8]
}
