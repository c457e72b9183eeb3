// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

/// What any thread may tell a machine, and who does what it wants done.
@Suite(.timeLimit(.minutes(1)))
struct StateMachineTests {
  /// Gives out what it was told, and wants to be woken when it was told so.
  private struct Echo: StateMachine {
    var actions: [Int] = []
    var endings: [Int] = []
    var wake: ResolverInstant?

    mutating func takeActions(into taken: inout [Int]) { swap(&taken, &actions) }

    mutating func takeEndings(into taken: inout [Int]) { swap(&taken, &endings) }

    mutating func nextInstant() -> ResolverInstant? { wake }
  }

  private let clock = ManualClock()

  @Test func `what a machine wants done is done in order before the call returns`() {
    let runner = MachineRunner(Echo(), clock: clock)
    var done: [Int] = []
    let result = runner.send(
      { machine, now in
        machine.actions += [1, 2, 3]
        return now
      }, perform: { done.append($0) }, resume: { _ in }, wake: {})
    #expect(done == [1, 2, 3] && result == clock.now)
  }

  @Test func `what is told while something is done comes after it`() {
    let runner = MachineRunner(Echo(), clock: clock)
    let done = Locked<[Int]>([])
    @Sendable func perform(_ action: Int) {
      if action < 3 {
        runner.send(
          { machine, _ in machine.actions.append(action + 10) }, perform: perform, resume: { _ in }, wake: {})
      }
      done.withLock { $0.append(action) }
    }
    runner.send({ machine, _ in machine.actions += [1, 2, 3] }, perform: perform, resume: { _ in }, wake: {})
    #expect(done.withLock { $0 } == [1, 2, 3, 11, 12])
  }

  @Test func `it is told of the time though there is always more to be done`() {
    let runner = MachineRunner(Echo(), clock: clock)
    let (done, woken) = (Locked(0), Locked<ResolverInstant?>(nil))
    // Each action takes a second, and another one comes meanwhile: for a minute where nobody tells of the time.
    @Sendable func perform(_ action: Int) {
      clock.advance(by: .seconds(1))
      guard woken.withLock({ $0 == nil }), done.withLock({ $0 < 60 }) else { return }
      done.withLock { $0 += 1 }
      runner.send({ machine, _ in machine.actions = [action] }, perform: perform, resume: { _ in }, wake: {})
    }
    runner.send(
      { machine, _ in
        machine.wake = Sample.at(5)
        machine.actions = [1]
      }, perform: perform, resume: { _ in },
      wake: { [clock] in
        woken.withLock { $0 = $0 ?? clock.now }
        runner.send({ machine, _ in machine.wake = nil }, perform: perform, resume: { _ in }, wake: {})
      })
    #expect(woken.withLock { $0 } == Sample.at(5))
  }

  @Test func `all who wait are resumed last and together, and what is told then is done at once`() {
    let runner = MachineRunner(Echo(), clock: clock)
    let done = Locked<[Int]>([])
    @Sendable func perform(_ action: Int) { done.withLock { $0.append(action) } }
    @Sendable func resume(_ endings: [Int]) {
      #expect(endings == [100, 101])
      runner.send({ machine, _ in machine.actions.append(7) }, perform: perform, resume: { _ in }, wake: {})
      #expect(done.withLock { $0.last } == 7)
      endings.forEach(perform)
    }
    runner.send(
      { machine, _ in
        machine.endings += [100, 101]
        machine.actions += [1, 2]
      }, perform: perform, resume: resume, wake: {})
    #expect(done.withLock { $0 } == [1, 2, 7, 100, 101])
  }

  @Test func `who waits is resumed once nothing is left to be done, by whom ever it was told`() {
    let runner = MachineRunner(Echo(), clock: clock)
    var done: [Int] = []
    runner.send(
      { machine, _ in machine.endings.append(100) }, perform: { done.append($0) }, resume: { done += $0 }, wake: {})
    #expect(done == [100])
    let told = Locked<[Int]>([])
    runner.send(
      { machine, _ in machine.actions.append(1) },
      perform: { action in
        // Told by another, while this one is doing things: it is left to the latter.
        runner.send(
          { machine, _ in machine.endings.append(101) }, perform: { _ in Issue.record() },
          resume: { _ in Issue.record() }, wake: {})
        told.withLock { $0.append(action) }
      }, resume: { endings in told.withLock { $0 += endings } }, wake: {})
    #expect(told.withLock { $0 } == [1, 101])
  }

  @Test func `who waits is not held up by what others want done meanwhile`() {
    let runner = MachineRunner(Echo(), clock: clock)
    let done = Locked<[Int]>([])
    @Sendable func perform(_ action: Int) {
      done.withLock { $0.append(action) }
      guard action < 4 else { return }
      runner.send(
        { machine, _ in
          machine.actions.append(action + 1)
          machine.endings.append(action + 100)
        }, perform: perform, resume: { _ in }, wake: {})
    }
    runner.send(
      { machine, _ in machine.actions.append(1) }, perform: perform,
      resume: { endings in done.withLock { $0 += endings } }, wake: {})
    #expect(done.withLock { $0 } == [1, 2, 101, 3, 102, 4, 103])
  }

  @Test func `many threads tell it, and one at a time does what follows`() async {
    let runner = MachineRunner(Echo(), clock: clock)
    let state = Locked((isBusy: false, done: 0))
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<8 {
        group.addTask {
          for _ in 0..<1000 {
            runner.send(
              { machine, _ in machine.actions.append(number) },
              perform: { _ in
                let wasBusy = state.withLock { state in
                  defer { state.isBusy = true }
                  return state.isBusy
                }
                #expect(!wasBusy)
                state.withLock { state in
                  state.isBusy = false
                  state.done += 1
                }
              }, resume: { _ in }, wake: {})
          }
        }
      }
    }
    #expect(state.withLock { $0.done } == 8000)
  }

  @Test func `it is woken when it wants to be, and by one sleeper`() async {
    let runner = MachineRunner(Echo(), clock: clock)
    let woken = Watched(0)
    for seconds in [5.0, 3, 4, 3] {
      runner.send(
        { machine, _ in machine.wake = Sample.at(seconds) }, perform: { _ in }, resume: { _ in },
        wake: { woken.change { $0 += 1 } })
    }
    await clock.waitForSleepers()
    #expect(clock.sleeperCount == 1)
    clock.advance(by: .seconds(3))
    await woken.wait { $0 == 1 }
  }

  @Test func `a machine that waits for nothing leaves nobody asleep`() async {
    let runner = MachineRunner(Echo(), clock: clock)
    runner.send({ machine, _ in machine.wake = Sample.at(5) }, perform: { _ in }, resume: { _ in }, wake: {})
    await clock.waitForSleepers()
    runner.send({ machine, _ in machine.wake = nil }, perform: { _ in }, resume: { _ in }, wake: {})
    #expect(await clock.waitForNoSleepers())
  }

  @Test func `by the system's clock the timer of a machine that waits for nothing serves whoever waits next`()
    async throws
  {
    let clock = SystemClock()
    let runner = MachineRunner(Echo(), clock: clock)
    let (fired, passed) = (Locked<[Int]>([]), Gate())
    let instant = clock.now + .milliseconds(50)
    for (number, wake) in [instant, nil, instant].enumerated() {
      runner.send(
        { machine, _ in machine.wake = wake }, perform: { _ in }, resume: { _ in },
        wake: {
          fired.withLock { $0.append(number) }
          passed.open()
        })
    }
    try await passed.pass()
    #expect(fired.withLock { $0.first } == 0)
  }
}
