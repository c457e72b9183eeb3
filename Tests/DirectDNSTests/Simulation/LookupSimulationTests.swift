import Foundation
import Testing

@testable import DirectDNS

/// The lookups' machine in made-up worlds.
///
/// `DIRECTDNS_SEEDS=N` says how many, `DIRECTDNS_SEED=S` runs one alone: the one that a failure names.
struct LookupSimulationTests {
  private static let seeds: [UInt64] = {
    let environment = ProcessInfo.processInfo.environment
    if let one = environment["DIRECTDNS_SEED"].flatMap({ UInt64($0) }) { return [one] }
    let count = environment["DIRECTDNS_SEEDS"].flatMap { Int($0) } ?? 300
    return (0..<count).map { UInt64($0) }
  }()

  @Test func `in every world each caller is answered once and in time, and nothing is left`() throws {
    var (answered, queries, steps) = (0, 0, 0)
    for seed in Self.seeds {
      var simulation = LookupSimulation(seed: seed)
      do throws(LookupSimulation.Fault) { try simulation.run(seconds: 600) } catch {
        Issue.record("\(error)")
      }
      answered += simulation.answered
      queries += simulation.queries
      steps += simulation.steps
    }
    // The same in every process, for the same seeds.
    print("\(Self.seeds.count) worlds: \(steps) events, \(answered) lookups, \(queries) queries")
    // A world in which nothing happens would prove nothing.
    #expect(answered > 50 * Self.seeds.count)
    #expect(queries > 50 * Self.seeds.count)
  }

  @Test func `the same seed makes the same world`() throws {
    var steps: Set<Int> = []
    for _ in 0..<3 {
      var simulation = LookupSimulation(seed: 7)
      try simulation.run(seconds: 300)
      steps.insert(simulation.steps)
    }
    #expect(steps.count == 1)
  }
}
