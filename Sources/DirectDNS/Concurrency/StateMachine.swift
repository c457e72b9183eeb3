// SPDX-License-Identifier: Apache-2.0
/// A value that makes decisions: it is told events, and returns actions.
///
/// It has no clock, socket, lock or task, so that a test or a simulation can lead it through any sequence of events.
protocol StateMachine: Sendable {
  /// Something that has to be done.
  associatedtype Action: Sendable

  /// The result for a task that waits.
  associatedtype Ending: Sendable

  /// Moves the actions, in order, into an empty array, whose capacity is used for the next ones.
  mutating func takeActions(into taken: inout [Action])

  /// Moves the results likewise; their tasks are resumed after the actions that were taken before.
  mutating func takeEndings(into taken: inout [Ending])

  /// When it has to be told the time, unless something happens before; nil for never.
  mutating func nextInstant() -> ResolverInstant?
}

/// Runs a state machine: any thread may tell it an event, and its actions are carried out in order, by one thread at a
/// time and without the lock.
///
/// The thread that tells an event also carries out the actions, unless another thread is doing that already. So no
/// thread waits for another one, and when a call returns, the machine has the event.
final class MachineRunner<Machine: StateMachine>: Sendable {
  private struct State {
    var machine: Machine
    var isPerforming = false
    /// An empty array, which is kept for its capacity between two events.
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

  func look<Result>(_ body: (Machine) -> Result) -> Result { state.withLock { body($0.machine) } }

  /// Sends the machine an event, and carries out the actions that follow.
  ///
  /// - Parameters:
  ///   - event: calls the event on the machine.
  ///   - perform: carries out an action; never called with the lock held, nor by two threads at a time.
  ///   - resume: resumes the tasks that wait.
  ///   - wake: called when the instant has come that ``StateMachine/nextInstant()`` named, also while actions are carried
  ///     out one after the other without a pause.
  /// - Returns: what `event` returned.
  @discardableResult
  func send<Result>(
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
      // By index, since actions are large and would be copied otherwise.
      for index in actions.indices { perform(actions[index]) }
      actions.removeAll(keepingCapacity: true)
      // Results are delivered after each round of actions: further rounds may follow as long as there are callers.
      let ended = exchange(&endings, with: [])
      let isLate = state.withLock { state in
        next(&state, &actions, &endings, wake)
        // The timer is set once there is nothing left to do. Until then, which may be long, the clock is read here.
        return !actions.isEmpty && state.machine.nextInstant().map { $0 <= clock.now } ?? false
      }
      if !ended.isEmpty { resume(ended) }
      if isLate { wake()() }
    }
    // Last, with `isPerforming` false: a resumed task may tell the machine an event at once, and carries out the
    // actions itself.
    if !endings.isEmpty { resume(endings) }
    return result
  }

  /// Takes the next actions and results; if there are no actions, sets the timer.
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
      // Lookups one after the other would each start a task and cancel it. The timer fires for nothing instead, and the
      // next lookup needs no other one.
      guard !(clock is SystemClock) else { return }
      state.timer?.task.cancel()
      state.timer = nil
      return
    }
    // A timer that fires early does little harm, while a new timer for each event would cost a task for each lookup.
    if let timer = state.timer {
      guard instant < timer.instant else { return }
      timer.task.cancel()
    }
    let wake = wake()
    // Detached, so that it has neither the priority nor the context of the task that happens to call this.
    let task = Task.detached { [weak self, clock] in
      guard (try? await clock.sleep(until: instant)) != nil else { return }
      self?.state.withLock { if $0.timer?.instant == instant { $0.timer = nil } }
      wake()
    }
    state.timer = Timer(instant: instant, task: task)
  }
}
