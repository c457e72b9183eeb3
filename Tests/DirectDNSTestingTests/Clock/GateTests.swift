// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import Testing

@Suite(.timeLimit(.minutes(1)))
struct GateTests {
  @Test func `everyone waits until it is opened, and nobody after`() async throws {
    let gate = Gate()
    let waiting = (0..<3).map { number in
      Task {
        try await gate.pass()
        return number
      }
    }
    #expect(await gate.waitForArrivals(3))
    gate.open()
    for (number, task) in waiting.enumerated() { #expect(try await task.value == number) }
    try await gate.pass()
    #expect(gate.arrivalCount == 4)
  }

  @Test func `a cancelled task does not wait`() async throws {
    let gate = Gate()
    let waiting = Task { try await gate.pass() }
    await gate.waitForArrivals()
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
  }
}
