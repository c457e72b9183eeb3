// SPDX-License-Identifier: Apache-2.0
/// What the pool has to know of a transfer.
struct TransferTerms: Sendable {
  /// The addresses to connect to, in the order of trying; none through a proxy.
  var addresses: [IPAddress] = []
  /// Whether it goes through a proxy, which libcurl connects to by itself.
  var isProxied = false
  /// Whether a family of addresses may yet come; see ``ConnectionRace``.
  var hasOthers = false
  /// Whether it may be sent again when it may have reached the server.
  var isRetryable = false
  /// Whether its body can be sent from the beginning once more.
  var canStartOver = true
  /// Whether fields follow its body.
  var hasTrailers = false
  /// Whether it waits for the server to say that it may send its body.
  var expectsContinue = false
  // Milliseconds.
  var connectTimeout: Int64
  var firstByteTimeout: Int64
  /// For a pause in the response's body while its reader wants more; nil for any.
  var idleTimeout: Int64?
  /// When all of it must have ended, by the loop's time.
  var deadline: Int64
}
