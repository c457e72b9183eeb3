// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import Foundation
import Testing

@testable import DirectDNS

@Suite(.timeLimit(.minutes(1)))
struct TaskResumptionTests {
  /// Whether so many tasks are resumed by the thread that calls it, before the call returns.
  private func resumesHere(_ count: Int, by resumption: TaskResumption) async -> Bool {
    await withCheckedContinuation { caller in
      let (thread, isCalling) = (ObjectIdentifier(Thread.current), Locked(true))
      resumption.resume(count) {
        caller.resume(returning: isCalling.withLock(\.self) && ObjectIdentifier(Thread.current) == thread)
      }
      isCalling.withLock { $0 = false }
    }
  }

  @Test func `one task is resumed by the thread that has its result, several are by another`() async {
    let resumption = TaskResumption()
    #expect(await resumesHere(1, by: resumption))
    #expect(await !resumesHere(2, by: resumption))
    #expect(await !resumesHere(50, by: resumption))
  }

  @Test func `several are resumed by the loop's thread for some time after tasks have run there`() async {
    let resumption = TaskResumption()
    resumption.willRunTasks()
    for _ in 0..<64 { #expect(await resumesHere(2, by: resumption)) }
    #expect(await !resumesHere(2, by: resumption))
    resumption.willRunTasks()
    #expect(await resumesHere(2, by: resumption))
  }
}
