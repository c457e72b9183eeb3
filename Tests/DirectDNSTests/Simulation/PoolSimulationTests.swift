// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import DirectDNS

/// The pool against made-up worlds.
///
/// Connections are refused, silent, reset and told to go away, streams and expectations are refused, bodies come once or
/// fail, proxies stand between, callers cancel, families come late. `DIRECTDNS_SEED=N` runs one world alone, and prints
/// what happens; `DIRECTDNS_SEEDS=N` runs so many.
@Suite(.timeLimit(.minutes(5)))
struct PoolSimulationTests {
  private static var seeds: ClosedRange<UInt64> {
    let environment = ProcessInfo.processInfo.environment
    if let seed = environment["DIRECTDNS_SEED"].flatMap(UInt64.init) { return seed...seed }
    return 1...(environment["DIRECTDNS_SEEDS"].flatMap(UInt64.init).map { max(1, $0) } ?? 600)
  }

  @Test
  func `whatever happens, every caller is answered once, nothing is sent twice that must not be, and nothing is left`()
  {
    var events = 0
    for seed in Self.seeds {
      var world = PoolWorld(seed: seed)
      world.isTold = Self.seeds.count == 1
      let faults = world.run()
      #expect(faults.isEmpty, "DIRECTDNS_SEED=\(seed): \(faults.joined(separator: "; "))")
      events += world.events
    }
    print("figures: \(Self.seeds.count) worlds of the pool, \(events) events")
    #expect(events > 0)
  }

  @Test(arguments: PoolWorld.Slip.allCases)
  func `a mistake in carrying out what was decided is found`(_ slip: PoolWorld.Slip) {
    let isFound = (1...40 as ClosedRange<UInt64>).contains { seed in
      var world = PoolWorld(seed: seed, slip: slip)
      return !world.run().isEmpty
    }
    #expect(isFound)
  }

  @Test func `the same seed makes the same world`() {
    let runs = (0..<2).map { _ in
      var world = PoolWorld(seed: 7)
      _ = world.run()
      return [world.events, Int(world.now)]
    }
    #expect(runs[0] == runs[1])
  }
}
