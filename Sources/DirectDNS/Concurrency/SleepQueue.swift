// SPDX-License-Identifier: Apache-2.0
/// Tasks that sleep until instants of one clock, woken by as few timers as will do.
///
/// Swift keeps a sleep that was cancelled until its time has come, and about a kilobyte with it: calls with a time limit
/// of a minute, one after the other, would leave a minute's worth. Here a task that is cancelled leaves nothing behind:
/// timers belong to no task and are never cancelled. A new one is started only where none fires in time, and one that
/// nobody needs any more fires for nothing.
final class SleepQueue: Sendable {
  /// Resumed with whether its instant has come; if not, it was cancelled.
  private typealias Sleeper = CheckedContinuation<Bool, Never>

  private struct State {
    var instants = TimerQueue<Int, ResolverInstant>()
    var sleepers: [Int: Sleeper] = [:]
    var lastNumber = 0
    /// When the timers that are set fire, the next one last.
    var timers: [ResolverInstant] = []

    mutating func remove(_ number: Int) -> Sleeper? {
      instants.set(number, at: nil)
      return sleepers.removeValue(forKey: number)
    }

    /// The instant of a timer that has to be set; nil if one is set that fires in time.
    mutating func nextTimer() -> ResolverInstant? {
      guard let next = instants.next(), timers.last.map({ next < $0 }) ?? true else { return nil }
      timers.append(next)
      return next
    }
  }

  private let state = Locked(State())
  private let now: @Sendable () -> ResolverInstant
  private let pause: @Sendable (ResolverInstant) async -> Void

  /// Creates a queue.
  ///
  /// - Parameters:
  ///   - now: reads the clock.
  ///   - pause: what a timer is: waits until an instant, and may end before it.
  init(now: @escaping @Sendable () -> ResolverInstant, pause: @escaping @Sendable (ResolverInstant) async -> Void) {
    self.now = now
    self.pause = pause
  }

  var count: Int { state.withLock { $0.sleepers.count } }

  /// Waits until an instant.
  ///
  /// - Throws: `CancellationError` when the task is cancelled.
  func sleep(until instant: ResolverInstant) async throws {
    let number = state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
    let hasCome = await withTaskCancellationHandler {
      await state.wait { (state: inout State, sleeper: Sleeper) -> Bool? in
        // The flag is set before the handler below runs, so a cancellation is noticed here or there.
        if Task.isCancelled { return false }
        if instant <= now() { return true }
        state.instants.set(number, at: instant)
        state.sleepers[number] = sleeper
        if let timer = state.nextTimer() { start(timer) }
        return nil
      }
    } onCancel: {
      state.withLock { $0.remove(number) }?.resume(returning: false)
    }
    guard hasCome else { throw CancellationError() }
  }

  private func start(_ timer: ResolverInstant) {
    // Detached, so that it has neither the priority nor the context of the task that happens to sleep first.
    Task.detached { [self] in
      var timer = timer
      while true {
        await pause(timer)
        guard let next = fired(timer) else { return }
        timer = next
      }
    }
  }

  /// Wakes those whose instants have come.
  ///
  /// - Returns: the instant of a timer that has to be set.
  private func fired(_ timer: ResolverInstant) -> ResolverInstant? {
    let (due, next) = state.withLock { state -> ([Sleeper], ResolverInstant?) in
      state.timers.removeAll { $0 == timer }
      let now = self.now()
      var due: [Sleeper] = []
      while let number = state.instants.takeDue(at: now) {
        if let sleeper = state.sleepers.removeValue(forKey: number) { due.append(sleeper) }
      }
      return (due, state.nextTimer())
    }
    for sleeper in due { sleeper.resume(returning: true) }
    return next
  }
}
