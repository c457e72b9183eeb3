/// Why an exchange brought no response, or not all of it.
struct CurlFailure: Error, Sendable {
  /// One address that could not be connected to.
  struct Attempt: Sendable, Hashable {
    let address: IPAddress
    let reason: CurlError
  }

  let reason: CurlError
  /// The addresses that failed, in the order of failing.
  let attempts: [Attempt]
  /// Whether something of the request may have reached the server.
  let mayHaveArrived: Bool
  /// Whether HTTP/2 refused the request unprocessed (RFC 9113 §8.7).
  let wasRefused: Bool
  /// Whether it has been sent twice already.
  let wasRepeated: Bool
  /// The time that was exceeded, where one was.
  let timer: Timer?
  /// An address that the policy forbade when it was about to be dialled.
  let forbidden: IPAddress?
  /// The address of the connection that was lost.
  let address: IPAddress?
  /// What the request's body failed with.
  let bodyFailure: (any Error)?

  enum Timer: String, Sendable, Hashable { case connect, firstByte, whole }

  init(
    _ reason: CurlError, attempts: [Attempt] = [], mayHaveArrived: Bool = false,
    wasRefused: Bool = false, wasRepeated: Bool = false, timer: Timer? = nil, forbidden: IPAddress? = nil,
    address: IPAddress? = nil, bodyFailure: (any Error)? = nil
  ) {
    self.reason = reason
    self.attempts = attempts
    self.mayHaveArrived = mayHaveArrived
    self.wasRefused = wasRefused
    self.wasRepeated = wasRepeated
    self.timer = timer
    self.forbidden = forbidden
    self.address = address
    self.bodyFailure = bodyFailure
  }
}

/// A response's head, and how it was got.
struct CurlHead: Sendable {
  /// An address that had not connected after so many milliseconds, when another one did.
  struct Slower: Sendable, Hashable {
    let address: IPAddress
    let time: Int64
  }

  /// The status line and the fields, as they came.
  var bytes: [UInt8]
  /// The address of the connection; nothing through a proxy.
  var address: IPAddress?
  var isReused: Bool
  /// Microseconds of the connection's making: nothing for one that stood.
  var connect: Int64?
  var tls: Int64?
  /// Milliseconds from the connection to the head, by ``CurlTime``.
  var wait: Int64
  var slower: [Slower] = []
  /// Addresses that failed before this one.
  var attempts: [CurlFailure.Attempt]
}

/// What follows a response's body.
struct CurlEnd: Sendable {
  /// Trailer fields, as they came.
  var trailers: [UInt8]
}
