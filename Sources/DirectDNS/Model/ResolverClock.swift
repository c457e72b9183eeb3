// SPDX-License-Identifier: Apache-2.0
/// An instant on a resolver's own clock: monotonic, in nanoseconds since an origin of its own.
public struct ResolverInstant: Hashable, Comparable, Sendable {
  /// Nanoseconds since the clock's origin.
  public var nanoseconds: Int64

  /// Creates an instant.
  public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// The earlier one is the smaller one.
  @inline(__always)
  public static func < (left: Self, right: Self) -> Bool { left.nanoseconds < right.nanoseconds }

  /// The instant that much later; it saturates.
  public static func + (instant: Self, duration: Duration) -> Self {
    let (sum, overflow) = instant.nanoseconds.addingReportingOverflow(duration.wholeNanoseconds)
    return Self(nanoseconds: overflow ? (duration < .zero ? .min : .max) : sum)
  }

  /// The instant that much earlier; it saturates.
  public static func - (instant: Self, duration: Duration) -> Self {
    let (rest, overflow) = instant.nanoseconds.subtractingReportingOverflow(duration.wholeNanoseconds)
    return Self(nanoseconds: overflow ? (duration < .zero ? .max : .min) : rest)
  }

  /// The time between two instants, at most 292 years.
  public static func - (left: Self, right: Self) -> Duration {
    let (rest, overflow) = left.nanoseconds.subtractingReportingOverflow(right.nanoseconds)
    return .nanoseconds(overflow ? (left < right ? .min : .max) : rest)
  }
}

/// Where a resolver gets its time from.
///
/// Tests pass one that they move themselves.
public protocol ResolverClock: Sendable {
  /// The present instant. It never goes back.
  var now: ResolverInstant { get }

  /// The present instant, a few milliseconds behind at most, for cached lookups, which need it cheap.
  var coarseNow: ResolverInstant { get }

  /// Wall-clock seconds since 1970, for signatures that carry the time.
  var secondsSince1970: Int64 { get }

  /// The wall clock, for answers that are kept beyond the process.
  var wallNow: WallInstant { get }

  /// Waits until an instant.
  ///
  /// - Throws: `CancellationError` when the task is cancelled.
  func sleep(until instant: ResolverInstant) async throws
}

extension ResolverClock {
  /// The same as ``now``.
  public var coarseNow: ResolverInstant { now }

  /// ``secondsSince1970``, without fractions of a second.
  public var wallNow: WallInstant {
    let (milliseconds, isTooLarge) = secondsSince1970.multipliedReportingOverflow(by: 1000)
    return WallInstant(milliseconds: isTooLarge ? (secondsSince1970 < 0 ? .min : .max) : milliseconds)
  }
}

extension Duration {
  /// The duration in nanoseconds, at most 292 years.
  package var wholeNanoseconds: Int64 { Int64(clamping: attoseconds / 1_000_000_000) }

  /// The duration in whole milliseconds, rounded up, at most 292 years.
  package var wholeMilliseconds: Int64 {
    let (milliseconds, rest) = wholeNanoseconds.quotientAndRemainder(dividingBy: 1_000_000)
    return rest > 0 ? milliseconds + 1 : milliseconds
  }

  /// That many nanoseconds, from a calculation with fractions: at most 292 years, and zero for NaN.
  package static func nanoseconds(saturating count: Double) -> Duration {
    guard !count.isNaN else { return .zero }
    // 2^63 is the first number that is too large, and -2^63 the last one that is not too small.
    return .nanoseconds(count >= 0x1p63 ? .max : count <= -0x1p63 ? .min : Int64(count))
  }

  /// The duration doubled that many times, at most `limit`.
  func doubled(_ times: Int, atMost limit: Duration) -> Duration {
    var duration = self
    // In steps: the product of two large factors would overflow, and end the process.
    for _ in 0..<max(0, times) {
      guard duration > .zero, duration < limit else { break }
      duration = duration > limit / 2 ? limit : duration * 2
    }
    return min(duration, limit)
  }
}

/// An instant on the wall clock, which another process can use too, also after a reboot.
///
/// Wall clocks differ between machines and can be set, so code that reads an instant from elsewhere must not rely on it
/// alone.
public struct WallInstant: Hashable, Comparable, Sendable {
  /// Milliseconds since 1970.
  public var milliseconds: Int64

  /// Creates an instant.
  public init(milliseconds: Int64) { self.milliseconds = milliseconds }

  /// The earlier one is the smaller one.
  public static func < (left: Self, right: Self) -> Bool { left.milliseconds < right.milliseconds }

  /// The instant that much later; it saturates.
  public static func + (instant: Self, duration: Duration) -> Self {
    let (sum, overflow) = instant.milliseconds.addingReportingOverflow(duration.milliseconds)
    return Self(milliseconds: overflow ? (duration < .zero ? .min : .max) : sum)
  }

  /// The instant that much earlier; it saturates.
  public static func - (instant: Self, duration: Duration) -> Self {
    let (rest, overflow) = instant.milliseconds.subtractingReportingOverflow(duration.milliseconds)
    return Self(milliseconds: overflow ? (duration < .zero ? .max : .min) : rest)
  }

  /// The time between two instants, at most 292 million years.
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
