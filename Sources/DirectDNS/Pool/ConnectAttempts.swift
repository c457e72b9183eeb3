// SPDX-License-Identifier: Apache-2.0
/// A transfer's attempts to connect, which libcurl makes: a pure value.
///
/// Times are milliseconds of its owner's clock.
struct ConnectAttempts {
  struct Attempt: Equatable {
    let number: Int
    let address: IPAddress?
    let startedAt: Int64
    /// The socket that it opened; nil if it uses a connection that was there before.
    fileprivate(set) var socket: Int32?
    /// Whether it has opened a connection since ``ConnectAttempts/takeDialled(by:)`` was called last.
    fileprivate var hasDialled = false
  }

  private(set) var running: [Attempt] = []
  /// The addresses that could not be connected to, in the order in which they failed.
  private(set) var failed: [FailedAddress] = []
  /// The addresses that were still connecting when another one had connected.
  private(set) var slower: [SlowerAddress] = []
  /// Decides when they start; nil through a proxy, where there is only one, and once an attempt has a connection.
  private var race: ConnectionRace?

  /// Whether there is a race that could bring another attempt.
  var isRacing: Bool { race != nil }

  /// When the next attempt starts unless something happens before; nil if none will.
  var nextStart: Int64? { race?.nextStart }

  subscript(number: Int) -> Attempt? { running.first { $0.number == number } }

  // MARK: Actions

  mutating func begin(_ race: ConnectionRace) { self.race = race }

  /// Begins the one attempt that there is through a proxy.
  mutating func beginProxied(at now: Int64) { running.append(Attempt(number: 0, address: nil, startedAt: now)) }

  /// What to do about the race now; call it again after `start` and after `ask`.
  mutating func step(at now: Int64) -> ConnectionRace.Step {
    guard let step = race?.step(at: now) else { return .rest }
    if case .start(let address, let number) = step {
      running.append(Attempt(number: number, address: address, startedAt: now))
    }
    return step
  }

  mutating func join(_ addresses: [IPAddress]) { race?.add(addresses) }

  mutating func reset() {
    race = nil
    running.removeAll(keepingCapacity: true)
  }

  // MARK: Events

  mutating func dialled(_ socket: Int32, by number: Int) {
    guard let place = running.firstIndex(where: { $0.number == number }) else { return }
    running[place].socket = socket
    running[place].hasDialled = true
  }

  /// An attempt begins once more: the connection that it had got is not used.
  mutating func startsOver(_ number: Int) {
    guard let place = running.firstIndex(where: { $0.number == number }) else { return }
    running[place].socket = nil
    running[place].hasDialled = false
  }

  /// Whether an attempt has opened a connection since this was called last.
  mutating func takeDialled(by number: Int) -> Bool {
    guard let place = running.firstIndex(where: { $0.number == number }) else { return false }
    return exchange(&running[place].hasDialled, with: false)
  }

  /// An attempt has a connection.
  ///
  /// - Returns: the attempt if it has won the race; nil if another one has, or if it has been dropped.
  mutating func connected(_ number: Int, at now: Int64) -> Attempt? {
    guard let winner = self[number], race?.connected(number) ?? true else { return nil }
    race = nil
    for other in running where other.number != number && other.socket != nil {
      if let address = other.address {
        slower.append(SlowerAddress(address: address, time: .milliseconds(now - other.startedAt)))
      }
    }
    return winner
  }

  /// Drops the attempts that lost the race.
  ///
  /// - Returns: their numbers.
  mutating func dropOthers(than number: Int) -> [Int] {
    guard running.count > 1 else { return [] }
    let losers = running.map(\.number).filter { $0 != number }
    running.removeAll { $0.number != number }
    return losers
  }

  mutating func drop(_ number: Int) { running.removeAll { $0.number == number } }

  mutating func fail(_ number: Int, _ reason: HTTPTransportError) {
    if let address = self[number]?.address { failed.append(FailedAddress(address: address, reason: reason)) }
    drop(number)
    race?.failed(number)
  }

  /// The time for connecting is over: addresses that have been silent for at least half of it count as failed.
  ///
  /// Nothing can be said about those that were dialled later, or for which libcurl has had no room.
  mutating func timeOut(at now: Int64, after limit: Int64) {
    for attempt in running where attempt.socket != nil && now - attempt.startedAt >= limit / 2 {
      if let address = attempt.address { failed.append(FailedAddress(address: address, reason: .timedOut)) }
    }
  }
}

/// An address that could not be connected to.
struct FailedAddress: Sendable, Hashable {
  let address: IPAddress
  let reason: HTTPTransportError
}

/// An address that had not connected after that time, when another one had.
struct SlowerAddress: Sendable, Hashable {
  let address: IPAddress
  let time: Duration
}
