// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import NIOCore

/// What follows when an address cannot be connected to, and what is told when none can.
extension Dialer {
  /// One address cannot be connected to: the others are tried.
  func failed(_ number: Int, _ error: any Error) {
    guard completion != nil else { return }
    let address = attempts[number].address
    attempts[number].channel = nil
    let failure = ConnectFailure(error)
    guard !failure.isLackOfFiles || hasMadeRoom else { return makeRoom(for: number, error) }
    race.failed(number)
    failures.append((address, failure))
    loop.shared.telemetry.failedConnect()
    // If another proxy cannot reach an address, that says nothing about reaching it from here.
    if upstream == nil, case .name = origin.host, failure.isAboutAddress {
      loop.shared.died(address)
    }
    step()
  }

  /// No file is left: has idle connections closed, and tries once more if there were any.
  private func makeRoom(for number: Int, _ error: any Error) {
    hasMadeRoom = true
    let bound = NIOLoopBound(self, eventLoop: loop.eventLoop)
    loop.shared.closeIdle { [entrance = loop.entrance] count in
      entrance.execute {
        let dialer = bound.value
        guard dialer.completion != nil else { return }
        if count > 0 { dialer.open(dialer.attempts[number].address, number) } else { dialer.failed(number, error) }
      }
    }
  }

  /// No address can be connected to, or none could in time: the refusal names the reason for each.
  func fail(isLate: Bool) {
    guard completion != nil else { return }
    let running = attempts.filter(\.isRunning)
    // An address that was asked for is named once.
    let isNamed = if case .name = origin.host { true } else { false }
    if isLate, upstream == nil, isNamed {
      for attempt in running { loop.shared.died(attempt.address) }
    }
    var reasons = failures.map { (isNamed ? "\($0.address): " : "") + $0.failure.reason }
    let silence = upstream.map { "the upstream proxy \($0) has not connected to it in time" } ?? "no answer in time"
    reasons += running.map { (isNamed ? "\($0.address): " : "") + silence }
    if let failure = others?.failure { reasons.append(failure) }
    if failures.contains(where: \.failure.isLackOfFiles) {
      let clients = loop.shared.clients.value
      reasons.append("the files are held by clients (\(clients) connected) and their connections to origins")
    }
    // Whichever address was tried last, and however long another one was silent.
    let last = (failures.last(where: \.failure.isLoop) ?? (isLate ? nil : failures.last))?.failure
    finish(
      .failed(
        ProxyRefusal(
          last?.status ?? 504, last?.type ?? "connection_timeout",
          "\(origin) cannot be connected to\(isNamed ? "." : ":") \(reasons.joined(separator: "; ")).")))
  }
}
