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

  /// The time between two instants.
  public static func - (left: Self, right: Self) -> Duration {
    .nanoseconds(left.nanoseconds &- right.nanoseconds)
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
  var wholeNanoseconds: Int64 { Int64(clamping: attoseconds / 1_000_000_000) }

  /// The duration in whole milliseconds, rounded up.
  var wholeMilliseconds: Int64 {
    let (milliseconds, rest) = wholeNanoseconds.quotientAndRemainder(dividingBy: 1_000_000)
    return rest > 0 ? milliseconds + 1 : milliseconds
  }
}
