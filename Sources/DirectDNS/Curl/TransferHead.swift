/// A response's head, and how it was got.
struct TransferHead: Sendable {
  /// The status line and the fields, as they came.
  var bytes: [UInt8]
  /// The address of the connection; nil through a proxy.
  var address: IPAddress?
  var isReused: Bool
  /// Microseconds of the connection's making: nothing for one that stood.
  var connect: Int64?
  var tls: Int64?
  /// Milliseconds from the connection to the head, by ``CurlTime``.
  var wait: Int64
  var slower: [SlowerAddress] = []
  /// Addresses that failed before this one.
  var attempts: [FailedAddress]
}

/// What follows a response's body.
struct TransferEnd: Sendable {
  /// Trailer fields, as they came.
  var trailers: [UInt8]
}
