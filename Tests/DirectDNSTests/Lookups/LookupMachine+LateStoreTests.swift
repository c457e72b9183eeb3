// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

/// A store that has not answered when the providers are asked.
extension LookupMachineTests {
  private func slow(hasLeases: Bool = false, capacity: Int = 100) -> LookupMachine {
    machine(hasStore: true, hasLeases: hasLeases, capacity: capacity) {
      $0.usesSystemDNS = false
      $0.storeTimeout = .milliseconds(50)
    }
  }

  /// A lookup at 10 000 s for which the providers are asked by query 1, and the store, by question 2, has not answered.
  private func late(
    hasLeases: Bool = false, capacity: Int = 100
  ) throws -> (machine: LookupMachine, caller: Number<DirectDNS.Lookup>) {
    var machine = slow(hasLeases: hasLeases, capacity: capacity)
    let caller = try #require(begin(&machine, request(), at: 10_000))
    machine.timePassed(at: Sample.at(10_000.05))
    #expect(words(&machine) == ["store 2", "send 1 to 0: [A]"])
    return (machine, caller)
  }

  @Test(arguments: [false, true])
  func `a fresh answer that comes while the providers are silent, or after they have failed, is the answer`(
    _ hasFailed: Bool
  ) throws {
    var (machine, caller) = try late()
    if hasFailed { machine.ended(1, failed, at: Sample.at(10_000.1)) }
    #expect(words(&machine) == [])
    let fresh = CacheEntry(
      content: Self.stored.content, canonicalName: nil, source: 2, life: Sample.life(9990, 10_090))
    machine.storeRead(2, .late, at: Sample.at(10_000.1))
    machine.storeRead(2, .found(fresh), at: Sample.at(10_000.2))
    let answer = "answer \(caller): [\"192.0.2.7\"] fresh"
    #expect(words(&machine) == (hasFailed ? [answer] : ["cancel 1", answer]))
    #expect(machine.lookupCount == 0 && machine.questionCount == 0 && machine.nextInstant() == nil)
  }

  @Test func `an expired answer that comes while the providers are silent serves as soon as one that came in time`()
    throws
  {
    var (machine, caller) = try late()
    machine.storeRead(2, .found(Self.stored), at: Sample.at(10_000.2))
    machine.timePassed(at: Sample.at(10_000.3).before)
    #expect(words(&machine) == [])
    machine.timePassed(at: Sample.at(10_000.3))
    #expect(words(&machine) == ["answer \(caller): [\"192.0.2.7\"] stale"])
    machine.ended(1, reply(.addresses("192.0.2.8"), asked: 10_000.05), at: Sample.at(10_001))
    #expect(words(&machine) == ["keep A"] && machine.questionCount == 0)
  }

  @Test func `an expired answer that comes late serves although the cache has evicted it`() throws {
    var (machine, caller) = try late(capacity: 1)
    machine.storeRead(2, .found(Self.stored), at: Sample.at(10_000.2))
    evict(machine)
    machine.timePassed(at: Sample.at(10_000.3))
    #expect(words(&machine) == ["answer \(caller): [\"192.0.2.7\"] stale"])
  }

  /// A lookup of both families, for which the providers are asked by queries 1 and 2.
  private func lateForBoth(
    _ expired: ExpiredUse = .allowed
  ) throws -> (machine: LookupMachine, caller: Number<DirectDNS.Lookup>) {
    var machine = slow()
    var request = request(.any)
    request.expired = expired
    let caller = try #require(begin(&machine, request, at: 10_000))
    machine.timePassed(at: Sample.at(10_000.05))
    #expect(words(&machine) == ["store 2", "store 3", "send 1 to 0: [AAAA]", "send 2 to 0: [A]"])
    return (machine, caller)
  }

  @Test func `an expired answer that comes late serves also where the other family has failed already`() throws {
    var (machine, caller) = try lateForBoth()
    machine.storeRead(2, .nothing, at: Sample.at(10_000.06))
    machine.ended(1, failed, at: Sample.at(10_000.1))
    machine.storeRead(3, .found(Self.stored), at: Sample.at(10_000.2))
    #expect(words(&machine) == [])
    machine.timePassed(at: Sample.at(10_000.3))
    #expect(words(&machine) == ["answer \(caller): [\"192.0.2.7\"] stale"])
  }

  @Test func `expired answers of both families that come late serve together`() throws {
    var (machine, caller) = try lateForBoth(.preferred)
    let other = CacheEntry(
      content: .addresses([Sample.address("2001:db8::7")]), canonicalName: nil, source: 2, life: Self.stored.life)
    machine.storeRead(2, .found(other), at: Sample.at(10_000.2))
    #expect(words(&machine) == [])
    machine.storeRead(3, .found(Self.stored), at: Sample.at(10_000.2))
    #expect(words(&machine) == ["answer \(caller): [\"2001:db8::7\", \"192.0.2.7\"] grace"])
  }

  @Test(arguments: [10_000.1, 10_000.2])
  func `an expired answer serves a lookup that the providers have failed, or fail later`(_ failsAt: Double) throws {
    var (machine, caller) = try late()
    for instant in [failsAt, 10_000.15].sorted() {
      #expect(words(&machine) == [])
      if instant == failsAt {
        machine.ended(1, failed, at: Sample.at(instant))
      } else {
        machine.storeRead(2, .found(Self.stored), at: Sample.at(instant))
      }
    }
    #expect(words(&machine) == ["answer \(caller): [\"192.0.2.7\"] stale"])
    #expect(machine.lookupCount == 0 && machine.questionCount == 0)
  }

  @Test(arguments: [StoreReading<CacheEntry>.nothing, .unavailable])
  func `a lookup that the providers have failed waits for the store no longer than an expired answer would for them`(
    _ reading: StoreReading<CacheEntry>
  ) throws {
    var (told, first) = try late(hasLeases: true)
    told.ended(1, failed, at: Sample.at(10_000.1))
    #expect(words(&told) == [])
    told.storeRead(2, reading, at: Sample.at(10_000.2))
    #expect(words(&told) == ["fail \(first): upstreamFailed"])
    var (silent, second) = try late(hasLeases: true)
    silent.ended(1, failed, at: Sample.at(10_000.1))
    silent.timePassed(at: Sample.at(10_000.3).before)
    #expect(words(&silent) == [])
    silent.timePassed(at: Sample.at(10_000.3))
    #expect(words(&silent) == ["fail \(second): upstreamFailed"])
    var (later, third) = try late()
    later.ended(1, failed, at: Sample.at(10_000.3))
    #expect(words(&later) == ["fail \(third): upstreamFailed"], "it has had that time")
  }

  @Test func `a store that is of no use is not waited for, nor is one whose name was invalidated`() throws {
    var machine = machine(hasStore: true) { $0.usesSystemDNS = false }
    let caller = try #require(begin(&machine, request(), at: 10_000))
    machine.storeRead(2, .unavailable, at: Sample.at(10_000))
    machine.ended(1, failed, at: Sample.at(10_000.1))
    #expect(words(&machine) == ["store 2", "send 1 to 0: [A]", "fail \(caller): upstreamFailed"])
    var (late, other) = try late()
    late.invalidate(Self.host, at: Sample.at(10_000.1))
    late.storeRead(2, .found(Self.stored), at: Sample.at(10_000.15))
    late.ended(1, failed, at: Sample.at(10_000.2))
    #expect(words(&late) == ["forget A", "forget AAAA", "fail \(other): upstreamFailed"])
    var (gone, third) = try self.late()
    gone.invalidate(Self.host, at: Sample.at(10_000.1))
    gone.ended(1, failed, at: Sample.at(10_000.15))
    #expect(words(&gone) == ["forget A", "forget AAAA", "fail \(third): upstreamFailed"])
    var leasing = slow(hasLeases: true)
    _ = begin(&leasing, request(), at: 10_000)
    leasing.invalidate(Self.host, at: Sample.at(10_000))
    leasing.storeRead(2, .late, at: Sample.at(10_000.04))
    #expect(words(&leasing) == ["store 2", "forget A", "forget AAAA", "send 1 to 0: [A]"], "nor for its lease")
  }

  @Test func `what the old network's servers have failed is asked on the new one, and not remembered`() throws {
    var (machine, caller) = try late()
    machine.ended(1, failed, at: Sample.at(10_000.1))
    machine.networkDidChange(at: Sample.at(10_000.2))
    #expect(words(&machine) == ["send 2 to 0: [A]"])
    machine.timePassed(at: Sample.at(10_000.3))
    #expect(words(&machine) == [])
    machine.ended(2, reply(.addresses("192.0.2.8"), asked: 10_000.2), at: Sample.at(10_000.4))
    #expect(words(&machine) == ["keep A", "answer \(caller): [\"192.0.2.8\"] fresh"])
    #expect(machine.lookupCount == 0 && machine.questionCount == 0 && machine.nextInstant() == nil)
  }

  @Test func `what former servers have failed, or fail now, is asked of new ones at once`() throws {
    for failsAt in [10_000.1, 10_000.2] {
      var (machine, caller) = try late()
      if failsAt == 10_000.1 { machine.ended(1, failed, at: Sample.at(failsAt)) }
      #expect(words(&machine) == [])
      machine.update(settings("two"), at: Sample.at(10_000.15))
      if failsAt == 10_000.2 { machine.ended(1, failed, at: Sample.at(failsAt)) }
      #expect(words(&machine) == ["store 3"])
      machine.storeRead(3, .nothing, at: Sample.at(10_000.2))
      #expect(words(&machine) == ["send 2 to 1: [A]"])
      machine.ended(2, reply(.addresses("192.0.2.8"), asked: 10_000.2), at: Sample.at(10_000.25))
      #expect(words(&machine) == ["keep A", "answer \(caller): [\"192.0.2.8\"] fresh"])
    }
  }

  @Test func `servers that failed in time are not asked again when the wait for the store takes what is left of it`()
    throws
  {
    var machine = slow()
    let hurried = try #require(begin(&machine, request(timeout: .milliseconds(200)), at: 10_000))
    let patient = try #require(begin(&machine, request(), at: 10_000.04))
    machine.timePassed(at: Sample.at(10_000.05))
    #expect(words(&machine) == ["store 2", "send 1 to 0: [A]"])
    machine.ended(1, failed, at: Sample.at(10_000.1))
    machine.timePassed(at: Sample.at(10_000.195))
    #expect(words(&machine) == [])
    machine.timePassed(at: Sample.at(10_000.197))
    #expect(words(&machine) == ["fail \(hurried): upstreamFailed", "fail \(patient): upstreamFailed"])
  }
}
