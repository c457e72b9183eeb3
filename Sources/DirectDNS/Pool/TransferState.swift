// SPDX-License-Identifier: Apache-2.0
/// One transfer's life: it waits in the queue, attempts race for a connection, one of them carries it, and it ends.
///
/// A pure value that knows nothing about other transfers; times are milliseconds of its owner's clock.
struct TransferState {
  enum Phase {
    /// It waits in the queue.
    case waiting
    /// Attempts to connect are under way.
    case connecting
    /// It has a connection: the request is being sent, and no response has come.
    case sent
    /// The response's head is complete.
    case receiving
    /// It has failed, and it is being found out whether HTTP/2 refused the request unprocessed.
    case checkingRefusal
  }

  /// The attempt whose connection the transfer got.
  struct Carrier: Equatable {
    let attempt: Int
    let address: IPAddress?
    /// When it got its connection.
    let since: Int64
    /// When the last bytes were sent or received.
    var movedAt: Int64
    /// ``PoolMachine/Pool/joins`` when this transfer opened its connection; nil if it joined one.
    var joinsAtStart: Int?
  }

  /// How it gets its connection.
  enum Admission {
    /// In any way.
    case any
    /// It opens one that others will share.
    case opening
    /// It shares one that carries others.
    case sharing
  }

  /// Whether it goes back into the queue, because the connection that it was to share has no room for it.
  enum Requeueing {
    case none
    /// It has to, once libcurl has let go of it.
    case required
    /// It has been back in the queue.
    case done
  }

  var terms: TransferTerms
  private(set) var phase = Phase.waiting
  /// The attempt whose connection it has; nil while it waits and connects.
  private(set) var carrier: Carrier?
  /// Not part of the phase, so that they can be changed in place.
  var attempts = ConnectAttempts()
  private(set) var admission = Admission.any
  private(set) var requeueing = Requeueing.none
  /// Whether libcurl has sent the request again, so that it may have reached a server more than once.
  private(set) var hasRetried = false
  /// Whether libcurl wanted to send it again, and was not allowed to.
  private(set) var wasRetryRefused = false
  /// How often libcurl has sent the request again because it was refused unprocessed.
  private(set) var refusals = 0
  /// Whether the response refuses the request's expectation (417): the one behind which libcurl wants to retry it.
  private(set) var isExpectationRefused = false
  /// Whether it is known that HTTP/2 refused the request which libcurl could not send again.
  private(set) var isUnprocessed = false
  /// The address that ``PoolLoad`` counts it under.
  private(set) var countedAddress: IPAddress?
  private(set) var startedAt: Int64 = 0
  /// An address that was about to be dialled although the policy forbids it.
  private(set) var forbidden: IPAddress?
  /// Whether the response is held back until its reader has caught up.
  private(set) var isHeldBack = false
  /// Since when the source of the request's body has had nothing to send; nil if it has.
  var starvedSince: Int64?
  /// Since when nothing of the request's body has been sent, with the response complete; nil if that is not so.
  var answeredSince: Int64?
  /// Since when libcurl connects once more, in order to retry the request; nil if it does not.
  private(set) var dialsAgainSince: Int64?

  init(_ terms: TransferTerms) { self.terms = terms }

  var isWaiting: Bool { phase == .waiting }

  /// Whether that attempt carries it, and the head of its response has come.
  func isReceiving(from number: Int) -> Bool {
    phase == .receiving && carrier?.attempt == number && !mustRequeue
  }

  /// Whether it has a connection, and no response has come.
  var isAwaitingResponse: Bool { phase == .sent }

  var mustRequeue: Bool { requeueing == .required }

  // MARK: Connecting

  /// It leaves the queue, and begins to connect.
  mutating func begin(_ admission: Admission, _ addresses: [IPAddress], delay: Int64, at now: Int64) {
    startedAt = now
    self.admission = admission
    countedAddress = addresses.first
    phase = .connecting
    if terms.isProxied {
      attempts.beginProxied(at: now)
    } else {
      attempts.begin(ConnectionRace(addresses, delay: delay, hasOthers: terms.hasOthers))
    }
  }

  /// Notes an address that libcurl was about to dial although the policy forbids it.
  mutating func forbid(_ address: IPAddress) { forbidden = address }

  /// What follows from getting a connection.
  struct Connected {
    let carrier: Carrier
    /// The attempt that has the connection.
    let attempt: ConnectAttempts.Attempt
    /// The address that it was counted under until then.
    let countedAddress: IPAddress?
    /// Whether it was opening a connection that others will share.
    let wasOpening: Bool
    /// The attempts that lost the race, and have been dropped.
    let losers: [Int]
  }

  /// An attempt has a connection.
  ///
  /// - Returns: what follows; nil unless it is the first attempt with a connection, which carries the request.
  mutating func connected(_ number: Int, at now: Int64) -> Connected? {
    guard phase == .connecting, let winner = attempts.connected(number, at: now) else { return nil }
    let carrier = Carrier(attempt: number, address: winner.address, since: now, movedAt: now)
    let connected = Connected(
      carrier: carrier, attempt: winner, countedAddress: countedAddress, wasOpening: admission == .opening,
      losers: attempts.dropOthers(than: number))
    (phase, self.carrier) = (.sent, carrier)
    // From now on it is counted under the address of its connection.
    countedAddress = winner.address
    admission = .any
    // Another attempt may have found no room just now, and it is this one that counts.
    if mustRequeue { requeueing = .none }
    return connected
  }

  // MARK: Back in the queue

  /// There is no room on the connection that it was to share: it has to go back into the queue.
  ///
  /// - Returns: whether it may: only once, since libcurl may keep a connection open that it does not use any more.
  mutating func requireRequeue() -> Bool {
    if requeueing == .done { return false }
    requeueing = .required
    return true
  }

  /// The same for one whose request libcurl is about to send once more: like all others it has to wait for its turn.
  mutating func requireRequeueOfSent() { requeueing = .required }

  mutating func requeue() {
    (phase, carrier) = (.waiting, nil)
    attempts.reset()
    (starvedSince, answeredSince, dialsAgainSince) = (nil, nil, nil)
    requeueing = .done
  }

  // MARK: On a connection

  /// Bytes were sent or received.
  mutating func moved(at now: Int64) { carrier?.movedAt = now }

  /// A part of the request's body has been sent, or the body has ended.
  mutating func sent(at now: Int64) {
    starvedSince = nil
    if answeredSince != nil { answeredSince = now }
    moved(at: now)
  }

  /// The response is held back, since its reader is behind.
  mutating func heldBack() { isHeldBack = true }

  /// Its reader has caught up.
  mutating func resumed(at now: Int64) {
    isHeldBack = false
    moved(at: now)
  }

  /// Notes how many requests had joined connections of the pool when this one opened its own; nil if it joined one.
  mutating func joined(after joins: Int?) { carrier?.joinsAtStart = joins }

  /// The response's head is complete.
  ///
  /// - Parameter refusesExpectation: whether its status is 417.
  /// - Returns: whether that was not known before.
  mutating func headIsComplete(refusesExpectation: Bool = false) -> Bool {
    guard phase == .sent else { return false }
    phase = .receiving
    isExpectationRefused = refusesExpectation
    return true
  }

  /// libcurl has given up, since it may not retry the request: it is being found out whether HTTP/2 refused it.
  mutating func checkRefusal(at now: Int64) {
    guard carrier != nil else { return }
    phase = .checkingRefusal
    sent(at: now)
  }

  // MARK: Retrying

  /// Its connection has ended before a response came, and libcurl connects to the same address once more.
  ///
  /// To a proxy that has several addresses it does so more than once: the time for all runs from the first.
  mutating func dialsAgain(at now: Int64) { if phase == .sent, dialsAgainSince == nil { dialsAgainSince = now } }

  /// libcurl has a connection for what it retries.
  mutating func connectedAgain() { dialsAgainSince = nil }

  /// Whether HTTP/2 refused the request: libcurl retries it only for that if nobody joined the connection it opened.
  func wasRefused(joins: Int) -> Bool { carrier?.joinsAtStart == joins }

  /// Whether libcurl may send the request again: if it was refused unprocessed, or, once, if it does no harm twice.
  ///
  /// Never with trailers: a handle of libcurl 7.88 that has sent some writes the next chunked body beyond its buffer.
  func mayBeSentAgain(joins: Int) -> Bool {
    !terms.hasTrailers && (wasRefused(joins: joins) || (terms.isRetryable && !hasRetried))
  }

  /// Notes a retry, unless the request was refused, which counts as not sent.
  mutating func noteRetry(joins: Int) { if wasRefused(joins: joins) { refusals += 1 } else { hasRetried = true } }

  /// Notes that libcurl wanted to send the request again, and may not.
  mutating func refuseRetry() { wasRetryRefused = true }

  /// Notes that libcurl wanted to send the request again, and cannot go back to the beginning of its body.
  mutating func refuseRewind(joins: Int) {
    isUnprocessed = wasRefused(joins: joins)
    refuseRetry()
  }
}
