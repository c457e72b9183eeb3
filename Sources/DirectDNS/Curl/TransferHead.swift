// SPDX-License-Identifier: Apache-2.0
/// A response's head, and how it was got.
///
/// A class, since it is handed from the loop's thread to the caller's task: a copy would cost a retain of each part.
final class TransferHead: Sendable {
  /// The status line and the fields, as they came.
  let lines: HeadLines
  /// The address of the connection; nil through a proxy.
  let address: IPAddress?
  let isReused: Bool
  /// Microseconds of the connection's making: nothing for one that stood.
  let connect: Int64?
  let tls: Int64?
  /// Milliseconds from the connection to the head, by ``LoopTime``.
  let wait: Int64
  let slower: [SlowerAddress]
  /// Addresses that failed before this one.
  let attempts: [FailedAddress]
  /// Whether the request was sent before, and may have reached the server then.
  let wasRetried: Bool

  init(
    lines: consuming HeadLines, address: IPAddress?, isReused: Bool, connect: Int64?, tls: Int64?, wait: Int64,
    slower: [SlowerAddress], attempts: [FailedAddress], wasRetried: Bool
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
  }
}

/// What follows a response's body.
struct TransferEnd: Sendable {
  /// Trailer fields, as they came.
  var trailers: [UInt8]
}
