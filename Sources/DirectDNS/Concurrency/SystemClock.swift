// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSClock

/// The machine's steady clock, which does not stop while the machine is suspended, since answers age meanwhile.
public struct SystemClock: ResolverClock {
  /// Creates the clock.
  public init() {}

  /// The present instant, by CLOCK_BOOTTIME; by CLOCK_MONOTONIC on macOS, which is the same.
  public var now: ResolverInstant { ResolverInstant(nanoseconds: directdns_elapsed()) }

  /// The present instant, which may be up to 4 ms late, at a cost of 10 ns instead of 25 ns.
  ///
  /// After a suspension of the machine, it takes up to 50 ms until this clock has caught up.
  public var coarseNow: ResolverInstant {
    let awake = directdns_awake_coarse()
    let suspended = Self.suspension.total(at: awake, elapsed: directdns_elapsed, awake: directdns_awake)
    return ResolverInstant(nanoseconds: awake + suspended)
  }

  private static let suspension = Suspension()

  /// Wall-clock seconds since 1970.
  public var secondsSince1970: Int64 { directdns_wall_milliseconds() / 1000 }

  /// The wall clock, by CLOCK_REALTIME.
  public var wallNow: WallInstant { WallInstant(milliseconds: directdns_wall_milliseconds()) }

  /// Waits until an instant.
  public func sleep(until instant: ResolverInstant) async throws {
    try await Task.sleep(for: instant - now)
  }
}
