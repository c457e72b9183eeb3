// SPDX-License-Identifier: Apache-2.0
/// A value that decides: it is told what has happened, and says what is to be done.
///
/// It has no clock, no socket, no lock and no task, so that a test or a simulation can lead it through anything.
protocol StateMachine: Sendable {
  /// Something to be done.
  associatedtype Action: Sendable

  /// What somebody gets who waits.
  associatedtype Ending: Sendable

  /// Takes what is to be done, in order, into an array that is empty: its room is the next actions'.
  mutating func takeActions(into taken: inout [Action])

  /// Takes what those get who wait, likewise: they are resumed when the actions are done that were taken before.
  mutating func takeEndings(into taken: inout [Ending])

  /// When it wants to be told the time, unless something happens before; nil for not at all.
  mutating func nextInstant() -> ResolverInstant?
}

/// Runs a state machine: any thread may tell it what has happened, and what it wants done is done in order, by one thread
/// at a time and without the lock.
///
/// Whoever tells it something carries out what follows, unless another thread is about to do so anyway: nobody waits for
/// anybody, and what a call has changed is so when the call returns.
final class MachineRunner<Machine: StateMachine>: Sendable {
  private struct State {
    var machine: Machine
    var isPerforming = false
    /// Room for actions, kept between one event and the next.
    var room: [Machine.Action] = []
    var timer: Timer?
  }

  private struct Timer {
    var instant: ResolverInstant
    var task: Task<Void, Never>
  }

  private let state: Locked<State>
  private let clock: any ResolverClock

  init(_ machine: Machine, clock: any ResolverClock) {
    state = Locked(State(machine: machine))
    self.clock = clock
  }

  deinit { state.withLock { $0.timer?.task.cancel() } }

  /// Looks at the machine without changing it.
  func look<Result>(_ body: (Machine) -> Result) -> Result { state.withLock { body($0.machine) } }

  /// Tells the machine something, and has done what follows.
  ///
  /// - Parameters:
  ///   - event: tells it.
  ///   - perform: does what it wants done; never with the lock held, nor by two threads at a time.
  ///   - resume: resumes those who wait.
  ///   - wake: called when the time has come that the machine wants to be told of.
  /// - Returns: what the machine says at once.
  @discardableResult
  func tell<Result>(
    _ event: (inout Machine, _ now: ResolverInstant) -> Result, perform: (Machine.Action) -> Void,
    resume: ([Machine.Ending]) -> Void, wake: @autoclosure () -> @Sendable () -> Void
  ) -> Result {
    var actions: [Machine.Action] = []
    var endings: [Machine.Ending] = []
    let result = state.withLock { state in
      let result = event(&state.machine, clock.now)
      if !state.isPerforming { next(&state, &actions, &endings, wake) }
      return result
    }
    while !actions.isEmpty {
      for action in actions { perform(action) }
      actions.removeAll(keepingCapacity: true)
      // Those whose lookups ended with these actions wait for no others: more may follow for as long as there are callers.
      var ended: [Machine.Ending] = []
      swap(&ended, &endings)
      state.withLock { next(&$0, &actions, &endings, wake) }
      if !ended.isEmpty { resume(ended) }
    }
    // Who is resumed may tell the machine something at once: what follows from that is not left to this thread.
    if !endings.isEmpty { resume(endings) }
    return result
  }

  /// Takes what is to be done next and what those get who wait, or notes the end of doing.
  private func next(
    _ state: inout State, _ actions: inout [Machine.Action], _ endings: inout [Machine.Ending],
    _ wake: () -> @Sendable () -> Void
  ) {
    if actions.capacity == 0 { swap(&actions, &state.room) }
    state.machine.takeActions(into: &actions)
    state.machine.takeEndings(into: &endings)
    state.isPerforming = !actions.isEmpty
    guard actions.isEmpty else { return }
    swap(&actions, &state.room)
    setTimer(&state, wake)
  }

  private func setTimer(_ state: inout State, _ wake: () -> @Sendable () -> Void) {
    guard let instant = state.machine.nextInstant() else {
      state.timer?.task.cancel()
      state.timer = nil
      return
    }
    // A timer that comes early costs one look; to set each anew would cost a task for each lookup.
    if let timer = state.timer {
      guard instant < timer.instant else { return }
      timer.task.cancel()
    }
    let wake = wake()
    // Detached: it is nobody's in particular, and runs with no caller's context.
    let task = Task.detached { [weak self, clock] in
      guard (try? await clock.sleep(until: instant)) != nil else { return }
      self?.state.withLock { if $0.timer?.instant == instant { $0.timer = nil } }
      wake()
    }
    state.timer = Timer(instant: instant, task: task)
  }
}
