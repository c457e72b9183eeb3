// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Testing

@testable import DirectDNS

@Suite(.timeLimit(.minutes(1)))
struct ThreadExecutorTests {
  actor Blocking {
    private let executor = ThreadExecutor("tests")
    private(set) var count = 0

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    func wait(for gate: DispatchSemaphore) { gate.wait() }
    func add() { count += 1 }
  }

  @Test func `an actor that blocks keeps nobody else waiting`() async {
    let gates = (0..<16).map { _ in DispatchSemaphore(value: 0) }
    await withTaskGroup { group in
      for gate in gates {
        let actor = Blocking()
        group.addTask { await actor.wait(for: gate) }
      }
      // More of them than the pool has threads: this one still gets one.
      group.addTask { for gate in gates { gate.signal() } }
    }
  }

  @Test func `one call at a time`() async {
    let actor = Blocking()
    await withTaskGroup { group in
      for _ in 0..<1000 { group.addTask { await actor.add() } }
    }
    #expect(await actor.count == 1000)
  }
}
