// SPDX-License-Identifier: Apache-2.0
internal import CoreMetrics
internal import Synchronization

/// One series: a metric under one set of labels.
protocol MetricSeries: AnyObject, Sendable {
  var id: SeriesID { get }

  /// Writes its lines of the text format.
  func write(to text: inout ExpositionText)
}

/// What tells series apart.
struct SeriesID: Sendable, Hashable {
  /// The name of the metric.
  let name: String
  /// The labels in the order of their names, such as `method="GET",outcome="2xx"`.
  let labels: String
}

/// A number that goes up.
final class CounterSeries: MetricSeries, CounterHandler {
  let id: SeriesID
  private let value = Atomic<Int64>(0)

  init(_ id: SeriesID) { self.id = id }

  func increment(by amount: Int64) {
    // Prometheus takes a step back for a restart of the process.
    guard amount > 0 else { return }
    let (before, after) = value.wrappingAdd(amount, ordering: .relaxed)
    if after < before { value.store(.max, ordering: .relaxed) }
  }

  func reset() { value.store(0, ordering: .relaxed) }

  func write(to text: inout ExpositionText) {
    let known = value.load(ordering: .relaxed)
    // Negative is one that has come to its end, before that is written down.
    text.sample(id.name, id.labels, "\(known < 0 ? .max : known)")
  }
}

/// A number that goes up and down.
final class GaugeSeries: MetricSeries, MeterHandler, RecorderHandler {
  let id: SeriesID
  private let value = AtomicDouble()

  init(_ id: SeriesID) { self.id = id }

  func set(_ value: Int64) { self.value.set(Double(value)) }
  func set(_ value: Double) { self.value.set(value) }
  func increment(by amount: Double) { value.add(amount) }
  func decrement(by amount: Double) { value.add(-amount) }
  func record(_ value: Int64) { set(value) }
  func record(_ value: Double) { set(value) }

  func write(to text: inout ExpositionText) { text.sample(id.name, id.labels, ExpositionText.number(value.get())) }
}

/// Values in buckets.
final class HistogramSeries: MetricSeries, TimerHandler, RecorderHandler {
  private final class Bucket: Sendable {
    let count = Atomic<Int>(0)
  }

  let id: SeriesID
  /// The upper ends, rising; one more bucket has none.
  private let bounds: [Double]
  private let buckets: [Bucket]
  private let sum = AtomicDouble()

  init(_ id: SeriesID, bounds: [Double]) {
    self.id = id
    self.bounds = bounds
    buckets = (0...bounds.count).map { _ in Bucket() }
  }

  func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1_000_000_000) }
  func record(_ value: Int64) { record(Double(value)) }

  func record(_ value: Double) {
    // It would be in no bucket.
    guard !value.isNaN else { return }
    let index = bounds.firstIndex { value <= $0 } ?? bounds.count
    buckets[index].count.add(1, ordering: .relaxed)
    sum.add(value)
  }

  func write(to text: inout ExpositionText) {
    var total = 0
    for (index, bucket) in buckets.enumerated() {
      total += bucket.count.load(ordering: .relaxed)
      let bound = index < bounds.count ? bounds[index] : .infinity
      let limit = "le=\"\(ExpositionText.number(bound))\""
      text.sample(id.name + "_bucket", id.labels.isEmpty ? limit : "\(id.labels),\(limit)", "\(total)")
    }
    text.sample(id.name + "_sum", id.labels, ExpositionText.number(sum.get()))
    // Not a counter of its own: the last bucket and the count must be the same.
    text.sample(id.name + "_count", id.labels, "\(total)")
  }
}

/// A `Double` that threads share.
private final class AtomicDouble: Sendable {
  private let bits = Atomic<UInt64>(0)

  func get() -> Double { Double(bitPattern: bits.load(ordering: .relaxed)) }

  func set(_ value: Double) { bits.store(value.bitPattern, ordering: .relaxed) }

  /// Adds a number, up to the largest that there is; one that is none, or has no end, would spoil the sum for good.
  func add(_ amount: Double) {
    guard amount.isFinite else { return }
    var known = bits.load(ordering: .relaxed)
    while true {
      let old = Double(bitPattern: known)
      var sum = old + amount
      if old.isFinite { sum = min(max(sum, -.greatestFiniteMagnitude), .greatestFiniteMagnitude) }
      let next = sum.bitPattern
      let (isDone, now) = bits.weakCompareExchange(expected: known, desired: next, ordering: .relaxed)
      guard !isDone else { return }
      known = now
    }
  }
}
