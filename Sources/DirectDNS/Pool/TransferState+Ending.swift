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
  /// Whether trailer fields follow its body.
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

/// How a transfer fails, and when it times out.
extension TransferState {
  /// The failure of a transfer that got no connection.
  var connectFailure: TransferFailure {
    let failed = attempts.failed
    let reason = failed.last { if case .tls = $0.reason { true } else { false } } ?? failed.last
    return TransferFailure(
      reason?.reason ?? .connect("no address is left"), attempts: failed, forbidden: forbidden)
  }

  /// The failure of a transfer that had a connection.
  func failure(_ reason: HTTPTransportError, _ delivery: TransferFailure.Delivery = .mayHaveArrived) -> TransferFailure
  {
    var reason = reason
    // libcurl has sent the request, so it is the server's response that it calls invalid: the server does not speak
    // HTTP.
    if case .invalidRequest(let text) = reason { reason = .connectionLost(text) }
    return TransferFailure(
      reason, attempts: attempts.failed, delivery: delivery, wasRetried: hasRetried,
      refusals: refusals, address: carrier?.address)
  }

  /// The failure of a transfer that libcurl was not allowed to repeat.
  func failureWithoutRetry(wasRefused: Bool) -> TransferFailure {
    wasRefused
      ? failure(.connectionLost("the server refused the request unprocessed, each time"), .refused)
      : failure(.connectionLost("the connection ended before a response came"))
  }

  // MARK: Time

  /// When something has to be done, unless something happens before.
  var due: Int64 {
    switch phase {
    case .waiting: terms.deadline
    case .receiving: min(terms.deadline, idleEnd, uploadLook)
    case .connecting: min(terms.deadline, startedAt + terms.connectTimeout, attempts.nextStart ?? .max)
    case .sent, .checkingRefusal: min(terms.deadline, firstByteEnd)
    }
  }

  /// When it has waited too long for a response; never while the server waits for the request's body.
  private var firstByteEnd: Int64 {
    guard let carrier, !isStarved else { return .max }
    return carrier.movedAt + terms.firstByteTimeout
  }

  /// When its response has been silent for too long; never while the server waits for the request's body, or has sent
  /// the whole response.
  private var idleEnd: Int64 {
    guard let carrier, let timeout = terms.idleTimeout, !isHeldBack, !isStarved, answeredSince == nil else {
      return .max
    }
    return carrier.movedAt + timeout
  }

  /// The timeout that has been exceeded; nil if none has.
  func exceeded(at now: Int64) -> TransferFailure.Timer? {
    if terms.deadline <= now { return .total }
    switch phase {
    case .waiting: return nil
    case .receiving: return idleEnd <= now ? .idle : nil
    case .connecting: return startedAt + terms.connectTimeout <= now ? .connect : nil
    case .sent, .checkingRefusal: return firstByteEnd <= now ? .firstByte : nil
    }
  }

  /// The failure of a transfer whose timeout was exceeded.
  mutating func timeOut(_ timer: TransferFailure.Timer, at now: Int64) -> TransferFailure {
    if timer == .connect {
      // No attempt is running: all known addresses have failed, and the other family has not come.
      if attempts.running.isEmpty { return connectFailure }
      attempts.timeOut(at: now, after: terms.connectTimeout)
    }
    return TransferFailure(
      .timedOut, attempts: attempts.failed, delivery: carrier == nil ? .notSent : .mayHaveArrived, timer: timer)
  }
}

/// Why a transfer brought no response, or only a part of it.
///
/// A class, so that what every transfer passes around, and few fail, is small.
final class TransferFailure: Error, Sendable {
  let reason: HTTPTransportError
  /// The addresses that could not be connected to, in the order in which they failed.
  let attempts: [FailedAddress]
  /// How far the request got.
  let delivery: Delivery
  /// Whether libcurl has sent it more than once already.
  let wasRetried: Bool
  /// How often libcurl has sent it again because it was refused unprocessed.
  let refusals: Int
  /// The timeout that was exceeded, if any.
  let timer: Timer?
  /// An address that was about to be dialled although the policy forbids it.
  let forbidden: IPAddress?
  /// The address of the connection that was lost.
  let address: IPAddress?
  /// The error of the request's body, if that failed.
  let bodyFailure: (any Error)?
  /// Whether it is the failure of other requests, which this one has waited for; see ``PoolOutage``.
  let isAnothers: Bool

  enum Timer: String, Sendable, Hashable { case connect, firstByte, idle, total }

  /// How far a request got.
  enum Delivery: Sendable, Hashable {
    case notSent
    /// HTTP/2 refused it unprocessed (RFC 9113 §8.7).
    case refused
    /// It, or a part of it, may have reached the server.
    case mayHaveArrived
    /// The server has answered with success, and a part of the body was not sent.
    case inPart
  }

  init(
    _ reason: HTTPTransportError, attempts: [FailedAddress] = [], delivery: Delivery = .notSent,
    wasRetried: Bool = false, refusals: Int = 0, timer: Timer? = nil, forbidden: IPAddress? = nil,
    address: IPAddress? = nil, bodyFailure: (any Error)? = nil, isAnothers: Bool = false
  ) {
    self.reason = reason
    self.attempts = attempts
    self.delivery = delivery
    self.wasRetried = wasRetried
    self.refusals = refusals
    self.timer = timer
    self.forbidden = forbidden
    self.address = address
    self.bodyFailure = bodyFailure
    self.isAnothers = isAnothers
  }

  /// The same failure, if the request's body has failed with that error.
  func with(bodyFailure: (any Error)?) -> TransferFailure {
    TransferFailure(
      reason, attempts: attempts, delivery: delivery, wasRetried: wasRetried, refusals: refusals, timer: timer,
      forbidden: forbidden, address: address, bodyFailure: bodyFailure, isAnothers: isAnothers)
  }

  /// The same failure, as that of a request that has waited for this one.
  var asAnothers: TransferFailure {
    TransferFailure(
      reason, attempts: attempts, delivery: delivery, wasRetried: wasRetried, refusals: refusals, timer: timer,
      forbidden: forbidden, address: address, bodyFailure: bodyFailure, isAnothers: true)
  }
}
