// SPDX-License-Identifier: Apache-2.0
/// A point on a resolver's own time line: monotonic, from an origin of its own, in nanoseconds.
public struct ResolverInstant: Hashable, Comparable, Sendable {
  /// Nanoseconds since the clock's origin.
  public var nanoseconds: Int64

  /// Creates an instant.
  public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// The earlier one is the smaller one.
  @inline(__always)
  public static func < (left: Self, right: Self) -> Bool { left.nanoseconds < right.nanoseconds }

  /// The instant that much later; beyond the end of time it is the end of time.
  public static func + (instant: Self, duration: Duration) -> Self {
    let (sum, overflow) = instant.nanoseconds.addingReportingOverflow(duration.wholeNanoseconds)
    return Self(nanoseconds: overflow ? (duration < .zero ? .min : .max) : sum)
  }

  /// The instant that much earlier; before the beginning of time it is the beginning of time.
  public static func - (instant: Self, duration: Duration) -> Self {
    let (rest, overflow) = instant.nanoseconds.subtractingReportingOverflow(duration.wholeNanoseconds)
    return Self(nanoseconds: overflow ? (duration < .zero ? .max : .min) : rest)
  }

  /// The time between two instants; what is beyond 292 years becomes 292 years.
  public static func - (left: Self, right: Self) -> Duration {
    let (rest, overflow) = left.nanoseconds.subtractingReportingOverflow(right.nanoseconds)
    return .nanoseconds(overflow ? (left < right ? .min : .max) : rest)
  }
}

/// Where a resolver gets its time from.
///
/// Tests hand in one that they move themselves.
public protocol ResolverClock: Sendable {
  /// The present instant. It never goes back.
  var now: ResolverInstant { get }

  /// The present instant, a few milliseconds behind at most, for cached lookups, which want it cheap.
  var coarseNow: ResolverInstant { get }

  /// Wall-clock seconds since 1970, for signatures that carry the time.
  var secondsSince1970: Int64 { get }

  /// The wall clock, for answers that are remembered beyond the process.
  var wallNow: WallInstant { get }

  /// Waits until an instant.
  ///
  /// - Throws: `CancellationError` when the task is cancelled.
  func sleep(until instant: ResolverInstant) async throws
}

extension ResolverClock {
  /// The same as ``now``.
  public var coarseNow: ResolverInstant { now }

  /// ``secondsSince1970``, in which fractions are lost.
  public var wallNow: WallInstant { WallInstant(milliseconds: secondsSince1970 * 1000) }
}

extension Duration {
  /// The duration in nanoseconds; what is beyond 292 years becomes 292 years.
  package var wholeNanoseconds: Int64 { Int64(clamping: attoseconds / 1_000_000_000) }

  /// The duration in whole milliseconds, rounded up; what is beyond 292 years becomes 292 years.
  package var wholeMilliseconds: Int64 {
    let (milliseconds, rest) = wholeNanoseconds.quotientAndRemainder(dividingBy: 1_000_000)
    return rest > 0 ? milliseconds + 1 : milliseconds
  }

  /// So many nanoseconds, of a calculation with fractions: what is beyond 292 years becomes 292 years, and what is no
  /// number nothing.
  package static func nanoseconds(saturating count: Double) -> Duration {
    guard !count.isNaN else { return .zero }
    // 2^63 is the first number that is too large, and -2^63 the last one that is not too small.
    return .nanoseconds(count >= 0x1p63 ? .max : count <= -0x1p63 ? .min : Int64(count))
  }

  /// The duration doubled so many times, at most `limit`.
  func doubled(_ times: Int, atMost limit: Duration) -> Duration {
    var duration = self
    // By steps: the product of two large factors has no room, and would end the process.
    for _ in 0..<max(0, times) {
      guard duration > .zero, duration < limit else { break }
      duration = duration > limit / 2 ? limit : duration * 2
    }
    return min(duration, limit)
  }
}

/// A point in time by the wall clock: what can be told to another process, and to one that starts after a reboot.
///
/// Wall clocks differ between machines and are set, so whatever reads one that was written elsewhere must not rely
/// on it alone.
public struct WallInstant: Hashable, Comparable, Sendable {
  /// Milliseconds since 1970.
  public var milliseconds: Int64

  /// Creates an instant.
  public init(milliseconds: Int64) { self.milliseconds = milliseconds }

  /// The earlier one is the smaller one.
  public static func < (left: Self, right: Self) -> Bool { left.milliseconds < right.milliseconds }

  /// The instant that much later; beyond the end of time it is the end of time.
  public static func + (instant: Self, duration: Duration) -> Self {
    let (sum, overflow) = instant.milliseconds.addingReportingOverflow(duration.milliseconds)
    return Self(milliseconds: overflow ? (duration < .zero ? .min : .max) : sum)
  }

  /// The instant that much earlier; before the beginning of time it is the beginning of time.
  public static func - (instant: Self, duration: Duration) -> Self {
    let (rest, overflow) = instant.milliseconds.subtractingReportingOverflow(duration.milliseconds)
    return Self(milliseconds: overflow ? (duration < .zero ? .max : .min) : rest)
  }

  /// The time between two instants; what is beyond 292 million years becomes 292 million years.
  public static func - (left: Self, right: Self) -> Duration {
    let (rest, overflow) = left.milliseconds.subtractingReportingOverflow(right.milliseconds)
    return .milliseconds(overflow ? (left < right ? .min : .max) : rest)
  }
}

extension Duration {
  /// The duration in whole milliseconds, rounded down.
  fileprivate var milliseconds: Int64 {
    let (milliseconds, rest) = wholeNanoseconds.quotientAndRemainder(dividingBy: 1_000_000)
    return rest < 0 ? milliseconds - 1 : milliseconds
  }
}
