// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

@Suite(.timeLimit(.minutes(1)))
struct WorkerThreadTests {
  @Test func `many bodies that block run side by side`() async {
    // Each waits for all others: with fewer threads than bodies none would come to its end in time. libdispatch has 255 for
    // all queues of a priority.
    let count = 300
    let hasWaitedInVain = Locked(false)
    let arrived = Locked(0)
    let gate = DispatchSemaphore(value: 0)
    await withDiscardingTaskGroup { group in
      for number in 0..<count {
        group.addTask {
          await withCheckedContinuation { continuation in
            let isStarted = WorkerThread.start("test-\(number)") {
              let isLast = arrived.withLock { arrived -> Bool in
                arrived += 1
                return arrived == count
              }
              if isLast {
                for _ in 1..<count { gate.signal() }
              } else if gate.wait(timeout: .now() + 20) == .timedOut {
                hasWaitedInVain.withLock { $0 = true }
              }
              continuation.resume()
            }
            if !isStarted { continuation.resume() }
          }
        }
      }
    }
    #expect(arrived.withLock { $0 } == count)
    #expect(!hasWaitedInVain.withLock { $0 })
  }

  #if os(Linux)
    @Test func `a thread has a name, and leaves the process's signals to others`() async throws {
      let status = await withCheckedContinuation { continuation in
        let isStarted = WorkerThread.start("name-of-the-thread") {
          let status = try? String(contentsOfFile: "/proc/thread-self/status", encoding: .utf8)
          continuation.resume(returning: status?.split(separator: "\n").map(String.init) ?? [])
        }
        if !isStarted { continuation.resume(returning: [String]()) }
      }
      // 15 bytes of it.
      #expect(status.contains("Name:\tdirectdns.name-"))
      let mask = try #require(status.first { $0.hasPrefix("SigBlk:") }?.split(separator: "\t").last)
      let blocked = try #require(UInt64(mask, radix: 16))
      for signal in [SIGTERM, SIGINT, SIGCHLD, SIGUSR1] { #expect(blocked & 1 << UInt64(signal - 1) != 0) }
      for signal in [SIGSEGV, SIGPIPE] { #expect(blocked & 1 << UInt64(signal - 1) == 0) }
    }
  #endif
}

@Suite(.timeLimit(.minutes(1)))
struct ThreadExecutorTests {
  actor Blocking {
    private let executor: ThreadExecutor
    private(set) var count = 0

    init(_ executor: ThreadExecutor = ThreadExecutor("tests")) { self.executor = executor }

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    /// Whether the gate was opened, in a third of the test's time.
    func wait(for gate: DispatchSemaphore, telling waiting: Watched<Int>) -> Bool {
      waiting.change { $0 += 1 }
      return gate.wait(timeout: .now() + 20) == .success
    }

    func add() { count += 1 }
  }

  @Test func `an actor that blocks keeps nobody else waiting`() async {
    let gates = (0..<16).map { _ in DispatchSemaphore(value: 0) }
    let waiting = Watched(0)
    await withTaskGroup(of: Bool.self) { group in
      for gate in gates {
        let actor = Blocking()
        group.addTask { await actor.wait(for: gate, telling: waiting) }
      }
      // All of them wait at once, more than the pool has threads, and this one still gets one.
      await waiting.wait { $0 == gates.count }
      for gate in gates { gate.signal() }
      for await isOpened in group { #expect(isOpened) }
    }
  }

  @Test(arguments: [true, false])
  func `one call at a time, on the thread that calls too where no other can be started`(_ canStart: Bool) async {
    let actor = Blocking(ThreadExecutor(BlockingPool("tests", width: 1) { canStart && WorkerThread.start($0, $1) }))
    await withTaskGroup { group in
      for _ in 0..<1000 { group.addTask { await actor.add() } }
    }
    #expect(await actor.count == 1000)
  }
}
