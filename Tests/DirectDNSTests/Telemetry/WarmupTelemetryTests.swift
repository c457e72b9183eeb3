// SPDX-License-Identifier: Apache-2.0
import CoreMetrics
import Testing

@testable import DirectDNS

struct WarmupTelemetryTests {
  @Test func `names are counted by outcome, and the end is told`() {
    let factory = Recording()
    let metrics = WarmupTelemetry(outcomes: ["negative", "failed", "unfinished"], MetricSource(factory))
    for outcome in ["negative", "failed", "failed"] { metrics.count(outcome) }
    metrics.count("unfinished", by: 4)
    metrics.countExpired()
    metrics.ended(milliseconds: 1500, isReady: true, isComplete: false)
    #expect(factory["directdns_warmup_names_total{outcome=negative}"] == 1)
    #expect(factory["directdns_warmup_names_total{outcome=failed}"] == 2)
    #expect(factory["directdns_warmup_names_total{outcome=unfinished}"] == 4)
    #expect(factory["directdns_warmup_expired_total"] == 1)
    #expect(factory["directdns_warmup_duration_seconds"] == 1_500_000_000)
    #expect(factory["directdns_warmup_ready"] == 0.5)
    metrics.ended(milliseconds: 1500, isReady: false, isComplete: false)
    #expect(factory["directdns_warmup_ready"] == 0)
    metrics.ended(milliseconds: 1500, isReady: true, isComplete: true)
    #expect(factory["directdns_warmup_ready"] == 1)
  }
}

/// Sums of counters, and the last value of all else.
private final class Recording: MetricsFactory {
  private let values = Locked<[String: Double]>([:])

  subscript(key: String) -> Double? { values.withLock { $0[key] } }

  private final class Handler: CounterHandler, RecorderHandler, TimerHandler {
    let key: String
    let values: Locked<[String: Double]>

    init(_ key: String, _ values: Locked<[String: Double]>) { (self.key, self.values) = (key, values) }

    func increment(by amount: Int64) { values.withLock { $0[key, default: 0] += Double(amount) } }
    func reset() {}
    func record(_ value: Int64) { values.withLock { $0[key] = Double(value) } }
    func record(_ value: Double) { values.withLock { $0[key] = value } }
    func recordNanoseconds(_ duration: Int64) { values.withLock { $0[key] = Double(duration) } }
  }

  private func handler(_ label: String, _ dimensions: [(String, String)]) -> Handler {
    let labels = dimensions.map { "\($0.0)=\($0.1)" }.joined(separator: ",")
    return Handler(labels.isEmpty ? label : "\(label){\(labels)}", values)
  }

  func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler { handler(label, dimensions) }
  func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
    handler(label, dimensions)
  }
  func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler { handler(label, dimensions) }
  func destroyCounter(_ handler: any CounterHandler) {}
  func destroyRecorder(_ handler: any RecorderHandler) {}
  func destroyTimer(_ handler: any TimerHandler) {}
}
