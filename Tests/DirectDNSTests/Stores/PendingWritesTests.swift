// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

@Suite struct PendingWritesTests {
  private var pending = PendingWrites(capacity: 3)
  private let now = WallInstant(milliseconds: 4)

  private func question(_ name: String) -> AddressQuestion { AddressQuestion(Sample.name(name), .ipv4) }

  private func keep(_ name: String, _ address: UInt32 = 1) -> PendingWrites.Change {
    .keep(
      StoredAnswer(
        question(name), .addresses([.ipv4(address)]), provider: "one", asked: WallInstant(milliseconds: 1),
        expires: WallInstant(milliseconds: 2), gone: WallInstant(milliseconds: 3)))
  }

  private mutating func add(_ names: String...) -> [Bool] {
    names.map { pending.add(keep($0), to: question($0)) }
  }

  @Test mutating func `the oldest come first`() {
    let seen1 = add("a", "b", "c")
    #expect(seen1 == [true, true, true])
    let first = pending.next(2)
    #expect(Set(first.keys) == [question("a"), question("b")])
    pending.written()
    let second = pending.next(2)
    #expect(Set(second.keys) == [question("c")])
    #expect(pending.count == 1)
    pending.written()
    #expect(pending.isEmpty)
    let seen2 = pending.next(2)
    #expect(seen2.isEmpty)
  }

  @Test mutating func `the last word about a question counts, and takes no more room`() {
    let seen3 = add("a", "b", "c")
    #expect(seen3 == [true, true, true])
    let seen4 = pending.add(keep("a", 2), to: question("a"))
    #expect(seen4)
    let seen5 = pending.add(.forget(now), to: question("b"))
    #expect(seen5)
    let seen6 = pending.next(9)
    #expect(seen6 == [question("a"): keep("a", 2), question("b"): .forget(now), question("c"): keep("c")])
  }

  @Test mutating func `what there is no room for is not taken`() {
    let seen7 = add("a", "b", "c", "d", "a")
    #expect(seen7 == [true, true, true, false, true])
    #expect(pending[question("d")] == nil)
    #expect(pending.count == 3)
  }

  @Test mutating func `what could not be written waits again, before all else`() {
    _ = add("a", "b")
    _ = pending.next(1)
    pending.failed()
    #expect(pending.count == 2)
    let again = pending.next(1)
    #expect(Array(again.keys) == [question("a")])
  }

  @Test mutating func `what could not be written gives way to newer word`() {
    _ = add("a")
    _ = pending.next(1)
    #expect(pending[question("a")] == keep("a"))
    _ = pending.add(.forget(now), to: question("a"))
    #expect(pending[question("a")] == .forget(now))
    pending.failed()
    let seen8 = pending.next(9)
    #expect(seen8 == [question("a"): .forget(now)])
  }

  @Test mutating func `what is under way can be asked for until it is written`() {
    _ = add("a")
    _ = pending.next(1)
    #expect(pending[question("a")] == keep("a"))
    pending.written()
    #expect(pending[question("a")] == nil)
  }
}
