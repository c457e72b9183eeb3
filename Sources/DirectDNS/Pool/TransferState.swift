// SPDX-License-Identifier: Apache-2.0
/// One transfer's life: it waits, attempts race for a connection, one of them carries it, and it ends.
///
/// A pure value, in milliseconds of its owner's clock. It knows nothing of other transfers; see ``PoolMachine``.
struct TransferState {
  enum Phase {
    /// For its turn.
    case waiting
    /// Attempts run.
    case connecting
    /// The request goes out, and no response has come.
    case sent(Carrier)
    /// The response's head is complete.
    case receiving(Carrier)
    /// It failed, and libcurl is being asked whether HTTP/2 refused the request unprocessed.
    case checkingRefusal(Carrier)
  }

  /// The attempt whose connection the transfer got.
  struct Carrier: Equatable {
    let attempt: Int
    let address: IPAddress?
    let since: Int64
    /// When something moved last.
    var movedAt: Int64
    /// How many requests had joined the pool's connections when this one opened its own; nil if it joined one.
    var joinsAtStart: Int?
  }

  /// How it came to its connection.
  enum Admission {
    /// It may open one, as any other.
    case any
    /// It opens one for those that wait, too.
    case opening
    /// It joins one that carries others.
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

  /// Whether the request was sent again.
  enum Retry {
    case none, once
    /// It may have arrived, and must not be sent again.
    case refused(before: Bool)
  }

  var terms: TransferTerms
  private(set) var phase = Phase.waiting
  /// Beside the phase, so that they are changed where they stand.
  var attempts = ConnectAttempts()
  private(set) var admission = Admission.any
  private(set) var requeueing = Requeueing.none
  private(set) var retry = Retry.none
  /// The address that its pool counts it under.
  private(set) var countedAddress: IPAddress?
  private(set) var startedAt: Int64 = 0
  /// An address that was about to be dialled although the policy forbids it.
  private(set) var forbidden: IPAddress?
  /// Whether the response waits for its reader, and not for the server.
  private(set) var isHeldBack = false
  /// Whether the request waits for more of its own body, and not for the server.
  private(set) var isStarved = false

  init(_ terms: TransferTerms) { self.terms = terms }

  var isWaiting: Bool { if case .waiting = phase { true } else { false } }

  /// The attempt that carries it, if one does.
  var carrier: Carrier? {
    switch phase {
    case .waiting, .connecting: nil
    case .sent(let carrier), .receiving(let carrier), .checkingRefusal(let carrier): carrier
    }
  }

  /// Whether an attempt carries it, and its response's body comes or was complete with the head.
  func isReceiving(from number: Int) -> Bool {
    if case .receiving(let carrier) = phase { carrier.attempt == number && !mustRequeue } else { false }
  }

  /// Whether the request goes out, and no response has come.
  var isAwaitingResponse: Bool { if case .sent = phase { true } else { false } }

  var mustRequeue: Bool { if case .required = requeueing { true } else { false } }

  /// Whether it was sent before, and may have reached a server then.
  var hasRetried: Bool {
    switch retry {
    case .once, .refused(before: true): true
    case .none, .refused(before: false): false
    }
  }

  // MARK: Connecting

  /// Its turn has come.
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

  /// Nothing of it may be dialled: the policy forbids what libcurl was about to dial.
  mutating func forbid(_ address: IPAddress) { forbidden = address }

  /// What follows from the connection that it got.
  struct Connected {
    let carrier: Carrier
    /// The attempt that has it.
    let attempt: ConnectAttempts.Attempt
    /// The address that it was counted under until then.
    let countedAddress: IPAddress?
    /// Whether it opened a connection for those that wait, too.
    let wasOpening: Bool
    /// The attempts that lost the race, which are over.
    let losers: [Int]
  }

  /// An attempt has a connection.
  ///
  /// - Returns: what follows; nil unless it is the first that has, and so carries the request.
  mutating func connected(_ number: Int, at now: Int64) -> Connected? {
    guard case .connecting = phase, let winner = attempts.connected(number, at: now) else { return nil }
    let carrier = Carrier(attempt: number, address: winner.address, since: now, movedAt: now)
    let connected = Connected(
      carrier: carrier, attempt: winner, countedAddress: countedAddress, wasOpening: admission == .opening,
      losers: attempts.dropOthers(than: number))
    phase = .sent(carrier)
    // It counts where it is, on a connection of its own or one that it joined.
    countedAddress = winner.address
    admission = .any
    return connected
  }

  // MARK: Waiting once more

  /// There is no room on the connection that it was to share: it has to go back into the queue.
  ///
  /// - Returns: whether it may: only once, since libcurl may keep a connection open that it does not use any more.
  mutating func requireRequeue() -> Bool {
    if case .done = requeueing { return false }
    requeueing = .required
    return true
  }

  /// The same for one whose request libcurl is about to send once more: like all others it has to wait for its turn.
  mutating func requireRequeueOfSent() { requeueing = .required }

  /// Waits for its turn from the beginning.
  mutating func requeue() {
    phase = .waiting
    attempts.reset()
    isStarved = false
    requeueing = .done
  }

  // MARK: Carried

  mutating func moved(at now: Int64) { changeCarrier { $0.movedAt = now } }

  /// The request's body has nothing to send for now.
  mutating func starved() { isStarved = true }

  /// Something of the request's body went out, or it has come to its end.
  mutating func sent(at now: Int64) {
    isStarved = false
    moved(at: now)
  }

  /// Its reader has enough for now.
  mutating func heldBack() { isHeldBack = true }

  /// Its reader has caught up.
  mutating func resumed(at now: Int64) {
    isHeldBack = false
    moved(at: now)
  }

  mutating func joined(after joins: Int?) { changeCarrier { $0.joinsAtStart = joins } }

  /// The response's head is complete.
  ///
  /// - Returns: whether that is news.
  mutating func headIsComplete() -> Bool {
    guard case .sent(let carrier) = phase else { return false }
    phase = .receiving(carrier)
    return true
  }

  /// libcurl gave up what it may not repeat; whether HTTP/2 refused it is found out.
  mutating func checkRefusal(at now: Int64) {
    guard var carrier else { return }
    carrier.movedAt = now
    phase = .checkingRefusal(carrier)
    isStarved = false
  }

  private mutating func changeCarrier(_ change: (inout Carrier) -> Void) {
    switch phase {
    case .waiting, .connecting: break
    case .sent(var carrier):
      change(&carrier)
      phase = .sent(carrier)
    case .receiving(var carrier):
      change(&carrier)
      phase = .receiving(carrier)
    case .checkingRefusal(var carrier):
      change(&carrier)
      phase = .checkingRefusal(carrier)
    }
  }

  // MARK: Repeating

  /// Whether libcurl wants to send the request again because HTTP/2 refused it: nobody has joined the connection that it
  /// opened, and libcurl repeats the request there for that reason alone.
  func wasRefused(joins: Int) -> Bool { carrier?.joinsAtStart == joins }

  /// Whether the request may be sent again: it was refused unprocessed, or does no harm when it comes twice, once.
  ///
  /// Not by libcurl where fields follow the body: 7.88 writes beside its buffer when a handle that has sent some sends
  /// another body in chunks.
  func mayBeSentAgain(joins: Int) -> Bool {
    !terms.hasTrailers && (wasRefused(joins: joins) || (terms.isRetryable && !hasRetried))
  }

  /// Counts a retry, unless the request was refused and so was not sent.
  mutating func noteRetry(joins: Int) { if !wasRefused(joins: joins) { retry = .once } }

  /// The request must not be sent again, although libcurl wants to.
  mutating func refuseRetry() { retry = .refused(before: hasRetried) }

  var wasRetryRefused: Bool { if case .refused = retry { true } else { false } }
}
