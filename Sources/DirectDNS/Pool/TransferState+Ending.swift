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

/// How a transfer ends that fails, and when its times are over.
extension TransferState {
  /// Why it failed before it had a connection.
  var connectFailure: TransferFailure {
    let failed = attempts.failed
    let reason = failed.last { if case .tls = $0.reason { true } else { false } } ?? failed.last
    return TransferFailure(
      reason?.reason ?? .connect("no address is left"), attempts: failed, forbidden: forbidden)
  }

  /// Why it failed once it had a connection.
  func failure(_ reason: HTTPTransportError, wasRefused: Bool = false) -> TransferFailure {
    var reason = reason
    // What was sent cannot be what libcurl calls wrong: the server speaks no HTTP.
    if case .invalidRequest(let text) = reason { reason = .connectionLost(text) }
    return TransferFailure(
      reason, attempts: attempts.failed, mayHaveArrived: !wasRefused, wasRefused: wasRefused, wasRetried: hasRetried,
      address: carrier?.address)
  }

  /// Why it failed when libcurl was kept from repeating it.
  func failureWithoutRetry(wasRefused: Bool) -> TransferFailure {
    failure(.connectionLost("the connection ended before a response came"), wasRefused: wasRefused)
  }

  // MARK: Time

  /// When something has to be done about it, if nothing happens before.
  var due: Int64 {
    switch phase {
    case .waiting: terms.deadline
    case .receiving(let carrier): min(terms.deadline, idleEnd(carrier))
    case .connecting: min(terms.deadline, startedAt + terms.connectTimeout, attempts.nextStart ?? .max)
    case .sent(let carrier), .checkingRefusal(let carrier): min(terms.deadline, firstByteEnd(carrier))
    }
  }

  /// When it has waited too long for a response: the time in which the server waits for the request's body is not the
  /// server's.
  func firstByteEnd(_ carrier: Carrier) -> Int64 { isStarved ? .max : carrier.movedAt + terms.firstByteTimeout }

  /// When its response has been silent for too long.
  private func idleEnd(_ carrier: Carrier) -> Int64 {
    guard let timeout = terms.idleTimeout, !isHeldBack else { return .max }
    return carrier.movedAt + timeout
  }

  /// A time that is over, if one is.
  func exceeded(at now: Int64) -> TransferFailure.Timer? {
    if terms.deadline <= now { return .whole }
    switch phase {
    case .waiting: return nil
    case .receiving(let carrier): return idleEnd(carrier) <= now ? .idle : nil
    case .connecting: return startedAt + terms.connectTimeout <= now ? .connect : nil
    case .sent(let carrier), .checkingRefusal(let carrier):
      return firstByteEnd(carrier) <= now ? .firstByte : nil
    }
  }

  /// Why it failed when a time was over.
  mutating func timeOut(_ timer: TransferFailure.Timer, at now: Int64) -> TransferFailure {
    if timer == .connect {
      // Nothing runs: the other family was awaited, and those that were there have failed.
      if attempts.running.isEmpty { return connectFailure }
      attempts.timeOut(at: now, after: terms.connectTimeout)
    }
    return TransferFailure(.timedOut, attempts: attempts.failed, mayHaveArrived: carrier != nil, timer: timer)
  }
}

/// Why a transfer brought no response, or not all of it.
struct TransferFailure: Error, Sendable {
  let reason: HTTPTransportError
  /// The addresses that failed, in the order of failing.
  let attempts: [FailedAddress]
  /// Whether something of the request may have reached the server.
  let mayHaveArrived: Bool
  /// Whether HTTP/2 refused the request unprocessed (RFC 9113 §8.7).
  let wasRefused: Bool
  /// Whether it has been sent twice already.
  let wasRetried: Bool
  /// The time that was exceeded, where one was.
  let timer: Timer?
  /// An address that the policy forbade when it was about to be dialled.
  let forbidden: IPAddress?
  /// The address of the connection that was lost.
  let address: IPAddress?
  /// What the request's body failed with.
  var bodyFailure: (any Error)?
  /// Whether another request's attempts failed so, for which this one waited.
  var isAnothers = false

  enum Timer: String, Sendable, Hashable { case connect, firstByte, idle, whole }

  init(
    _ reason: HTTPTransportError, attempts: [FailedAddress] = [], mayHaveArrived: Bool = false,
    wasRefused: Bool = false, wasRetried: Bool = false, timer: Timer? = nil, forbidden: IPAddress? = nil,
    address: IPAddress? = nil
  ) {
    self.reason = reason
    self.attempts = attempts
    self.mayHaveArrived = mayHaveArrived
    self.wasRefused = wasRefused
    self.wasRetried = wasRetried
    self.timer = timer
    self.forbidden = forbidden
    self.address = address
  }
}
