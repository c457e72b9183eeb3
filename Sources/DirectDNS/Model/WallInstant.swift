// SPDX-License-Identifier: Apache-2.0
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
