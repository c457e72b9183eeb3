// SPDX-License-Identifier: Apache-2.0
import CoreMetrics
import DirectDNSTesting
import Foundation
import HTTPTypes
import Testing

@testable import DirectDNS

/// The table in the article is what the library registers, neither more nor less.
@Suite(.timeLimit(.minutes(1)))
struct MetricTableTests {
  /// A row of the table.
  private struct Row {
    var name: String
    var kind: String
    /// The values of each label, where they are listed; any value where they are not.
    var labels: [(name: String, values: Set<String>?)]
    var meaning: String
  }

  private static func rows() throws -> [Row] {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let text = try String(
      contentsOf: root.appending(path: "Sources/DirectDNS/DirectDNS.docc/Operating.md"), encoding: .utf8)
    return text.split(separator: "\n").filter { $0.hasPrefix("| `directdns_") }.map { line in
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      let labels = cells[2].split(separator: ";").map { label in
        let parts = label.split(separator: ":", maxSplits: 1)
        let listed = parts.last.map { $0.split(separator: "`").enumerated().filter { $0.offset % 2 == 1 } } ?? []
        let isListed = parts.count == 2 && !parts[1].contains("code") && !listed.isEmpty
        return (
          name: parts[0].trimmingCharacters(in: CharacterSet(charactersIn: " `")),
          values: isListed ? Set(listed.map { String($0.element) }) : nil
        )
      }
      return Row(
        name: cells[0].trimmingCharacters(in: CharacterSet(charactersIn: "`")), kind: cells[1], labels: labels,
        meaning: cells[3])
    }
  }

  @Test func `the table has every metric, with its type, its labels and its meaning`() throws {
    let rows = try Self.rows()
    #expect(rows.map(\.name) == MetricDescription.all.map(\.name))
    for (row, metric) in zip(rows, MetricDescription.all) {
      #expect(row.kind == metric.kind.rawValue, "\(row.name)")
      #expect(row.labels.map(\.name) == metric.labels, "\(row.name)")
      #expect(row.meaning == metric.meaning, "\(row.name)")
    }
  }

  @Test(arguments: MetricDescription.all) func `names follow Prometheus's conventions`(_ metric: MetricDescription) {
    #expect(metric.name.hasPrefix("directdns_"))
    #expect(metric.name.hasSuffix("_total") == (metric.kind == .counter))
    #expect(metric.name.hasSuffix("_seconds") == (metric.kind == .timer))
    #expect(metric.meaning.hasSuffix("."))
  }

  @Test func `what the library registers stands in the table, and what stands there it registers`() async throws {
    let metrics = RecordingMetrics()
    try await withMetricsFactory(metrics) {
      try await useResolver()
      try await useStore()
      try await useClient()
      useWarmup()
    }
    let rows = Dictionary(uniqueKeysWithValues: try Self.rows().map { ($0.name, $0) })
    for series in metrics.series where series.name.hasPrefix("directdns_") {
      let row = try #require(rows[series.name], "\(series.name) is not in the table")
      #expect(row.kind == series.kind.rawValue, "\(series.text)")
      let labels = series.labels.map { $0.split(separator: "=", maxSplits: 1).map(String.init) }
      #expect(labels.map { $0[0] } == row.labels.map(\.name), "\(series.text)")
      for (label, told) in zip(labels, row.labels) {
        if let values = told.values { #expect(values.contains(label[1]), "\(series.text)") }
        #expect(!label[1].contains("."), "a host's name is no label: \(series.text)")
      }
    }
    #expect(Set(rows.keys).subtracting(metrics.series.map(\.name)) == [], "in the table, and not registered")
  }

  // MARK: Using it

  private func useResolver() async throws {
    let fixture = try ResolverFixture("one", "two") {
      $0.capacity = 1
      $0.providers[0].rateLimit = RateLimit(perSecond: 1, burst: 1)
      $0.providers[1].rateLimit = RateLimit(perSecond: 1, burst: 1)
    }
    for name in ["a.example", "b.example"] { try await fixture.learn(host: Sample.name(name)) }
    // Both rates are used up.
    let waiting = fixture.begin(Sample.name("c.example"))
    await fixture.clock.waitForSleepers(1)
    fixture.clock.advance(by: .seconds(1))
    _ = await waiting.value

    let hedging = try ResolverFixture("one", "two")
    try await hedging.learn()
    hedging.transport.reply { sent in
      .answer(.addresses("192.0.2.1", ttl: 60), after: sent.provider == "one" ? .seconds(2) : .zero)
    }
    let slow = hedging.begin(Sample.name("slow.example"))
    // The reply, and the time after which another one is asked.
    await hedging.clock.waitForSleepers(2)
    hedging.clock.advance(by: .milliseconds(200))
    _ = await slow.value
    hedging.transport.answer { _ in .answer(.addresses("192.0.2.1", ttl: 60)) }
    hedging.clock.advance(by: .seconds(90))
    _ = await hedging.outcome()
    let count = hedging.transport.count
    hedging.resolver.keepAlive([ResolverFixture.host])
    hedging.clock.advance(by: .seconds(52))
    await hedging.transport.waitForSent(count + 1)
    await hedging.settle()
    hedging.transport.answer { _ in .answer(.negative(.noAddress, ttl: nil)) }
    _ = await hedging.failure(Sample.name("empty.example"))
  }

  private func useStore() async throws {
    let clock = ManualClock()
    let store = ScriptedStore(clock: clock)
    let fixture = try ResolverFixture(clock: clock) { $0.store = store }
    try await fixture.learn()
    store.fail()
    _ = await fixture.outcome(Sample.name("other.example"))
    let report = StoreTelemetry(name: "memory", observer: nil)
    report.note(.dropped(answers: 1))
    report.read(isHit: true)
    for turn in [LeaseTurn.taken, .awaited, .late, .unavailable] { report.turn(turn) }
  }

  private func useWarmup() {
    let metrics = WarmupTelemetry(outcomes: WarmupOutcome.Kind.allCases.map(\.rawValue))
    metrics.count(WarmupOutcome.Kind.negative.rawValue)
    metrics.ended(milliseconds: 1, isReady: true, isComplete: false)
    // By DirectDNSConfiguration, whose tests look at what it counts.
    MetricSource().count(.configurationReads, "applied")
  }

  private func useClient() async throws {
    let origin = try await FakeOrigin.start()
    var resolving = ResolverConfiguration()
    resolving.localZones.pins[try HostName("shop.test")] = [.ipv4(0x7F00_0001)]
    let client = try DirectClient(DirectClientConfiguration(), resolver: DirectResolver(resolving))
    await #expect(throws: DirectDNSError.self) {
      try await client.execute(ClientSample.get(origin.url("/", host: "shop.test")))
    }
    await client.shutdown()
    var configuration = DirectClientConfiguration()
    configuration.policy = .any
    let bold = try DirectClient(configuration, resolver: DirectResolver(resolving))
    for _ in 0..<2 { _ = try await bold.execute(ClientSample.get(origin.url("/", host: "shop.test"))).body.text() }
    await #expect(throws: DirectDNSError.self) { try await bold.execute(ClientSample.get("http://shop.test:1/")) }
    for reason in [ClientTelemetry.Retry.refused, .connectionLost, .expectation] { bold.telemetry.retries(reason) }
    await bold.shutdown()
    await origin.stop()
  }
}
