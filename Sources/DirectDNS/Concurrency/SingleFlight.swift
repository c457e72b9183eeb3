/// Work that several wait for and one does.
///
/// A flight goes on when those who wait leave: a cancelled caller leaves alone. Every observer hears the one result.
final class SingleFlight<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private let flights = Locked<[Key: Flight<Value>]>([:])

  /// The flight for a key: the one that is under way, or a new one that `body` carries out.
  func flight(_ key: Key, _ body: @escaping @Sendable () async -> Value) -> Flight<Value> {
    let (flight, isNew) = flights.withLock { flights in
      if let flight = flights[key] { return (flight, false) }
      let flight = Flight<Value>()
      flights[key] = flight
      return (flight, true)
    }
    if isNew {
      // Begins on the caller's own thread, which saves a hop on the way to the network.
      Task.immediateDetached { [self] in
        let value = await body()
        flights.withLock { $0[key] = nil }
        flight.finish(value)
      }
    }
    return flight
  }

  /// Whether a flight for that key is under way.
  func isFlying(_ key: Key) -> Bool { flights.withLock { $0[key] != nil } }

  /// The number of flights under way.
  var count: Int { flights.withLock { $0.count } }
}

/// One piece of work under way.
final class Flight<Value: Sendable>: Sendable {
  private struct State {
    var observers: [@Sendable (Value) -> Void] = []
    var landed: Value?
  }

  private let state = Locked(State())

  /// Calls `observer` with the result: now if it is there, else when it comes, on the thread that brings it.
  func observe(_ observer: @escaping @Sendable (Value) -> Void) {
    let landed = state.withLock { state in
      if state.landed == nil { state.observers.append(observer) }
      return state.landed
    }
    if let landed { observer(landed) }
  }

  fileprivate func finish(_ value: Value) {
    let observers = state.withLock { state in
      defer { state.observers = [] }
      state.landed = value
      return state.observers
    }
    for observer in observers { observer(value) }
  }
}
