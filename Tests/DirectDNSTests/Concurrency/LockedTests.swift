// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct LockedTests {
  private struct Refusal: Error {}

  @Test func `a value is read and changed, and what the body returns comes out`() {
    let locked = Locked([1])
    #expect(locked.withLock { $0.count } == 1)
    let last = locked.withLock { value -> Int? in
      value.append(2)
      return value.last
    }
    #expect(last == 2)
    #expect(locked.withLock { $0 } == [1, 2])
  }

  @Test func `many tasks lose no change`() async {
    let locked = Locked(0)
    await withDiscardingTaskGroup { group in
      for _ in 0..<8 {
        group.addTask { for _ in 0..<2000 { locked.withLock { $0 += 1 } } }
      }
    }
    #expect(locked.withLock { $0 } == 16_000)
  }

  @Test func `an error comes out, and the lock is free again`() {
    let locked = Locked(0)
    #expect(throws: Refusal.self) {
      try locked.withLock { value in
        value = 1
        throw Refusal()
      }
    }
    #expect(locked.withLock { $0 } == 1)
  }

  @Test func `a lock without a value touches nothing that others read without it`() throws {
    let locked = Locked(())
    let storage = try #require(Mirror(reflecting: locked).children.first?.value as? AnyObject)
    let place = locked.withLock { value in unsafe withUnsafePointer(to: &value) { UInt(bitPattern: $0) } }
    // The object begins with its class, which every call reads.
    #expect(place != UInt(bitPattern: ObjectIdentifier(storage)))
  }

  @Test func `the value goes with its lock`() {
    final class Token: Sendable {}
    weak var seen: Token?
    do {
      let locked = Locked(Token())
      seen = locked.withLock { $0 }
      #expect(seen != nil)
    }
    #expect(seen == nil)
  }

  @Test func `a task waits until what it has left behind the lock is resumed, or not at all`() async {
    let waiter = Locked<CheckedContinuation<Int, Never>?>(nil)
    let waiting = Task.immediate {
      await waiter.wait { waiter, continuation -> Int? in
        waiter = continuation
        return nil
      }
    }
    waiter.withLock { $0.take() }?.resume(returning: 1)
    #expect(await waiting.value == 1)
    #expect(await waiter.wait { _, _ -> Int? in 2 } == 2)
  }
}
