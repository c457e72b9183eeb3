// SPDX-License-Identifier: Apache-2.0
/// What the pool has to know about a transfer.
struct TransferTerms: Sendable {
  /// The addresses to try, in order; none through a proxy.
  var addresses: [IPAddress] = []
  /// Whether it goes through a proxy; then libcurl chooses the proxy's address itself.
  var isProxied = false
  /// Whether a family of addresses may still come; see ``ConnectionRace``.
  var hasOthers = false
  /// Whether it may be sent again although it may have reached the server.
  var isRetryable = false
  /// Whether its body can be sent again from the beginning.
  var canStartOver = true
  var hasTrailers = false
  /// Whether it waits for the server's permission to send its body (`Expect: 100-continue`).
  var expectsContinue = false
  // Timeouts in milliseconds.
  var connectTimeout: Int64
  var firstByteTimeout: Int64
  /// For a pause in the response's body while its reader wants more; nil for no limit.
  var idleTimeout: Int64?
  /// When the whole transfer must have ended, by the loop's clock.
  var deadline: Int64
}
