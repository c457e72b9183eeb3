// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct LookupEndsTests {
  private func lookup(until seconds: Double) throws -> DirectDNS.Lookup {
    let request = LookupRequest(
      host: try HostName("a.test"), wanted: .ipv4, route: .providers, expired: .allowed, timeout: nil,
      purpose: .handingOut, prefersIPv6: true)
    return DirectDNS.Lookup(
      request: request, deadlines: LookupDeadlines(timeout: .seconds(5), from: Sample.at(0)), phase: .refreshing,
      wait: FamilyWait(.ipv4, for: .handingOut, until: Sample.at(seconds)))
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
