// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSRedis

/// A member of a fleet under measurement: looks names up at random, at a steady rate.
struct FleetMember {
  var url: String
  var provider: String
  var names: Int
  var seconds: Double
  var rate: Double
  var refreshesAhead: Bool

  func run() async throws {
    let endpoint = ProviderConfiguration(provider: JSONProvider(name: "one", url: try WebURL(provider)))
    var configuration = ResolverConfiguration(providers: [endpoint])
    configuration.usesSystemDNS = false
    configuration.families = .ipv4
    configuration.cache.refreshesAhead = refreshesAhead
    configuration.store = RedisAnswerStore(try RedisStoreConfiguration(url: url))
    let resolver = try DirectResolver(configuration)
    let hosts = try (0..<names).map { try HostName("host-\($0).example.net") }
    let clock = ContinuousClock()
    let begun = clock.now
    var (lookups, failures, stale) = (0, 0, 0)
    var slowest = Duration.zero
    while clock.now - begun < .seconds(seconds), let host = hosts.randomElement() {
      try await clock.sleep(until: begun + .seconds(Double(lookups) / rate))
      let start = clock.now
      do {
        if try await resolver.resolve(host).freshness == .stale { stale += 1 }
      } catch { failures += 1 }
      slowest = max(slowest, clock.now - start)
      lookups += 1
    }
    let unwritten = await resolver.shutdown(flushingWithin: DirectResolver.flushLimit).unwritten
    try FileOutput.say("\(lookups) \(failures) \(stale) \(unwritten) \(Int(slowest / .milliseconds(1)))")
  }
}
