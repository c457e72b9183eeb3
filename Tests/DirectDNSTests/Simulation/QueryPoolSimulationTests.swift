// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import DirectDNS

/// The pool of DNS requests against made-up worlds.
///
/// Addresses refuse or are silent, connections are shared or carry one query at a time, end, say nothing more, or
/// vanish all at once, callers leave or run out of time. `DIRECTDNS_SEED=N` runs one world alone, and prints what
/// happens; `DIRECTDNS_SEEDS=N` runs so many.
@Suite(.timeLimit(.minutes(5)))
struct QueryPoolSimulationTests {
  private static var seeds: ClosedRange<UInt64> {
    let environment = ProcessInfo.processInfo.environment
    if let seed = environment["DIRECTDNS_SEED"].flatMap(UInt64.init) { return seed...seed }
    return 1...(environment["DIRECTDNS_SEEDS"].flatMap(UInt64.init).map { max(1, $0) } ?? 1500)
  }

  @Test func `whatever happens, every query is answered once and in time, on one connection, and nothing is left`() {
    var events = 0
    for seed in Self.seeds {
      var world = QueryPoolWorld(seed: seed)
      world.isTold = Self.seeds.count == 1
      let faults = world.run()
      #expect(faults.isEmpty, "DIRECTDNS_SEED=\(seed): \(faults.joined(separator: "; "))")
      events += world.events
    }
    print("figures: \(Self.seeds.count) worlds of the pool of DNS requests, \(events) events")
    #expect(events > 0)
  }

  @Test(arguments: QueryPoolWorld.Slip.allCases)
  func `a mistake in carrying out what was decided is found`(_ slip: QueryPoolWorld.Slip) {
    let isFound = (1...1_000 as ClosedRange<UInt64>).contains { seed in
      var world = QueryPoolWorld(seed: seed, slip: slip)
      return !world.run().isEmpty
    }
    #expect(isFound)
  }

  @Test func `the same seed makes the same world`() {
    let runs = (0..<2).map { _ in
      var world = QueryPoolWorld(seed: 7)
      _ = world.run()
      return [world.events, Int(world.now)]
    }
    #expect(runs[0] == runs[1])
  }
}
