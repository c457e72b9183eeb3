// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// So many operations at a time, until all of them are done.
package struct Load: Sendable {
  let inFlight: Int
  /// Where they run; on the shared pool unless somebody says otherwise.
  let executor: (any TaskExecutor)?

  /// Creates a load of so many operations at a time.
  package init(inFlight: Int, executor: (any TaskExecutor)? = nil) {
    self.inFlight = inFlight
    self.executor = executor
  }

  /// Runs operations that are told apart by their index, and counts those that fail; the first failure is
  /// printed.
  func run(_ indices: Range<Int>, _ operation: @escaping @Sendable (Int) async throws -> Void) async -> Int {
    let progress = Progress(indices.lowerBound)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<min(inFlight, indices.count) {
        let work: @Sendable () async -> Void = {
          while true {
            let index = progress.next.wrappingAdd(1, ordering: .relaxed).oldValue
            guard index < indices.upperBound else { return }
            do {
              try await operation(index)
            } catch {
              if progress.failed.wrappingAdd(1, ordering: .relaxed).oldValue == 0 { print(error) }
            }
          }
        }
        // A preference for nil is one all the same: the runtime would take a lock to find it each time a task goes on.
        if let executor {
          group.addTask(executorPreference: executor, operation: work)
        } else {
          group.addTask(operation: work)
        }
      }
    }
    return progress.failed.load(ordering: .relaxed)
  }

  /// Runs a warm-up and then what is counted, and prints `rate=PER-SECOND cpu_us=PER-OPERATION failed=N`.
  ///
  /// - Returns: how many of the counted operations failed.
  package func measure(
    _ count: Int, warmUp: Int, _ operation: @escaping @Sendable (Int) async throws -> Void
  ) async -> Int {
    _ = await run(0..<warmUp, operation)
    let clock = ContinuousClock()
    let began = clock.now
    let cpu = Glibc.clock()
    let failed = await run(warmUp..<warmUp + count, operation)
    let seconds = (clock.now - began) / .seconds(1)
    let cpuSeconds = Double(Glibc.clock() - cpu) / Double(CLOCKS_PER_SEC)
    print("rate=\(Double(count) / seconds) cpu_us=\(cpuSeconds / Double(count) * 1e6) failed=\(failed)")
    return failed
  }
}

private final class Progress: Sendable {
  let next: Atomic<Int>
  let failed = Atomic<Int>(0)

  init(_ start: Int) { next = Atomic(start) }
}
