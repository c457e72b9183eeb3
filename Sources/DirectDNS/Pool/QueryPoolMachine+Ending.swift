// SPDX-License-Identifier: Apache-2.0
internal import DequeModule

/// How queries end: by a reply, by a failure that is not repaired, or because their time is over.
extension QueryPoolMachine {
  /// libcurl has ended a handle's transfer.
  mutating func ended(_ number: Int, _ outcome: Outcome, at now: Int64) {
    // Only then: otherwise its query may be begun anew on the same handle, and this end would be taken for that one's.
    if handles[number].stage == .sent { settleRaces(at: now) }
    guard let id = handles[number].query else { return }
    switch outcome {
    case .replied(let isHTTP2):
      handles[number].repliedAt = now
      (isSerial, speaksHTTP2) = (!isHTTP2, isHTTP2)
      guard id != abandoned else { return fail(id, .cancelled, at: now) }
      queries.remove(id)
      actions.append(.reply(id, from: number))
      release(number)
      fill(at: now)
    case .failed(let error, let end):
      // Another attempt of its query may carry it.
      let winner = queries.read(id) { $0.race?.winner } ?? nil
      guard winner == nil || winner == handles[number].attempt else { return release(number) }
      guard handles[number].isLost else { return failed(id, by: number, error, end, at: now) }
      failed(id, by: number, .connectionLost("the connection ended before its reply"), .connectionEnded, at: now)
    }
  }

  private mutating func failed(
    _ id: QueryID, by number: Int, _ error: HTTPTransportError, _ end: AttemptEnd, at now: Int64
  ) {
    if !error.isLocal, tryNext(id, after: number, at: now) { return }
    let isCrowded = wasCrowded(number)
    let isLost =
      switch end {
      // A server ends an HTTP/2 connection after so many requests (nginx: `keepalive_requests`), and to 8.3 libcurl does
      // not retry all that were refused by that (curl#12054). A DNS query may be retried (RFC 9110 §9.2.2).
      case .sendFailed, .connectionEnded: isCrowded || !handles[number].hasResponse
      case .http2: true
      case .complete, .streamEnded, .other: false
      }
    let limit = isCrowded ? Self.retryLimit : 1
    guard isLost, id != abandoned, let retries = queries.read(id, { $0.retries }), retries < limit else {
      return fail(id, error, at: now)
    }
    queries.change(id) { $0.retries += 1 }
    let (port, began) = (handles[number].port, handles[number].startedAt)
    if end != .http2, now - began >= Self.silenceLimit { endIdle(besides: port, silentSince: began) }
    beginAgain(id, by: number, at: now)
  }

  /// How often a query is sent again that was always lost together with others.
  ///
  /// Unbound ends the whole connection, with all that it carries, at a name that it drops (`deny`). The first time they go
  /// together once more, from then on each on a connection of its own.
  private static let retryLimit = 3

  /// Whether the connection that a handle's transfer has lost has carried others' queries too.
  private func wasCrowded(_ number: Int) -> Bool {
    let handle = handles[number]
    guard handle.stage == .sent, handle.isShared else { return false }
    // Those that have just ended count: the one that the connection was lost for may have timed out.
    return handles.indices.contains { $0 != number && handles[$0].port == handle.port }
  }

  // MARK: Time

  /// Does what is due; called at the end of a turn of the loop, after all events of the turn.
  ///
  /// - Returns: the instant before which nothing will be due.
  mutating func endTurn(at now: Int64) -> Int64 {
    settleRaces(at: now)
    makeRoom(at: now)
    if nextDue <= now { checkRunning(at: now) }
    if nextWaitingDue <= now { checkWaiting(at: now) }
    return min(nextDue, nextWaitingDue)
  }

  /// Ends the query that nobody waits for if others need its connection's place: libcurl would have them wait for it.
  private mutating func makeRoom(at now: Int64) {
    guard let abandoned, awaited >= connectionLimit else { return }
    // As long as it is not known what the first connection speaks, the others wait to share it.
    guard isSerial || handles.contains(where: { $0.query == abandoned && $0.stage == .sent }) else { return }
    fail(abandoned, .cancelled, at: now)
  }

  private mutating func checkRunning(at now: Int64) {
    nextDue = .max
    // Not left to libcurl, which can lose timers (see ``CurlRecheck``).
    for number in handles.indices {
      guard let id = handles[number].query, let deadline = queries.read(id, { $0.deadline }) else { continue }
      if deadline <= now {
        noteSilence(id, timedOut: true, at: now)
        fail(id, .timedOut, at: now)
      } else {
        nextDue = min(nextDue, deadline)
        advance(id, at: now)
      }
    }
  }

  /// Ends the queries in the queue whose time is over: deadlines are not in its order.
  private mutating func checkWaiting(at now: Int64) {
    nextWaitingDue = .max
    for id in queue {
      guard let deadline = queries.read(id, { $0.deadline }) else { continue }
      if deadline <= now {
        queries.remove(id)
        actions.append(.fail(id, .timedOut))
      } else {
        nextWaitingDue = min(nextWaitingDue, deadline)
      }
    }
    let known = queries
    queue.removeAll { !known.has($0) }
  }

  // MARK: Silence

  /// What is known of a connection that does not reply.
  struct Silence {
    /// When the first query began that it has not replied to, nor to anything else since.
    var since: Int64
    /// How many queries have ended so.
    var queries = 0
  }

  /// So many queries that were cancelled are enough for a silent connection to be given up: one may just have been late.
  private static let cancelledLimit = 3

  /// A query has timed out or was cancelled: notes what has been silent since it began, and ends its connection if that
  /// has lasted: it may have died in a way that TCP does not notice.
  mutating func noteSilence(_ id: QueryID, timedOut: Bool, at now: Int64) {
    for number in handles.indices where handles[number].query == id {
      let handle = handles[number]
      guard handle.stage != .waiting, !handle.hasResponse else { continue }
      let began = handle.startedAt
      if timedOut, !handles.contains(where: { $0.address == handle.address && $0.repliedAt > began }) {
        move(handle.address, toFront: false)
      }
      guard handle.stage == .sent else { continue }
      guard !hasReplied(handle.port, since: began) else {
        silent[handle.port] = nil
        continue
      }
      var silence =
        silent[handle.port].flatMap { hasReplied(handle.port, since: $0.since) ? nil : $0 } ?? .init(since: began)
      silence.queries += 1
      let counts = timedOut || now - began >= Self.silenceLimit || silence.queries >= Self.cancelledLimit
      let isOver = counts && now - silence.since >= Self.silenceLimit
      silent[handle.port] = isOver ? nil : silence
      if isOver { actions.append(.endConnection(port: handle.port)) }
      if isOver, timedOut { endIdle(besides: handle.port, silentSince: silence.since) }
    }
  }

  /// libcurl has another connection for a handle's query, kept or new: ends the idle ones if it was sent before, on one
  /// that is lost behind a silence.
  ///
  /// What was sent on a kept connection that ends before any response, libcurl sends again by itself, on the next one
  /// that it keeps, up to five times.
  ///
  /// - Returns: whether that was so.
  @discardableResult
  mutating func noteLoss(of number: Int, at now: Int64) -> Bool {
    let handle = handles[number]
    guard handle.isOnConnection, now - handle.startedAt >= Self.silenceLimit else { return false }
    endIdle(besides: handle.port, silentSince: handle.startedAt)
    return true
  }

  /// Ends the idle connections where another one has been lost behind a silence, unless they have replied since.
  ///
  /// They have mostly vanished with it: a NAT has forgotten them all, or this machine has another address by now. A
  /// query would find that out of one after the other, and its time would be over at the second.
  private mutating func endIdle(besides lost: Int32, silentSince began: Int64) {
    for number in handles.indices {
      let port = handles[number].port
      guard port != 0, port != lost, !isUsed(port), !hasReplied(port, since: began) else { continue }
      silent[port] = nil
      for other in handles.indices where handles[other].port == port { handles[other].port = 0 }
      actions.append(.endConnection(port: port))
    }
  }

  /// Whether a query is on a connection.
  private func isUsed(_ port: Int32) -> Bool { handles.contains { $0.port == port && $0.isOnConnection } }

  private func hasReplied(_ port: Int32, since: Int64) -> Bool {
    handles.contains { $0.port == port && $0.repliedAt > since }
  }
}
