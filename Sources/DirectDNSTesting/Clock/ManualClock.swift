// SPDX-License-Identifier: Apache-2.0
public import DirectDNS

/// A clock that stands still until a test moves it.
///
/// Pass it to anything that takes a `ResolverClock`. A test that moves time first waits until the code under test
/// sleeps, and then moves it:
///
/// ```swift
/// await clock.waitForSleepers()
/// clock.advance(by: .seconds(60))
/// ```
public final class ManualClock: ResolverClock {
  private struct Sleeper: Sendable {
    let id: UInt64
    let instant: ResolverInstant
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct State: Sendable {
    var now = ResolverInstant(nanoseconds: 0)
    /// The wall clock since 1970, as it would read at the origin of `now`; a `Duration`, since nanoseconds in 64 bits
    /// cannot hold the year 9999.
    var wallOrigin: Duration
    var sleepers: [Sleeper] = []
    var nextID: UInt64 = 0

    /// The wall clock in whole units, rounded down and clamped to the range of `Int64`.
    func wall(in unit: Duration) -> Int64 {
      let wall = (wallOrigin + .nanoseconds(now.nanoseconds)).attoseconds
      let (count, rest) = wall.quotientAndRemainder(dividingBy: unit.attoseconds)
      return Int64(clamping: rest < 0 ? count - 1 : count)
    }
  }

  private let state: Watched<State>

  /// Creates a clock at its origin, with no task asleep.
  ///
  /// - Parameter secondsSince1970: what the wall clock shows; by default 14 November 2023, 22:13:20 UTC.
  public init(secondsSince1970: Int64 = 1_700_000_000) {
    state = Watched(State(wallOrigin: .seconds(secondsSince1970)))
  }

  /// The present instant, which only ``advance(by:)`` moves.
  public var now: ResolverInstant { state.read { $0.now } }

  /// What the wall clock shows; it moves with ``advance(by:)`` and jumps with ``setSecondsSince1970(_:)``.
  public var secondsSince1970: Int64 { state.read { $0.wall(in: .seconds(1)) } }

  /// The same wall clock, with its milliseconds.
  public var wallNow: WallInstant { WallInstant(milliseconds: state.read { $0.wall(in: .milliseconds(1)) }) }

  /// How many tasks sleep on this clock.
  public var sleeperCount: Int { state.read { $0.sleepers.count } }

  /// Moves both the time line and the wall clock forward, and wakes the sleepers whose instants have come.
  ///
  /// Sleepers are woken in the order of their instants, and see the new time.
  ///
  /// - Parameter duration: how far; a negative one is refused, since a time line never goes back. The time line ends
  ///   292 years from the clock's origin, and the wall clock stops with it.
  public func advance(by duration: Duration) {
    precondition(duration >= .zero, "A time line never goes back; setSecondsSince1970 moves the wall clock.")
    let due = state.change { state in
      state.now = state.now + duration
      let now = state.now
      let due = state.sleepers.filter { $0.instant <= now }
      state.sleepers.removeAll { $0.instant <= now }
      return due.sorted { ($0.instant, $0.id) < ($1.instant, $1.id) }
    }
    for sleeper in due { sleeper.continuation.resume() }
  }

  /// Sets only the wall clock, as an administrator or NTP does; the time line and the sleepers stay.
  public func setSecondsSince1970(_ seconds: Int64) {
    state.change { $0.wallOrigin = .seconds(seconds) - .nanoseconds($0.now.nanoseconds) }
  }

  /// Waits until the clock was moved to an instant or beyond it.
  ///
  /// - Throws: `CancellationError` when the task is cancelled.
  public func sleep(until instant: ResolverInstant) async throws {
    let id = state.change { state in
      state.nextID += 1
      return state.nextID
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let outcome: Result<Void, any Error>? = state.change { state in
          // The flag is set before the handler below runs, so a cancellation is noticed here or there.
          if Task.isCancelled { return .failure(CancellationError()) }
          if instant <= state.now { return .success(()) }
          state.sleepers.append(Sleeper(id: id, instant: instant, continuation: continuation))
          return nil
        }
        if let outcome { continuation.resume(with: outcome) }
      }
    } onCancel: {
      let sleeper = state.change { state -> Sleeper? in
        guard let index = state.sleepers.firstIndex(where: { $0.id == id }) else { return nil }
        return state.sleepers.remove(at: index)
      }
      sleeper?.continuation.resume(throwing: CancellationError())
    }
  }

  /// Waits, without polling, until at least that many tasks sleep.
  ///
  /// - Returns: whether they do; false if the task was cancelled before.
  @discardableResult
  public func waitForSleepers(_ count: Int = 1) async -> Bool { await state.wait { $0.sleepers.count >= count } }

  /// Waits, without polling, until no task sleeps.
  ///
  /// - Returns: whether none does; false if the task was cancelled before.
  package func waitForNoSleepers() async -> Bool { await state.wait { $0.sleepers.isEmpty } }

  /// Waits until a task sleeps that is to wake within so long, and moves to its instant.
  ///
  /// - Parameter limit: how far it goes at most: who sleeps for longer, as a time limit does, is not waited for.
  /// - Returns: whether it moved; false if the task was cancelled before.
  package func advanceToSleeper(within limit: Duration) async -> Bool {
    guard await state.wait(until: { state in state.sleepers.contains { $0.instant - state.now <= limit } }) else {
      return false
    }
    let next = state.read { state in (state.sleepers.map(\.instant).min() ?? state.now) - state.now }
    if next <= limit { advance(by: max(next, .zero)) }
    return true
  }
}
