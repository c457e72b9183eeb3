// SPDX-License-Identifier: Apache-2.0
/// How connections are opened where a server has several addresses: by Happy Eyeballs (RFC 8305), since libcurl gives
/// the first address half of all the time before it tries the next one of its family (to 8.15).
extension QueryPoolMachine {
  /// Begins a query's race with the attempt that is under way, unless it has one.
  mutating func beginRace(of id: QueryID, by number: Int, at now: Int64) {
    let first = handles[number].address
    let all = ConnectionRace.interleaved((first.map { [$0] } ?? []) + addresses.filter { $0 != first })
    let due = queries.change(id) { query in
      guard query.race == nil else { return Int64.max }
      var race = ConnectionRace(all, delay: Self.attemptDelay)
      _ = race.step(at: now)
      query.race = race
      return race.nextStart ?? .max
    }
    guard let due, due < .max else { return }
    handles[number].attempt = 0
    nextDue = min(nextDue, due)
  }

  /// Starts the attempts of a query that are due.
  ///
  /// - Returns: whether any attempt is under way or will be.
  @discardableResult
  mutating func advance(_ id: QueryID, at now: Int64) -> Bool {
    while let step = queries.change(id, { $0.race?.step(at: now) }) ?? nil {
      switch step {
      case .start(let address, let attempt): begin(id, to: address, attempt: attempt, at: now)
      case .wait(let instant):
        nextDue = min(nextDue, instant)
        return true
      case .rest, .ask: return true
      case .lost: return false
      }
    }
    return true
  }

  /// An attempt has failed before its query could be sent: the next address is tried.
  ///
  /// - Returns: whether any attempt goes on; otherwise the attempt is left as it is.
  mutating func tryNext(_ id: QueryID, after number: Int, at now: Int64) -> Bool {
    guard handles[number].stage != .sent, addresses.count > 1 else { return false }
    beginRace(of: id, by: number, at: now)
    let attempt = handles[number].attempt
    queries.change(id) { $0.race?.failed(attempt) }
    guard advance(id, at: now) else { return false }
    release(number)
    return true
  }

  /// The first connection of a query's race is the one for every query that has none yet.
  mutating func settleRaces(at now: Int64) {
    guard !winners.isEmpty else { return }
    for winner in winners {
      guard let id = handles[winner].query, handles[winner].stage == .sent else { continue }
      queries.change(id) { $0.race = nil }
      let address = handles[winner].address
      move(address, toFront: true)
      for number in handles.indices where number != winner && handles[number].stage != .sent {
        guard let other = handles[number].query, other == id || handles[number].address != address else { continue }
        queries.change(other) { $0.race = nil }
        if other == id || handles.indices.contains(where: { $0 != number && handles[$0].query == other }) {
          release(number)
        } else if other == abandoned {
          // There is a connection now.
          fail(other, .cancelled, at: now)
        } else {
          beginAgain(other, by: number, at: now)
        }
      }
    }
    winners.removeAll(keepingCapacity: true)
    fill(at: now)
  }

  /// Has an address be tried first from now on, or last.
  mutating func move(_ address: IPAddress?, toFront: Bool) {
    guard let address, let place = addresses.firstIndex(of: address) else { return }
    addresses.remove(at: place)
    addresses.insert(address, at: toFront ? 0 : addresses.endIndex)
  }
}
