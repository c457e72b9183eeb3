// SPDX-License-Identifier: Apache-2.0
import CoreMetrics
import DirectDNS
import Foundation
import Testing

@testable import DirectDNSPrometheus

struct PrometheusRegistryTests {
  private let registry = PrometheusRegistry()

  /// The lines of a metric, those of its samples and those about it.
  private func lines(_ name: String, in registry: PrometheusRegistry? = nil) -> [String] {
    (registry ?? self.registry).text().split(separator: "\n").map(String.init).filter { $0.contains(name) }
  }

  @Test func `a counter is one line, with its type and, where it is known, its meaning`() {
    let registry = PrometheusRegistry(PrometheusConfiguration(help: ["cats_total": "Cats seen.\nAll \\ of them."]))
    let counter = Counter(label: "cats_total", factory: registry)
    counter.increment()
    counter.increment(by: 2)
    counter.increment(by: -5)
    #expect(
      lines("cats_total", in: registry) == [
        #"# HELP cats_total Cats seen.\nAll \\ of them."#, "# TYPE cats_total counter", "cats_total 3",
      ])
    counter.reset()
    #expect(lines("cats_total", in: registry).last == "cats_total 0")
  }

  @Test func `the meaning of DirectDNS's own metrics is known`() {
    Counter(label: "directdns_cache_evictions_total", factory: registry).increment()
    #expect(
      lines("evictions").first == "# HELP directdns_cache_evictions_total Names that had to leave the full cache.")
  }

  @Test(arguments: [
    ([("b", "2"), ("a", "1")], #"x{a="1",b="2"} 1"#),
    ([("text", "a\"b\\c\nd")], #"x{text="a\"b\\c\nd"} 1"#),
    ([("grün", "ü")], #"x{gr_n="ü"} 1"#),
    ([("9lives", "")], #"x{_9lives=""} 1"#),
    ([("__name__", "y")], #"x{label___name__="y"} 1"#),
    ([("le", "5")], #"x{label_le="5"} 1"#),
    ([("a.b", "first"), ("a_b", "second")], #"x{a_b="first"} 1"#),
    ([("", "e")], #"x{_="e"} 1"#),
  ])
  func `labels stand in order, escaped, with names that Prometheus takes`(_ labels: [(String, String)], _ line: String)
  {
    Counter(label: "x", dimensions: labels, factory: registry).increment()
    #expect(lines("x").contains(line))
  }

  @Test(arguments: [("http.requests", "http_requests"), ("9x", "_9x"), ("a:b", "a:b"), ("", "_"), ("é", "_")])
  func `names become such as Prometheus takes, in what is said of them as well`(_ name: String, _ written: String) {
    for known in [name, written] {
      let registry = PrometheusRegistry(PrometheusConfiguration(help: [known: "Meaning."]))
      Counter(label: name, factory: registry).increment()
      let text = "# HELP \(written) Meaning.\n# TYPE \(written) counter\n\(written) 1\n"
      #expect(registry.text().contains(text))
    }
  }

  @Test func `labels in another order are the same series`() {
    Counter(label: "x_total", dimensions: [("a", "1"), ("b", "2")], factory: registry).increment()
    Counter(label: "x_total", dimensions: [("b", "2"), ("a", "1")], factory: registry).increment()
    #expect(lines("x_total{") == [#"x_total{a="1",b="2"} 2"#])
  }

  @Test func `a timer is a histogram of seconds`() {
    let registry = PrometheusRegistry(PrometheusConfiguration(timeBuckets: [1, 0.1, .nan, .infinity, 0.1]))
    let timer = Timer(label: "t_seconds", dimensions: [("p", "q")], factory: registry)
    timer.recordMilliseconds(50)
    timer.recordMilliseconds(100)
    timer.recordSeconds(2)
    #expect(
      lines("t_seconds", in: registry) == [
        "# TYPE t_seconds histogram", #"t_seconds_bucket{p="q",le="0.1"} 2"#, #"t_seconds_bucket{p="q",le="1"} 2"#,
        #"t_seconds_bucket{p="q",le="+Inf"} 3"#, #"t_seconds_sum{p="q"} 2.15"#, #"t_seconds_count{p="q"} 3"#,
      ])
  }

  @Test func `a recorder is a histogram if it aggregates, and a gauge if not; what is no number is left out`() {
    let recorder = Recorder(label: "sizes", factory: registry)
    recorder.record(7)
    recorder.record(Double.nan)
    #expect(lines("sizes_bucket").first == #"sizes_bucket{le="1"} 0"#)
    #expect(lines("sizes_sum") == ["sizes_sum 7"])
    Gauge(label: "level", factory: registry).record(-1.5)
    #expect(lines("level") == ["# TYPE level gauge", "level -1.5"])
  }

  @Test func `a meter goes up and down`() {
    let meter = Meter(label: "level", factory: registry)
    meter.set(10)
    meter.increment(by: 0.5)
    meter.decrement()
    #expect(lines("level").last == "level 9.5")
    meter.set(Double.infinity)
    #expect(lines("level").last == "level +Inf")
  }

  @Test func `beyond the limit no series is made, and each refusal is counted`() {
    let registry = PrometheusRegistry(PrometheusConfiguration(seriesLimit: 2))
    for number in 0..<5 {
      Counter(label: "x_total", dimensions: [("n", "\(number)")], factory: registry).increment()
    }
    Counter(label: "x_total", dimensions: [("n", "1")], factory: registry).increment()
    #expect(lines("x_total{", in: registry) == [#"x_total{n="0"} 1"#, #"x_total{n="1"} 2"#])
    #expect(registry.text().hasSuffix("\ndirectdns_metrics_refused_series_total 3\n"))
  }

  @Test func `one name has one type, and a histogram's own names are taken`() {
    Counter(label: "a", factory: registry).increment()
    Gauge(label: "a", factory: registry).record(5)
    Timer(label: "b", factory: registry).recordSeconds(1)
    Counter(label: "b_count", factory: registry).increment()
    Counter(label: "c_sum", factory: registry).increment()
    Timer(label: "c", factory: registry).recordSeconds(1)
    Counter(label: "directdns_metrics_refused_series_total", factory: registry).increment()
    #expect(lines("# TYPE a ") == ["# TYPE a counter"])
    #expect(!registry.text().contains("TYPE b_count") && !registry.text().contains("TYPE c histogram"))
    #expect(registry.text().hasSuffix("refused_series_total 4\n"))
  }

  @Test func `a series that is destroyed is gone, and makes room`() {
    let registry = PrometheusRegistry(PrometheusConfiguration(seriesLimit: 1))
    let counter = Counter(label: "a_total", factory: registry)
    counter.increment()
    counter.destroy()
    #expect(lines("a_total", in: registry) == [])
    Timer(label: "b", factory: registry).recordSeconds(1)
    #expect(lines("b_count", in: registry) == ["b_count 1"])
  }

  @Test func `the name of a series that is destroyed may be another type's, when the last one is gone`() {
    let counters = ["1", "2"].map { Counter(label: "a", dimensions: [("n", $0)], factory: registry) }
    counters[0].destroy()
    Gauge(label: "a", factory: registry).record(5)
    #expect(lines("# TYPE a ") == ["# TYPE a counter"])
    counters[1].destroy()
    Gauge(label: "a", factory: registry).record(5)
    #expect(lines("a 5") == ["a 5"])
    Timer(label: "b", factory: registry).destroy()
    Counter(label: "b_count", factory: registry).increment()
    Timer(label: "b", factory: registry).recordSeconds(1)
    #expect(lines("b_count") == ["# TYPE b_count counter", "b_count 1"])
  }

  @Test func `values without an end are in their buckets, and leave the sum a number`() {
    let recorder = Recorder(label: "sizes", factory: registry)
    for value: Double in [.infinity, -.infinity, 5] { recorder.record(value) }
    #expect(lines("sizes_bucket").first == #"sizes_bucket{le="1"} 1"#)
    #expect(lines("sizes_sum") == ["sizes_sum 5"] && lines("sizes_count") == ["sizes_count 3"])
    for _ in 0..<3 { recorder.record(Double.greatestFiniteMagnitude) }
    #expect(lines("sizes_sum") == ["sizes_sum \(Double.greatestFiniteMagnitude)"])
    let meter = Meter(label: "level", factory: registry)
    for step: Double in [.infinity, -.infinity, .nan, 2] { meter.increment(by: step) }
    #expect(lines("level").last == "level 2")
    meter.set(Double.infinity)
    meter.increment(by: 1)
    #expect(lines("level").last == "level +Inf")
  }

  @Test func `a counter that has come to its end stays there`() {
    let counter = Counter(label: "n_total", factory: registry)
    for amount in [Int64.max, 1, .max, .max] { counter.increment(by: amount) }
    #expect(lines("n_total").last == "n_total \(Int64.max)")
    counter.reset()
    counter.increment()
    #expect(lines("n_total").last == "n_total 1")
  }

  @Test func `threads lose nothing`() async {
    let counter = Counter(label: "n_total", factory: registry)
    let timer = Timer(label: "t", factory: registry)
    await withDiscardingTaskGroup { group in
      for _ in 0..<8 {
        group.addTask {
          for _ in 0..<1000 {
            counter.increment()
            timer.recordNanoseconds(1_000_000_000)
          }
        }
      }
    }
    #expect(lines("n_total").last == "n_total 8000")
    #expect(lines("t_sum") == ["t_sum 8000"] && lines("t_count") == ["t_count 8000"])
  }

  @Test(.enabled(if: Tool.promtool != nil, "needs promtool, of Debian's package prometheus"))
  func `promtool finds nothing to say against it`() throws {
    let tool = try #require(Tool.promtool)
    for metric in MetricDescription.all {
      let labels = metric.labels.map { ($0, "a \"b\" \\ \n c") }
      switch metric.kind {
      case .counter: Counter(label: metric.name, dimensions: labels, factory: registry).increment()
      case .gauge: Meter(label: metric.name, dimensions: labels, factory: registry).set(1.5)
      case .timer: Timer(label: metric.name, dimensions: labels, factory: registry).recordMilliseconds(3)
      }
    }
    let (status, said) = try Tool.run(tool, ["check", "metrics"], input: registry.text())
    #expect(status == 0 && said == "", "\(said)")
  }
}

/// Programs that tests are held against.
enum Tool {
  static let promtool = find("promtool")
  static let curl = find("curl")

  private static func find(_ name: String) -> String? {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":") + ["/usr/bin"]
    return folders.map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  /// Runs a program to its end.
  static func run(_ path: String, _ arguments: [String], input: String = "") throws -> (status: Int32, said: String) {
    let process = Process()
    process.executableURL = URL(filePath: path)
    process.arguments = arguments
    let (into, out) = (Pipe(), Pipe())
    process.standardInput = into
    process.standardOutput = out
    process.standardError = out
    try process.run()
    try into.fileHandleForWriting.write(contentsOf: Data(input.utf8))
    try into.fileHandleForWriting.close()
    let said = try out.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: said, as: UTF8.self))
  }
}
