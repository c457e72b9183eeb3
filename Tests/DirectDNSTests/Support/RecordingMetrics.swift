// SPDX-License-Identifier: Apache-2.0
import CoreMetrics

@testable import DirectDNS

/// Remembers which metrics were made, and counts what they were told.
final class RecordingMetrics: MetricsFactory {
  /// A series.
  struct Series: Hashable {
    var kind: MetricDescription.Kind
    var name: String
    /// Such as `method=GET`.
    var labels: [String]

    var text: String { ([name] + labels).joined(separator: " ") }
  }

  private let values = Locked<[Series: Double]>([:])

  /// What each series came to, by its name and labels: a counter's sum, a gauge's value, a timer's number of values.
  var counts: [String: Double] {
    Dictionary(values.withLock { $0 }.map { ($0.text, $1) }) { first, _ in first }
  }

  var series: Set<Series> { Set(values.withLock { $0 }.keys) }

  private func handler(_ kind: MetricDescription.Kind, _ label: String, _ dimensions: [(String, String)]) -> Handler {
    let series = Series(kind: kind, name: label, labels: dimensions.map { "\($0)=\($1)" })
    values.withLock { $0[series, default: 0] += 0 }
    return Handler(series) { [values] change in values.withLock { change(&$0[series, default: 0]) } }
  }

  func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    handler(.counter, label, dimensions)
  }
  func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
    handler(.gauge, label, dimensions)
  }
  func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
    handler(aggregate ? .timer : .gauge, label, dimensions)
  }
  func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    handler(.timer, label, dimensions)
  }
  func destroyCounter(_ handler: any CounterHandler) {}
  func destroyMeter(_ handler: any MeterHandler) {
    guard let series = (handler as? Handler)?.series else { return }
    _ = values.withLock { $0.removeValue(forKey: series) }
  }
  func destroyRecorder(_ handler: any RecorderHandler) {}
  func destroyTimer(_ handler: any TimerHandler) {}

  private final class Handler: CounterHandler, MeterHandler, RecorderHandler, TimerHandler {
    let series: Series
    private let change: @Sendable ((inout Double) -> Void) -> Void

    init(_ series: Series, _ change: @escaping @Sendable ((inout Double) -> Void) -> Void) {
      self.series = series
      self.change = change
    }

    func increment(by amount: Int64) { change { $0 += Double(amount) } }
    func increment(by amount: Double) { change { $0 += amount } }
    func decrement(by amount: Double) { change { $0 -= amount } }
    func set(_ value: Int64) { change { $0 = Double(value) } }
    func set(_ value: Double) { change { $0 = value } }
    func reset() { change { $0 = 0 } }
    func record(_ value: Int64) { change { $0 += 1 } }
    func record(_ value: Double) { change { $0 += 1 } }
    func recordNanoseconds(_ duration: Int64) { change { $0 += 1 } }
  }
}
