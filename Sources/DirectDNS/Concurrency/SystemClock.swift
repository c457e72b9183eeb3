// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSClock

/// The machine's monotonic clock.
public struct SystemClock: ResolverClock {
  /// Creates the clock.
  public init() {}

  /// The present instant, by CLOCK_MONOTONIC.
  public var now: ResolverInstant { ResolverInstant(nanoseconds: directdns_monotonic()) }

  /// The present instant, up to 4 ms behind, for 10 ns instead of 25 ns.
  public var coarseNow: ResolverInstant { ResolverInstant(nanoseconds: directdns_monotonic_coarse()) }

  /// Wall-clock seconds since 1970.
  public var secondsSince1970: Int64 { directdns_wall_milliseconds() / 1000 }

  /// The wall clock, by CLOCK_REALTIME.
  public var wallNow: WallInstant { WallInstant(milliseconds: directdns_wall_milliseconds()) }

  /// Waits until an instant.
  public func sleep(until instant: ResolverInstant) async throws {
    try await Task.sleep(for: instant - now)
  }
}
