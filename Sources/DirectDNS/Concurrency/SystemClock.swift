// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSClock
internal import Synchronization

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
  ///
  /// A wait that is cancelled leaves nothing behind. A cancelled `Task.sleep` takes up memory until its time has come.
  public func sleep(until instant: ResolverInstant) async throws { try await Self.sleeps.sleep(until: instant) }

  private static let sleeps = SleepQueue(now: { SystemClock().now }) { instant in
    // At most a day: `Task.sleep` ends the process when the sum of the present and the pause has no room.
    try? await Task.sleep(for: min(instant - SystemClock().now, .seconds(86_400)))
  }
}

/// How long the machine has been suspended, which the cheap clock of Linux does not count.
///
/// It is measured by two clocks that cost more, and therefore only now and then; in between the last value is used. It
/// is not an object, since threads would share its reference count.
struct Suspension: ~Copyable {
  /// Nanoseconds between two measurements, while the machine is awake.
  static let interval: Int64 = 50_000_000

  private let total = Atomic<Int64>(0)
  private let nextLook = Atomic<Int64>(.min)

  /// All time of suspension in nanoseconds, by the last measurement; it never decreases.
  ///
  /// - Parameters:
  ///   - now: the present, by the clock that stops during a suspension.
  ///   - elapsed: reads the clock that does not stop.
  ///   - awake: reads the clock that stops.
  /// - Returns: the difference between the clocks.
  @inline(__always)
  func total(at now: Int64, elapsed: () -> Int64, awake: () -> Int64) -> Int64 {
    if now >= nextLook.load(ordering: .relaxed) { look(at: now, elapsed, awake) }
    return total.load(ordering: .relaxed)
  }

  @inline(never)
  private func look(at now: Int64, _ elapsed: () -> Int64, _ awake: () -> Int64) {
    // In this order a thread that is interrupted in between measures too little, which the next measurement corrects.
    // After too much, time would go back.
    let before = elapsed()
    total.max(before - awake(), ordering: .relaxed)
    nextLook.store(now + Self.interval, ordering: .relaxed)
  }
}
