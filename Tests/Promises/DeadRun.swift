// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSTesting

/// Real time without any DNS: one provider is gone, one takes connections and is silent, one says 503.
enum DeadRun {
  private static let senders = 32

  struct Tally: Sendable {
    var requests = 0
    var failed = 0
    var stale = 0
    var slowest = Duration.zero
    var firstError = ""
  }

  static func run(seconds: Double) async throws {
    // As short as answers live by default, so that all of them expire at once.
    let known = try await KnownNames(providers: 3, ttl: 10)
    await known.providers[0].stop()
    known.providers[1].isMute = true
    known.providers[1].misbehave(.hang)
    await known.providers[1].closeConnections()
    known.providers[2].misbehave(.status(503))
    let end = ContinuousClock.now + .seconds(seconds)
    let tally = await withTaskGroup(of: Tally.self) { group in
      for _ in 0..<senders { group.addTask { await send(known, until: end) } }
      return await group.reduce(into: Tally()) { sum, each in
        sum.requests += each.requests
        sum.failed += each.failed
        sum.stale += each.stale
        sum.slowest = max(sum.slowest, each.slowest)
        if sum.firstError.isEmpty { sum.firstError = each.firstError }
      }
    }
    if !tally.firstError.isEmpty { print("failed: \(tally.firstError)") }
    print(
      "requests=\(tally.requests) failed=\(tally.failed) stale=\(tally.stale) slowest_ms=\(Int(tally.slowest / .milliseconds(1)))"
    )
    await known.stop()
  }

  private static func send(_ known: KnownNames, until end: ContinuousClock.Instant) async -> Tally {
    var tally = Tally()
    while ContinuousClock.now < end {
      let began = ContinuousClock.now
      tally.requests += 1
      do {
        let response = try await known.client.get(known.url(known.randomHost.text))
        if response.freshness == .stale { tally.stale += 1 }
        if try await response.body.text() != "here" { tally.failed += 1 }
      } catch {
        tally.failed += 1
        tally.firstError = "\(error)"
      }
      tally.slowest = max(tally.slowest, ContinuousClock.now - began)
      // A load that leaves the machine some time for others.
      try? await Task.sleep(for: .milliseconds(20))
    }
    return tally
  }
}
