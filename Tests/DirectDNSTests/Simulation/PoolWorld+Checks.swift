// SPDX-License-Identifier: Apache-2.0
@testable import DirectDNS

/// What must hold in a ``PoolWorld``.
extension PoolWorld {
  mutating func fault(_ text: String) { faults.append("at \(now) ms, event \(events): \(text)") }

  /// After each event.
  mutating func check(_ event: Event) {
    for (number, caller) in callers.enumerated() {
      if caller.answers > 1 { fault("caller \(number) was answered \(caller.answers) times") }
      // Of one that is sent anew without its expectation nobody remembers that libcurl had sent it twice before.
      let limit = !caller.isRetryable ? 1 : caller.isWithdrawn ? 3 : 2
      if caller.processed > limit { fault("caller \(number)'s request was processed \(caller.processed) times") }
      if caller.body == .oneShot, caller.readings > 1 {
        fault("caller \(number)'s body was read \(caller.readings) times, and comes once")
      }
      if caller.isCancelled, caller.id != nil { fault("caller \(number) has left, and its transfer goes on") }
      if caller.answers == 0, now > caller.deadline, caller.id != nil {
        fault("caller \(number) waits beyond its deadline")
      }
    }
    for (id, attempt) in attempts {
      if let since = attempt.stuckSince, now > since + 5_000 { fault("\(id) is stuck behind its response") }
    }
    checkRoom(event)
  }

  private mutating func checkRoom(_ event: Event) {
    let pools = machine.pools.ids.compactMap { machine.pools[$0] }
    let free = machine.limits.connections - pools.reduce(0) { $0 + $1.load.weight }
    for pool in pools where pool.load.multiplexing == .never && servers[pool.route].known == .never {
      if pool.load.running > machine.limits.connectionsPerRoute {
        fault("route \(pool.route) has \(pool.load.running) requests under way")
      }
    }
    if servers.allSatisfy({ $0.known == .never }), free < 0 { fault("\(-free) connections too many are taken") }
    for id in machine.transfers.ids {
      guard let transfer = machine.transfers[id] else { continue }
      if transfer.state.due < machine.nextDue { fault("\(id) is due before the machine wants to be woken") }
      guard transfer.state.isWaiting else { continue }
      let admission = machine.pools[transfer.pool]?.load.admission(free: free)
      if admission == .reuse || admission == .open { fault("\(id) waits although it could start, after \(event)") }
    }
    for (socket, connection) in sockets where connection.isEstablished {
      if connection.users.count > streams(connection.server) { fault("socket \(socket) carries too many requests") }
    }
    for (socket, connection) in sockets {
      guard let address = connection.address, servers[connection.server].addresses[address] == .forbidden else {
        continue
      }
      fault("socket \(socket) goes to \(address), which is forbidden")
    }
  }

  /// When all is over.
  mutating func checkEnd() {
    for (number, caller) in callers.enumerated() where caller.answers != 1 {
      fault("caller \(number) was answered \(caller.answers) times")
    }
    if machine.transfers.count > 0 || !attempts.isEmpty || !discarded.isEmpty { fault("something is still under way") }
    for socket in Array(sockets.keys) {
      sockets[socket] = nil
      machine.closed(socket)
    }
    _ = machine.endTurn(at: now)
    guard machine.pools.count > 0 || machine.connections.count > 0 else { return }
    let left = machine.pools.ids.compactMap { machine.pools[$0] }.map { pool in
      "route \(pool.route): \(pool.load.running) running, \(pool.sockets.count) sockets, weight \(pool.load.weight)"
    }
    fault("pools are left, with \(machine.waiting.count) in the queue: \(left.joined(separator: "; "))")
  }
}
