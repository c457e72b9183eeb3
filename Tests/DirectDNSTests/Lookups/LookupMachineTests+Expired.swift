// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

/// When an expired answer serves (RFC 8767 §5), and when it is asked for again.
extension LookupMachineTests {
  // MARK: The client response timeout

  @Test func `its time counts from when the answer was asked for, and not from when a caller came`() throws {
    var machine = knowing()
    let first = try #require(begin(&machine, request(), at: 1000))
    let second = try #require(begin(&machine, request(), at: 1000.2))
    #expect(words(&machine) == ["send 2 to 0: [A]"])
    machine.timePassed(at: Sample.at(1000.3).before)
    #expect(words(&machine) == [])
    machine.timePassed(at: Sample.at(1000.3))
    #expect(words(&machine) == [first, second].map { "answer \($0): [\"192.0.2.1\"] stale" })
    let third = try #require(begin(&machine, request(), at: 1000.4))
    #expect(words(&machine) == ["answer \(third): [\"192.0.2.1\"] stale"])
  }

  @Test func `a caller who allows less time is served when that is over`() throws {
    var machine = knowing()
    let number = try #require(begin(&machine, request(timeout: .milliseconds(100)), at: 1000))
    _ = words(&machine)
    machine.timePassed(at: Sample.at(1000.1))
    #expect(words(&machine) == ["answer \(number): [\"192.0.2.1\"] stale"])
  }

  @Test(arguments: [(Duration?.none, 4900), (.milliseconds(900), 4900), (.seconds(30), 29_400)])
  func `the refresh of a stale answer has its usual time, or more, whatever its first caller has`(
    _ timeout: Duration?, _ milliseconds: Int
  ) {
    var machine = knowing()
    _ = begin(&machine, request(timeout: timeout), at: 1000)
    let timeouts = machine.takeActions().compactMap { action -> Duration? in
      if case .query(.send(_, _, _, let timeout)) = action { timeout } else { nil }
    }
    #expect(timeouts == [.milliseconds(milliseconds)])
  }

  @Test func `a failed refresh is remembered, however little time its first caller had`() {
    var machine = knowing()
    _ = begin(&machine, request(timeout: .milliseconds(100)), at: 1000)
    machine.timePassed(at: Sample.at(1000.1))
    machine.ended(2, late, at: Sample.at(1004.9))
    _ = words(&machine)
    #expect(way(LookupScript(), &machine, at: 1010) == ["192.0.2.1 stale"])
  }

  @Test func `on another network it counts anew for those who come then`() throws {
    var machine = knowing()
    let before = try #require(begin(&machine, request(), at: 1000))
    machine.networkDidChange(at: Sample.at(1000.2))
    let after = try #require(begin(&machine, request(), at: 1000.2))
    _ = words(&machine)
    machine.timePassed(at: Sample.at(1000.3))
    #expect(words(&machine) == ["answer \(before): [\"192.0.2.1\"] stale"])
    machine.timePassed(at: Sample.at(1000.5).before)
    #expect(words(&machine) == [])
    machine.timePassed(at: Sample.at(1000.5))
    #expect(words(&machine) == ["answer \(after): [\"192.0.2.1\"] stale"])
  }

  @Test func `an answer that comes after that is for those who ask next`() {
    var machine = knowing()
    _ = begin(&machine, request(), at: 1000)
    machine.timePassed(at: Sample.at(1000.3))
    _ = words(&machine)
    machine.ended(2, reply(.addresses("192.0.2.2", ttl: 100), asked: 1000), at: Sample.at(1001))
    #expect(words(&machine) == [] && machine.questionCount == 0)
    guard case .known(.success(let resolution)) = machine.begin(request(), at: Sample.at(1001)) else {
      Issue.record("it is not in the cache")
      return
    }
    #expect(resolution.texts == ["192.0.2.2"])
  }

  @Test func `an answer that comes after the whole lookup's time is for those who ask next, too`() throws {
    var machine = machine { $0.usesSystemDNS = false }
    let number = try #require(begin(&machine, request(timeout: .seconds(1))))
    machine.timePassed(at: Sample.at(1))
    #expect(words(&machine) == ["send 1 to 0: [A]", "fail \(number): timedOut"])
    machine.ended(1, reply(.addresses("192.0.2.1", ttl: 100)), at: Sample.at(2))
    #expect(way(LookupScript(), &machine, at: 2) == ["192.0.2.1 fresh"])
  }

  // MARK: The failure recheck timer

  @Test(arguments: [(1000.1, false), (1010.0, false), (1029.9, false), (1030.0, true), (2000.0, true)])
  func `an expired answer whose refresh has failed is not asked for again for 30 s, and serves at once`(
    _ seconds: Double, _ isAsked: Bool
  ) {
    var machine = knowing()
    let failing = LookupScript(providers: .fails, system: nil)
    #expect(way(failing, &machine, at: 1000) == ["provider A", "192.0.2.1 stale"])
    let expected = isAsked ? ["provider A", "192.0.2.1 fresh"] : ["192.0.2.1 stale"]
    #expect(way(LookupScript(), &machine, at: seconds) == expected)
  }

  @Test func `the first answer of the server that failed it ends that wait`() {
    var machine = knowing()
    _ = way(LookupScript(providers: .fails, system: nil), &machine, at: 1000)
    let other = way(LookupScript(), &machine, at: 1005) { $0.host = Sample.name("other.example") }
    #expect(other == ["provider A", "192.0.2.1 fresh"])
    #expect(way(LookupScript(), &machine, at: 1005) == ["provider A", "192.0.2.1 fresh"])
  }

  @Test(arguments: [(0.5, ["upstreamFailed"]), (0.999, ["upstreamFailed"]), (1.0, ["provider A", "192.0.2.1 fresh"])])
  func `without an answer to serve the failure itself is told for a second`(_ seconds: Double, _ expected: [String]) {
    var machine = machine { $0.usesSystemDNS = false }
    _ = way(LookupScript(providers: .fails, system: nil), &machine, at: 0)
    #expect(way(LookupScript(system: nil), &machine, at: seconds) == expected)
  }
}
