// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

@Suite(.timeLimit(.minutes(1)))
struct PromiseTests {
  @Test func `a value that came first is there for whoever waits`() async {
    let promise = Promise<Int>()
    #expect(!promise.isFulfilled)
    #expect(promise.fulfil(1))
    #expect(promise.isFulfilled)
    #expect(await promise.value() == 1)
    #expect(promise.isFulfilled)
  }

  @Test func `whoever waits is resumed by the first value, and no other one counts`() async {
    let promise = Promise<Int>()
    let waiting = Task.immediate { await promise.value() }
    #expect(promise.fulfil(1))
    #expect(!promise.fulfil(2))
    #expect(await waiting.value == 1)
    #expect(!promise.fulfil(3))
  }

  @Test func `of many who fulfil it at once one counts`() async {
    let promise = Promise<Int>()
    let waiting = Task.immediate { await promise.value() }
    let first = await withTaskGroup(of: Int?.self) { group in
      for number in 0..<100 { group.addTask { promise.fulfil(number) ? number : nil } }
      return await group.reduce(into: [Int]()) { if let number = $1 { $0.append(number) } }
    }
    #expect(await [waiting.value] == first)
  }

  @Test func `a task that is cancelled waits no longer, be it before`() async {
    let promise = Promise<Int>()
    let waiting = Task.immediate { await promise.value(ifCancelled: 7) }
    waiting.cancel()
    #expect(await waiting.value == 7)
    #expect(!promise.fulfil(1))
    let cancelled = Task {
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      return await Promise<Int>().value(ifCancelled: 7)
    }
    #expect(await cancelled.value == 7)
  }

  @Test func `a cancellation alone does not end an ordinary wait`() async {
    let promise = Promise<Int>()
    let waiting = Task.immediate { await promise.value() }
    waiting.cancel()
    #expect(promise.fulfil(1))
    #expect(await waiting.value == 1)
  }
}
