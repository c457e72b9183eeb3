// SPDX-License-Identifier: Apache-2.0
@testable import DirectDNS

/// Those who send requests in a ``PoolWorld``, and their bodies.
extension PoolWorld {
  enum Body: CaseIterable {
    case none, bytes
    /// Pieces that come one after the other, and can be made anew.
    case replayable
    /// Pieces that come once.
    case oneShot

    var isPulled: Bool { self == .replayable || self == .oneShot }
  }

  /// A request, over all the times that it is sent.
  struct Caller {
    let server: Int
    let body: Body
    /// After so many pieces its source has no more, although it should.
    let failsAfter: Int?
    let isRetryable: Bool
    let deadline: Int64
    /// For how long a response may be silent; nil for as long as it likes.
    let idleTimeout: Int64?
    /// Whether it waits for the server to say that it may send its body.
    var expectsContinue: Bool
    /// Whether its body was withdrawn, and the request sent anew.
    var isWithdrawn = false
    var history = RetryRule.History()
    /// How often a server may have acted on it.
    var processed = 0
    /// How often its body's source was asked from the beginning.
    var readings = 0
    /// Whether the source of its body has failed.
    var hasBodyFailed = false
    /// Whether a response's head has come.
    var hasHead = false
    var answers = 0
    var isCancelled = false
    var id: ID?
    /// Whether this transfer has begun to read the body.
    var isRead = false
  }

  mutating func enter(_ number: Int) {
    let arrival = Int64.random(in: 0...3_000, using: &random)
    let body = chance(0.5) ? Body.none : Body.allCases.randomElement(using: &random) ?? .none
    callers.append(
      Caller(
        server: Int.random(in: servers.indices, using: &random), body: body,
        failsAfter: body.isPulled && chance(0.1) ? Int.random(in: 0...3, using: &random) : nil,
        isRetryable: body != .oneShot && chance(0.6), deadline: arrival + Int64.random(in: 50...20_000, using: &random),
        idleTimeout: chance(0.3) ? Int64.random(in: 1...2_000, using: &random) : nil,
        expectsContinue: body != .none && chance(0.2)))
    plan(.arrive(number), at: arrival)
    if chance(0.15) { plan(.cancel(number), at: arrival + Int64.random(in: 0...2_000, using: &random)) }
    if chance(0.05) { plan(.closeIdle(nil), at: arrival) }
  }

  mutating func start(_ number: Int) {
    let caller = callers[number]
    guard !caller.isCancelled else { return callers[number].answers += 1 }
    let server = servers[caller.server]
    let addresses = server.addresses.keys.filter { !server.late.contains($0) }.sorted {
      $0.description < $1.description
    }
    let isProxied = server.proxy != nil
    let terms = TransferTerms(
      addresses: isProxied ? [] : addresses, isProxied: isProxied, hasOthers: !isProxied && !server.late.isEmpty,
      isRetryable: caller.isRetryable && !caller.history.hasRetried, canStartOver: caller.body != .oneShot,
      expectsContinue: caller.expectsContinue, connectTimeout: 5_000, firstByteTimeout: 2_000,
      idleTimeout: caller.idleTimeout, deadline: caller.deadline)
    let id = machine.start(terms, caller.server, server.known, at: now)
    callers[number].id = id
    callers[number].isRead = false
    callers[number].hasHead = false
    callerOf[id] = number
  }

  mutating func ended(_ id: ID, _ result: Result<Void, TransferFailure>) {
    guard let number = callerOf.removeValue(forKey: id) else {
      if discarded.remove(id) == nil { fault("\(id) ended twice, or never began") }
      return
    }
    callers[number].id = nil
    // Of a response that is read already, the reader hears.
    if case .failure(var failure) = result, !callers[number].hasHead, now < callers[number].deadline,
      !callers[number].isCancelled
    {
      let caller = callers[number]
      if caller.hasBodyFailed { failure = failure.changed { $0.bodyFailure = failure } }
      let canBeReplayed = caller.body != .oneShot || slip == .replaysBody
      if callers[number].history.allows(failure, isRetryable: caller.isRetryable, canBeReplayed: canBeReplayed) {
        return plan(.arrive(number), in: 0...0)
      }
    }
    callers[number].answers += 1
    if now > callers[number].deadline { fault("caller \(number) was answered after its deadline") }
  }

  /// The server will not have the body: it is withdrawn, and the request goes out again without asking.
  ///
  /// What comes of the first one is read by nobody.
  mutating func withdrawBody(of id: ID) {
    guard let number = callerOf[id], callers[number].expectsContinue else { return }
    guard !callers[number].isRead || callers[number].body != .oneShot else { return }
    callerOf[id] = nil
    callers[number].id = nil
    discarded.insert(id)
    callers[number].expectsContinue = false
    callers[number].isWithdrawn = true
    plan(.arrive(number), in: 0...0)
  }

  // MARK: Bodies

  /// libcurl reads a body from its beginning.
  ///
  /// - Returns: whether it can: a source that was asked once may not be asked again.
  mutating func readBody(of number: Int) -> Bool {
    guard callers[number].body.isPulled else { return true }
    guard !callers[number].isRead || callers[number].body == .replayable else { return false }
    callers[number].isRead = true
    callers[number].readings += 1
    return true
  }

  /// The machine has all forgotten that a transfer has sent and received.
  mutating func startOver(_ id: ID) {
    guard let number = callerOf[id] else { return }
    if callers[number].hasHead { fault("\(id) starts over, and its response is read already") }
    if callers[number].body == .oneShot, callers[number].isRead {
      fault("\(id) starts over, and the beginning of its body is gone")
    }
  }
}
