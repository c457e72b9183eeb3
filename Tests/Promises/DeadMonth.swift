// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSTesting

/// A month in which no provider answers, and names are looked up and sent to in every minute of it.
///
/// Expired answers serve for 24 hours by default; who wants a month says so (`maximumStale`).
enum DeadMonth {
  private static let lookupsAMinute = 4

  static func run(days: Int) async throws {
    let clock = ManualClock()
    let known = try await KnownNames(providers: 2, ttl: 300, clock: clock) {
      $0.cache.maximumStale = .seconds(86_400) * days
    }
    for provider in known.providers { await provider.stop() }
    var (lookups, requests, failed, stale) = (0, 0, 0, 0)
    for _ in 0..<days * 24 * 60 - 10 {
      clock.advance(by: .seconds(60))
      for _ in 0..<lookupsAMinute {
        lookups += 1
        do {
          if try await known.resolver.resolve(known.randomHost).freshness == .stale { stale += 1 }
        } catch {
          failed += 1
          if failed < 4 { print("failed: \(error)") }
        }
      }
      requests += 1
      do {
        if try await known.client.get(known.url(known.randomHost.text)).body.text() != "here" { failed += 1 }
      } catch {
        failed += 1
        if failed < 4 { print("failed: \(error)") }
      }
    }
    print("lookups=\(lookups) requests=\(requests) failed=\(failed) stale=\(stale)")
    await known.stop()
  }
}
