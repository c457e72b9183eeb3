// SPDX-License-Identifier: Apache-2.0
@testable import DirectDNS

/// What must hold in a ``QueryPoolWorld``.
extension QueryPoolWorld {
  mutating func fault(_ text: String) { faults.append("at \(now) ms, event \(events): \(text)") }

  /// After each event.
  mutating func check() {
    for (number, caller) in callers.enumerated() {
      if caller.answers > 1 { fault("caller \(number) was answered \(caller.answers) times") }
      if caller.sendings > (isHTTP2 ? 4 : 2) { fault("caller \(number)'s query was sent \(caller.sendings) times") }
      if caller.sendingsUnwanted > (isHTTP2 ? 0 : 1) { fault("caller \(number)'s query was sent for nobody") }
      if caller.id != nil, now > caller.deadline + Self.turn { fault("caller \(number) waits beyond its deadline") }
    }
    let queries = Set(current.values.map(\.query))
    let limit = max(machine.limits.width, machine.limits.connections)
    if queries.count > limit + (machine.abandoned == nil ? 0 : 1) {
      fault("\(queries.count) queries are under way")
    }
    // libcurl would have another one wait.
    if !isHTTP2, machine.isSerial, machine.abandoned != nil, machine.awaited >= machine.limits.connections {
      fault("a query that nobody waits for has another's place")
    }
    for query in queries where current.values.count(where: { $0.query == query }) > max(1, reach.count) {
      fault("\(query) has more attempts than there are addresses")
    }
    for (handle, known) in machine.handles.enumerated() where (known.query == nil) != (current[handle] == nil) {
      fault("handle \(handle) is idle for one, and not for the other")
    }
    if Set(machine.addresses) != Set(reach.keys) { fault("addresses were lost") }
    if !isHTTP2, connections.values.contains(where: { $0.users.count > 1 }) {
      fault("a connection carries two queries")
    }
  }

  /// A query has failed: whether it had to.
  mutating func checkFailure(of number: Int, _ error: HTTPTransportError) {
    let caller = callers[number]
    if let leaves = caller.leavesAt, leaves <= now { return }
    if caller.isDropped { return }
    guard error == .timedOut else {
      if isReliable, reach.values.contains(.fine), !caller.isCaught {
        fault("caller \(number) failed, and an address was fine: \(error)")
      }
      return
    }
    if now < caller.deadline { fault("caller \(number) has timed out before its time") }
    // A server that answers, behind one good address at least.
    guard isReliable, reach.values.contains(.fine), !caller.isCaught, let dialledAt = caller.dialledAt else { return }
    let needed = Int64(reach.count) * (Machine.attemptDelay + 1) + Self.usualTime
    let retries = dropsSome ? 3 * Self.usualTime : 0
    if now - dialledAt > needed + retries { fault("caller \(number) had time for every address, and got nothing") }
  }

  /// The longest time for connecting to an address that is fine, and for the reply.
  private static let usualTime: Int64 = 600

  /// Before each event.
  mutating func checkProgress() {
    // Nothing does on a connection that has vanished: what must hold then, `checkFailure` asks.
    guard isReliable, vanished.isEmpty, reach.values.allSatisfy({ $0 == .fine }) else { return }
    for (number, handle) in machine.handles.enumerated() where handle.query != nil {
      if now - handle.startedAt > Self.usualTime { fault("nothing happens to the transfer of handle \(number)") }
    }
  }

  /// When all is over.
  mutating func checkEnd() {
    for (number, caller) in callers.enumerated() where caller.answers != 1 {
      fault("caller \(number) was answered \(caller.answers) times")
    }
    if !machine.isEmpty || machine.running > 0 || !current.isEmpty { fault("something is still under way") }
  }
}
