// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import DirectDNS

/// The lookups' machine in made-up worlds.
///
/// `DIRECTDNS_SEEDS=N` says how many, `DIRECTDNS_SEED=S` runs one alone, the one that a failure names, and prints what
/// happens.
struct LookupSimulationTests {
  private static let seeds: [UInt64] = {
    let environment = ProcessInfo.processInfo.environment
    if let one = environment["DIRECTDNS_SEED"].flatMap({ UInt64($0) }) { return [one] }
    let count = environment["DIRECTDNS_SEEDS"].flatMap { Int($0) } ?? 300
    return (0..<count).map { UInt64($0) }
  }()

  @Test func `in every world each caller is answered once and in time, and nothing is left`() throws {
    var (answered, queries, evictions, steps) = (0, 0, 0, 0)
    for seed in Self.seeds {
      var world = LookupWorld(seed: seed)
      world.isTold = Self.seeds.count == 1
      do throws(LookupWorld.Fault) { try world.run(seconds: 600) } catch {
        Issue.record("\(error)")
      }
      answered += world.answered
      queries += world.queries
      evictions += world.evictions
      steps += world.steps
    }
    // The same in every process, for the same seeds.
    print(
      "figures: \(Self.seeds.count) worlds of lookups, \(steps) events, \(answered) lookups, \(queries) queries, \(evictions) evictions"
    )
    // A world in which nothing happens would prove nothing; one alone may be a quiet one.
    guard Self.seeds.count > 1 else { return }
    #expect(answered > 50 * Self.seeds.count)
    #expect(queries > 50 * Self.seeds.count)
    #expect(evictions > Self.seeds.count)
  }

  @Test(arguments: LookupWorld.Slip.allCases)
  func `a mistake in carrying out what was decided is found`(_ slip: LookupWorld.Slip) {
    let isFound = (0..<100 as Range<UInt64>).contains { seed in
      var world = LookupWorld(seed: seed, slip: slip)
      do throws(LookupWorld.Fault) { try world.run(seconds: 600) } catch { return true }
      return false
    }
    #expect(isFound)
  }

  @Test func `the same seed makes the same world`() throws {
    var steps: Set<Int> = []
    for _ in 0..<3 {
      var world = LookupWorld(seed: 7)
      try world.run(seconds: 300)
      steps.insert(world.steps)
    }
    #expect(steps.count == 1)
  }
}
