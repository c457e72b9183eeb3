// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import FoundationEssentials

/// The machine's own clock, which a fake server uses by default for `Date:` and to check signatures.
struct WallClock: ResolverClock {
  var now: ResolverInstant {
    let since = ContinuousClock.now - Self.origin
    return ResolverInstant(nanoseconds: 0) + since
  }

  var secondsSince1970: Int64 { Int64(Date().timeIntervalSince1970) }

  private static let origin = ContinuousClock.now

  func sleep(until instant: ResolverInstant) async throws {
    try await Task.sleep(for: instant - now)
  }
}
