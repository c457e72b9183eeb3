// SPDX-License-Identifier: Apache-2.0
@testable import DirectDNS

/// What libcurl and the server do in a ``QueryPoolWorld``.
extension QueryPoolWorld {
  mutating func carryOutByCurl(_ event: Event) {
    switch event {
    case .begin(let transfer):
      if isCurrent(transfer), !dialling.contains(transfer), port(of: transfer) == nil { begin(transfer) }
    case .established(let transfer): if dialling.contains(transfer) { established(transfer) }
    case .refused(let transfer):
      guard dialling.remove(transfer) != nil else { return }
      end(transfer, .failed(.connect("refused"), .other))
      wakeWaiting()
    case .replied(let transfer):
      guard isCurrent(transfer), let port = port(of: transfer), !vanished.contains(port) else { return }
      connections[port]?.users.remove(transfer)
      if chance(0.9) { machine.responded(transfer.handle) }
      end(transfer, .replied(isHTTP2: isHTTP2))
    case .dies(let port):
      guard let ended = connections.removeValue(forKey: port) else { return }
      for transfer in ended.users.sorted(by: { $0.number < $1.number }) {
        if vanished.contains(port), transfer != ended.opener, !isCaught(transfer) {
          sendAgain(transfer)
          continue
        }
        if chance(0.2) { machine.responded(transfer.handle) }
        end(transfer, .failed(.connectionLost("ended"), isHTTP2 && chance(0.3) ? .http2 : .connectionEnded))
      }
    case .vanish:
      vanished = Set(connections.keys)
      for (_, query, _) in current.values {
        if let caller = callerOf[query] { callers[caller].isCaught = true }
      }
      // Where the server has acknowledged the query, nothing ends its connection.
      for port in vanished.sorted() where connections[port]?.users.isEmpty == false && chance(0.5) {
        plan(.dies(port), at: now + Self.silenceLimit)
      }
    case .arrive, .leave, .timer: break
    }
  }

  /// How many milliseconds the kernel waits for an acknowledgement.
  private static let silenceLimit: Int64 = 3_000

  private func isCurrent(_ transfer: Transfer) -> Bool { current[transfer.handle]?.transfer == transfer }

  private func isCaught(_ transfer: Transfer) -> Bool {
    current[transfer.handle].flatMap { callerOf[$0.query] }.map { callers[$0].isCaught } ?? false
  }

  /// libcurl sends a query again by itself whose kept connection has ended without a response: on the next one.
  private mutating func sendAgain(_ transfer: Transfer) {
    guard let query = current[transfer.handle]?.query else { return }
    if let caller = callerOf[query] { callers[caller].dialledAt = now }
    isLossKnown = true
    begin(transfer)
    perform()
  }

  private func port(of transfer: Transfer) -> Int32? { connections.first { $0.value.users.contains(transfer) }?.key }

  /// libcurl reports an end after its callbacks, and what was decided meanwhile is carried out first.
  private mutating func end(_ transfer: Transfer, _ outcome: Machine.Outcome) {
    perform()
    guard isCurrent(transfer) else { return }
    machine.ended(transfer.handle, outcome, at: now)
    perform()
  }

  /// A transfer joins a connection, waits for one that is being opened, or opens its own.
  private mutating func begin(_ transfer: Transfer) {
    let address = current[transfer.handle]?.address ?? nil
    let free = connections.filter { $0.value.address == address && (isHTTP2 || $0.value.users.isEmpty) }.keys.min()
    if let free, !alone.contains(transfer) { return join(transfer, free) }
    // CURLOPT_PIPEWAIT: another one is opening a connection to that address, which may be shared.
    let isOpening = dialling.contains { current[$0.handle]?.transfer == $0 && current[$0.handle]?.address == address }
    if !isHTTP2 || !isOpening || alone.contains(transfer) { dial(transfer) }
  }

  private mutating func dial(_ transfer: Transfer) {
    dialling.insert(transfer)
    if let caller = current[transfer.handle].flatMap({ callerOf[$0.query] }), callers[caller].dialledAt == nil {
      callers[caller].dialledAt = now
    }
    if !slips(.losesDial, 1) { machine.dialled(transfer.handle, at: now) }
    let address = current[transfer.handle]?.address ?? nil
    switch address.flatMap({ reach[$0] }) {
    case .fine: plan(.established(transfer), in: 0...300)
    case .refused: plan(.refused(transfer), in: 0...50)
    case .silent, nil: break
    }
  }

  private mutating func established(_ transfer: Transfer) {
    dialling.remove(transfer)
    nextPort += 1
    connections[nextPort] = (current[transfer.handle]?.address ?? nil, [], transfer)
    join(transfer, nextPort)
    wakeWaiting()
  }

  /// Those that have waited for a connection look again.
  private mutating func wakeWaiting() {
    for (transfer, _, _) in current.values.sorted(by: { $0.transfer.number < $1.transfer.number })
    where !dialling.contains(transfer) && port(of: transfer) == nil {
      plan(.begin(transfer), in: 0...1)
    }
  }

  private mutating func join(_ transfer: Transfer, _ port: Int32) {
    guard self.port(of: transfer) == nil, let query = current[transfer.handle]?.query else { return }
    guard machine.connected(transfer.handle, port: port, isHTTP2: isHTTP2, at: now) || slips(.sendsAnyway, 1) else {
      // libcurl keeps it, although nothing is sent on it, where several can share it.
      if !isHTTP2 { connections[port] = nil }
      return end(transfer, .failed(.cancelled, .other))
    }
    let sharing = current.values.filter { $0.query == query && self.port(of: $0.transfer) != nil }
    if !sharing.isEmpty { fault("\(query) is sent on two connections at once") }
    connections[port]?.users.insert(transfer)
    guard !vanished.contains(port) else {
      if isLossKnown { fault("\(query) is sent on a connection that has vanished with one that was lost") }
      if let caller = callerOf[query] { callers[caller].dialledAt = nil }
      return plan(.dies(port), at: now + Self.silenceLimit)
    }
    if let caller = callerOf[query] {
      callers[caller].sendings += 1
      if query == machine.abandoned { callers[caller].sendingsUnwanted += 1 }
    }
    if let caller = callerOf[query], callers[caller].isDropped {
      plan(.dies(port), in: 0...100)
    } else if isReliable || chance(0.7) {
      plan(.replied(transfer), in: 0...100)
    } else if chance(0.5) {
      plan(.dies(port), in: 0...400)
    }
  }

  /// A handle's transfer is taken out of libcurl; over HTTP/1.1 its connection ends unless it has served.
  mutating func stop(_ handle: Int) {
    guard let transfer = current.removeValue(forKey: handle)?.transfer else { return }
    if dialling.remove(transfer) != nil { wakeWaiting() }
    guard let port = port(of: transfer) else { return }
    connections[port]?.users.remove(transfer)
    if !isHTTP2 { connections[port] = nil }
  }
}
