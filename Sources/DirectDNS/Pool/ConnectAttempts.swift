// SPDX-License-Identifier: Apache-2.0
/// A transfer's attempts to connect, as libcurl makes them: a pure value, in milliseconds of its owner's clock.
struct ConnectAttempts {
  /// An attempt that libcurl makes.
  struct Attempt: Equatable {
    let number: Int
    let address: IPAddress?
    let startedAt: Int64
    /// The socket that it opened; nil while it uses a connection that stood.
    fileprivate(set) var socket: Int32?
    /// Whether it has opened a connection since it was let through last.
    fileprivate var hasDialled = false

    fileprivate init(number: Int, address: IPAddress?, startedAt: Int64) {
      self.number = number
      self.address = address
      self.startedAt = startedAt
    }
  }

  /// Those that libcurl makes now.
  private(set) var running: [Attempt] = []
  /// The addresses that could not be connected to, in the order of failing.
  private(set) var failed: [FailedAddress] = []
  /// The addresses that had not connected when another one did.
  private(set) var slower: [SlowerAddress] = []
  /// What starts them; nil through a proxy, where there is one attempt, and once an attempt has a connection.
  private var race: ConnectionRace?

  /// Whether there is a race that could bring another attempt.
  var isRacing: Bool { race != nil }

  /// When the next attempt starts if nothing happens; nil when none will.
  var nextStart: Int64? { race?.nextStart }

  subscript(number: Int) -> Attempt? { running.first { $0.number == number } }

  // MARK: What is done

  /// Begins a race.
  mutating func begin(_ race: ConnectionRace) { self.race = race }

  /// Begins the one attempt that there is through a proxy.
  mutating func beginProxied(at now: Int64) { running.append(Attempt(number: 0, address: nil, startedAt: now)) }

  /// What to do about the race at an instant; ask again after a start and after asking for addresses.
  mutating func step(at now: Int64) -> ConnectionRace.Step {
    guard let step = race?.step(at: now) else { return .rest }
    if case .start(let address, let number) = step {
      running.append(Attempt(number: number, address: address, startedAt: now))
    }
    return step
  }

  /// Addresses join the race.
  mutating func join(_ addresses: [IPAddress]) { race?.add(addresses) }

  /// Ends all of them.
  mutating func reset() {
    race = nil
    running.removeAll(keepingCapacity: true)
  }

  // MARK: What happens

  mutating func dialled(_ socket: Int32, by number: Int) {
    guard let place = running.firstIndex(where: { $0.number == number }) else { return }
    running[place].socket = socket
    running[place].hasDialled = true
  }

  /// Whether an attempt opened a connection since this was asked last.
  mutating func takeDialled(by number: Int) -> Bool {
    guard let place = running.firstIndex(where: { $0.number == number }), running[place].hasDialled else {
      return false
    }
    running[place].hasDialled = false
    return true
  }

  /// An attempt has a connection, while none had before.
  ///
  /// - Returns: the attempt; nil for one that is no more, or has lost the race.
  mutating func connected(_ number: Int, at now: Int64) -> Attempt? {
    guard let winner = self[number], race?.connected(number) ?? true else { return nil }
    race = nil
    for other in running where other.number != number {
      if let address = other.address {
        slower.append(SlowerAddress(address: address, time: now - other.startedAt))
      }
    }
    return winner
  }

  /// Those that lost the race are over.
  ///
  /// - Returns: their numbers.
  mutating func dropOthers(than number: Int) -> [Int] {
    guard running.count > 1 else { return [] }
    let losers = running.map(\.number).filter { $0 != number }
    running.removeAll { $0.number != number }
    return losers
  }

  /// An attempt is over.
  mutating func drop(_ number: Int) { running.removeAll { $0.number == number } }

  /// An attempt found no connection.
  mutating func fail(_ number: Int, _ reason: HTTPTransportError) {
    if let address = self[number]?.address { failed.append(FailedAddress(address: address, reason: reason)) }
    drop(number)
    race?.failed(number)
  }

  /// The time to connect is over: an address that was silent for most of it is as dead as one that refuses.
  ///
  /// One that was dialled a moment ago has shown nothing yet.
  mutating func timeOut(at now: Int64, after limit: Int64) {
    for attempt in running where now - attempt.startedAt >= limit / 2 {
      if let address = attempt.address { failed.append(FailedAddress(address: address, reason: .timedOut)) }
    }
  }
}

/// An address that could not be connected to.
struct FailedAddress: Sendable, Hashable {
  let address: IPAddress
  let reason: HTTPTransportError
}

/// An address that had not connected after so many milliseconds, when another one did.
struct SlowerAddress: Sendable, Hashable {
  let address: IPAddress
  let time: Int64
}
