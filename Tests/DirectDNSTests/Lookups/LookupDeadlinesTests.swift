// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct LookupDeadlinesTests {
  @Test(arguments: [
    (Duration.seconds(5), Duration.milliseconds(3500), Duration.seconds(3)),
    (.seconds(1), .milliseconds(700), .milliseconds(600)),
    (.seconds(10), .seconds(7), .seconds(6)), (.milliseconds(50), .milliseconds(35), .milliseconds(30)),
  ])
  func `of 5 s the providers have 3.5 s and each attempt 3 s, and a caller's own deadline scales all of them`(
    _ whole: Duration, _ providers: Duration, _ attempt: Duration
  ) {
    let deadlines = LookupDeadlines(timeout: whole, from: Sample.at(100))
    #expect(deadlines.whole == Sample.at(100) + whole)
    #expect(deadlines.providers == Sample.at(100) + providers)
    #expect(deadlines.attempt == attempt)
  }

  @Test(arguments: [(Duration.seconds(5), 4.9), (.seconds(1), 0.98), (.seconds(10), 9.8)])
  func `without the system's DNS the providers have all but 100 ms of 5 s`(_ whole: Duration, _ providers: Double) {
    let deadlines = LookupDeadlines(timeout: whole, from: Sample.at(0), hasSystem: false)
    #expect(deadlines.providers == Sample.at(providers))
  }

  @Test func `an attempt has at most what is left of the providers' time, and none begins after it`() {
    let deadlines = LookupDeadlines(timeout: .seconds(5), from: Sample.at(0))
    #expect(deadlines.timeLeft(at: Sample.at(0)) == .milliseconds(3500))
    #expect(deadlines.timeLeft(at: Sample.at(3)) == .milliseconds(500))
    #expect(deadlines.timeLeft(at: Sample.at(3.5).before) == .nanoseconds(1))
    #expect(deadlines.timeLeft(at: Sample.at(3.5)) == nil)
    #expect(deadlines.timeLeft(at: Sample.at(9)) == nil)
  }

  @Test func `a caller who would wait for ever has time`() {
    let deadlines = LookupDeadlines(timeout: .seconds(Int64.max), from: Sample.at(100))
    #expect(deadlines.whole == ResolverInstant(nanoseconds: .max))
    #expect(deadlines.timeLeft(at: Sample.at(100)).map { $0 > .seconds(1_000_000) } == true)
  }
}

struct LookupEndsTests {
  private func lookup(until seconds: Double) throws -> DirectDNS.Lookup {
    let request = LookupRequest(
      host: try HostName("a.test"), wanted: .ipv4, route: .providers, expired: .allowed, timeout: nil,
      purpose: .handingOut, prefersIPv6: true)
    let caller = LookupCaller(
      number: 0, request: request, deadlines: LookupDeadlines(timeout: .seconds(5), from: Sample.at(0)),
      began: Sample.at(0))
    return DirectDNS.Lookup(
      caller: caller, phase: .refreshing, wait: FamilyWait(.ipv4, for: .handingOut, until: Sample.at(seconds)))
  }

  private func due(_ ends: inout LookupEnds, _ lookups: NumberTable<DirectDNS.Lookup>, at seconds: Double) -> [Int] {
    var due: [Int] = []
    while let number = ends.takeDue(among: lookups, at: Sample.at(seconds)) { due.append(number) }
    return due
  }

  @Test func `lookups end in the order of their ends, none before its own`() throws {
    var lookups = NumberTable<DirectDNS.Lookup>()
    var ends = LookupEnds()
    for (number, end) in [(1, 3.0), (2, 1), (3, 2)] {
      lookups[number] = try lookup(until: end)
      ends.add(number, at: Sample.at(end), among: lookups)
    }
    #expect(ends.next(among: lookups) == Sample.at(1))
    #expect(due(&ends, lookups, at: 0.9).isEmpty)
    #expect(due(&ends, lookups, at: 2) == [2, 3])
    #expect(due(&ends, lookups, at: 9) == [1] && ends.next(among: lookups) == nil)
  }

  @Test func `one that is over is passed over, and one that ends at another time comes then`() throws {
    var lookups = NumberTable<DirectDNS.Lookup>()
    var ends = LookupEnds()
    for number in 1...2 {
      lookups[number] = try lookup(until: 1)
      ends.add(number, at: Sample.at(1), among: lookups)
    }
    lookups[1] = nil
    lookups[2] = try lookup(until: 4)
    ends.add(2, at: Sample.at(4), among: lookups)
    #expect(ends.next(among: lookups) == Sample.at(4))
    #expect(due(&ends, lookups, at: 3).isEmpty && due(&ends, lookups, at: 4) == [2])
  }

  @Test func `lookups that go on and on with the same end stay in order, however many there are`() throws {
    var lookups = NumberTable<DirectDNS.Lookup>()
    var ends = LookupEnds()
    let lookup = try lookup(until: 1)
    for number in 1...10_000 {
      lookups[number] = lookup
      for _ in 0..<4 { ends.add(number, at: Sample.at(1), among: lookups) }
    }
    var count = 0
    while let number = ends.takeDue(among: lookups, at: Sample.at(1)) {
      count += 1
      #expect(number == count)
      lookups[number] = nil
    }
    #expect(count == 10_000)
  }

  @Test func `thousands that are over leave those that are not`() throws {
    var lookups = NumberTable<DirectDNS.Lookup>()
    var ends = LookupEnds()
    let lookup = try lookup(until: 1)
    for number in 1...5000 {
      lookups[number] = lookup
      ends.add(number, at: Sample.at(1), among: lookups)
      if number % 100 != 0 { lookups[number] = nil }
    }
    #expect(due(&ends, lookups, at: 1) == Array(stride(from: 100, through: 5000, by: 100)))
  }
}
