// SPDX-License-Identifier: Apache-2.0
/// How a transfer fails, and when it times out.
extension TransferState {
  /// The failure of a transfer that got no connection.
  var connectFailure: TransferFailure {
    let failed = attempts.failed
    let reason = failed.last { if case .tls = $0.reason { true } else { false } } ?? failed.last
    return TransferFailure(
      .init(
        reason: reason?.reason ?? .connect("no address is left"), failedAddresses: failed, wasRetried: hasRetried,
        refusals: refusals, forbidden: forbidden))
  }

  /// The failure of a transfer that is ended from here, whatever it was doing.
  func abandoned(_ reason: HTTPTransportError) -> TransferFailure {
    carrier == nil
      ? TransferFailure(.init(reason: reason, wasRetried: hasRetried, refusals: refusals)) : failure(reason)
  }

  /// The failure of a transfer that had a connection.
  func failure(_ reason: HTTPTransportError, _ delivery: TransferFailure.Delivery = .mayHaveArrived) -> TransferFailure
  {
    var failed = attempts.failed
    if dialsAgainSince != nil, !reason.isLocal, let address = carrier?.address {
      failed.append(FailedAddress(address: address, reason: reason))
    }
    return TransferFailure(
      .init(
        reason: ofSent(reason), failedAddresses: failed, delivery: delivery, wasRetried: hasRetried, refusals: refusals,
        forbidden: forbidden, address: carrier?.address))
  }

  /// What a reason of libcurl's means for a request that was sent.
  private func ofSent(_ reason: HTTPTransportError) -> HTTPTransportError {
    switch reason {
    // It is the server's response that libcurl calls invalid: the server does not speak HTTP.
    case .invalidRequest(let text): .malformedResponse(text)
    // The connection that it was sent on has ended, and libcurl tells of another one, on which it was to be retried.
    case .connect, .noSocket: isAwaitingResponse ? .noConnectionAgain(reason) : reason
    case .tls, .tlsSetup, .timedOut, .refusedByProxy: dialsAgainSince == nil ? reason : .noConnectionAgain(reason)
    default: reason
    }
  }

  /// The failure of a transfer that libcurl was not allowed to retry.
  func failureWithoutRetry(wasRefused: Bool) -> TransferFailure {
    wasRefused
      ? failure(
        .connectionLost(
          "the server refused the request unprocessed, "
            + (terms.canStartOver ? "each time" : "and its body can be sent only once")), .refused)
      : failure(.connectionLost("nothing of it had come"))
  }

  // MARK: Time

  /// When something has to be done, unless something happens before.
  var due: Int64 {
    switch phase {
    case .waiting: terms.deadline
    case .receiving: min(terms.deadline, idleEnd, uploadLook)
    case .connecting: min(terms.deadline, startedAt + terms.connectTimeout, attempts.nextStart ?? .max)
    case .sent, .checkingRefusal: min(terms.deadline, dialEnd ?? firstByteEnd)
    }
  }

  /// When libcurl has tried long enough to connect once more; nil if it does not.
  ///
  /// Until then nothing can be said of the server's response: the time for the first byte does not count.
  private var dialEnd: Int64? { dialsAgainSince.map { $0 + terms.connectTimeout } }

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
    case .sent, .checkingRefusal:
      if let dialEnd { return dialEnd <= now ? .connect : nil }
      return firstByteEnd <= now ? .firstByte : nil
    }
  }

  /// The failure of a transfer whose timeout was exceeded.
  mutating func timeOut(_ timer: TransferFailure.Timer, at now: Int64) -> TransferFailure {
    if timer == .connect {
      // It was sent before, on a connection that has ended since.
      if carrier != nil { return failure(.timedOut) }
      // No attempt is running: all known addresses have failed, and the other family has not come.
      if attempts.running.isEmpty { return connectFailure }
      attempts.timeOut(at: now, after: terms.connectTimeout)
    }
    return TransferFailure(
      .init(
        reason: .timedOut, failedAddresses: attempts.failed, delivery: carrier == nil ? .notSent : .mayHaveArrived,
        wasRetried: hasRetried, timer: timer))
  }
}

extension HTTPTransportError {
  /// A connection ended before a response came, and libcurl got no other one to retry the request on.
  fileprivate static func noConnectionAgain(_ reason: HTTPTransportError) -> HTTPTransportError {
    .connectionLost("no other connection could be made (\(reason.text))")
  }
}
