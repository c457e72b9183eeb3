// SPDX-License-Identifier: Apache-2.0
internal import CoreMetrics

/// Counts the outcomes of lookups, and what happens in the cache.
///
/// Nothing is counted unless somebody collects: a cached lookup takes only some 0.1 µs.
struct ResolverTelemetry: Sendable {
  let isCollected: Bool
  private let source: MetricSource
  /// Created early for the hot path, in the order of the cases.
  private let hits: [Counter]
  private let size: CacheSize

  init(_ source: MetricSource = MetricSource()) {
    self.source = source
    isCollected = source.isCollected
    hits = Resolution.Freshness.allCases.map { source.counter(.lookups, $0.rawValue, Self.answered) }
    size = CacheSize(source)
    // Created early as well: an alert on the rate of a series does not see one that begins with 1.
    for code in [DirectDNSError.Code.upstreamFailed, .timedOut] {
      source.count(.lookups, Self.uncached, code.description, by: 0)
    }
  }

  /// The label in place of a freshness, for lookups that the cache did not answer.
  private static let uncached = "none"
  static let answered = "answered"

  /// The label of a failed lookup's outcome.
  static func outcome(_ error: DirectDNSError) -> String { error.code.description }

  /// A lookup was answered from the cache.
  func hit(_ freshness: Resolution.Freshness) {
    guard let index = Resolution.Freshness.allCases.firstIndex(of: freshness) else { return }
    hits[index].increment()
  }

  /// A lookup found a negative answer in the cache.
  func hit(_ error: DirectDNSError) { source.count(.lookups, Resolution.Freshness.fresh.rawValue, Self.outcome(error)) }

  /// A lookup that may not wait found nothing.
  func missed() { source.count(.lookups, Self.uncached, "missed") }

  /// A lookup that had to wait ended.
  func waited(_ result: Result<Resolution, DirectDNSError>, _ duration: Duration) {
    let outcome: String
    switch result {
    case .success(let resolution):
      outcome = Self.answered
      // After a wait, an answer within its lifetime is one that was asked for.
      let isOld = resolution.freshness > .due
      source.count(.lookups, isOld ? resolution.freshness.rawValue : Self.uncached, outcome)
    case .failure(let error):
      outcome = Self.outcome(error)
      source.count(.lookups, Self.uncached, outcome)
    }
    source.record(.lookupTime, outcome, duration: duration)
  }

  /// What begins a refresh.
  enum RefreshKind: String {
    /// A lookup that was answered with an answer that is not fresh.
    case behind
    /// A name that is kept alive.
    case ahead
  }

  func refreshed(_ kind: RefreshKind) { source.count(.refreshes, kind.rawValue) }

  func evicted(_ count: Int) { if count > 0 { source.count(.evictions, by: count) } }

  /// The cache holds that many names now.
  func holds(_ count: @autoclosure () -> Int) { if isCollected { size.change(to: count()) } }
}

/// One cache's part of the gauge of cached names, which all resolvers of a process share.
private final class CacheSize: Sendable {
  private let meter: Meter
  private let counted = Locked(0)

  init(_ source: MetricSource) { meter = source.meter(.cachedNames) }

  deinit { change(to: 0) }

  func change(to count: Int) {
    let growth = count - counted.withLock { exchange(&$0, with: count) }
    if growth > 0 { meter.increment(by: Double(growth)) }
    if growth < 0 { meter.decrement(by: Double(-growth)) }
  }
}
