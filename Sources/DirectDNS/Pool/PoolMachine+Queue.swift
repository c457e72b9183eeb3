// SPDX-License-Identifier: Apache-2.0
/// Who leaves the queue, and when.
extension PoolMachine {
  /// How one more transfer may start in a pool, or what it has to wait for.
  func admission(to pool: SlabID<Pool>) -> PoolLoad.Admission? {
    let free = limits.connections - taken
    return pools.read(pool) { $0.load.admission(free: free) }
  }

  /// Starts waiting transfers, in the order of arrival, until there is no room for more.
  mutating func admitWaiting(at now: Int64) {
    while let pool = waiting.nextPool {
      switch admission(to: pool) {
      case .reuse: take(from: pool, .reuse, at: now)
      case .open: take(from: pool, .open, at: now)
      case .poolIsFull, nil: waiting.parkNext()
      case .allInUse: return admitOntoEstablished(at: now)
      }
    }
  }

  /// When no further connection may be opened: established ones that multiplex may still have room.
  private mutating func admitOntoEstablished(at now: Int64) {
    for pool in changed where pools.read(pool, { $0.load.multiplexing }) != .never {
      while pools.read(pool, { $0.load.admission(free: 0) }) == .reuse, waiting.isWaiting(in: pool) {
        take(from: pool, .reuse, at: now)
      }
    }
  }

  /// Begins the first transfer that waits in a pool, if it still does.
  private mutating func take(from pool: SlabID<Pool>, _ admission: PoolLoad.Admission, at now: Int64) {
    guard let id = waiting.popFirst(in: pool) else { return }
    // One that has ended may have been all that kept the pool.
    guard transfers.has(id) else { return note(pool) }
    waitingDeadlines.set(id, at: nil)
    if let failure = outageFailure(of: id, in: pool, at: now) { return finish(id, .failure(failure)) }
    begin(id, in: pool, admission, at: now)
  }

  /// Starts a transfer's attempts to connect.
  mutating func begin(
    _ id: TransferID, in pool: SlabID<Pool>, _ admission: PoolLoad.Admission, at now: Int64
  ) {
    guard let multiplexing = pools.read(pool, { $0.load.multiplexing }),
      let (wanted, isProxied) = transfers.read(id, { ($0.state.terms.addresses, $0.state.terms.isProxied) })
    else { return }
    let role: TransferState.Admission =
      switch multiplexing {
      case .never: .any
      case .unknown: admission == .open ? .opening : .any
      case .always: admission == .open ? .opening : .sharing
      }
    let interleaved = ConnectionRace.interleaved(wanted)
    let addresses = pools.read(pool) { $0.load }?.ordered(interleaved) ?? interleaved
    let (delay, place) = (limits.attemptDelay, running.count)
    running.append(id)
    transfers.change(id) {
      $0.state.begin(role, addresses, delay: delay, at: now)
      $0.place = place
    }
    note(pool) { $0.started(addresses.first, opens: role == .opening) }
    if isProxied {
      actions.append(.connect(id, attempt: 0, nil, waits: role == .sharing))
    } else {
      step(id, at: now)
    }
    noteDue(id)
  }

  /// Puts a transfer that found no room back into the queue, before all that came after it.
  mutating func requeue(_ id: TransferID) {
    guard let transfer = transfers[id] else { return }
    for attempt in transfer.state.attempts.running { actions.append(.close(id, attempt: attempt.number)) }
    actions.append(.startOver(id))
    transfers.change(id) { $0.state.requeue() }
    note(transfer.pool) {
      $0.ended(transfer.state.countedAddress, wasOpening: false, wasConnected: transfer.state.carrier != nil)
    }
    noteStopped(id, transfer.place)
    waiting.requeue(id, in: transfer.pool)
    noteDue(id)
  }
}
