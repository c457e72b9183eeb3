// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization

/// What the process uses at a moment, by proc(5), and how long its work took since the moment before.
struct Usage: CustomStringConvertible, Sendable {
  var resident: Int
  var descriptors: Int
  var threads: Int
  var tally = Tally.Times()

  /// Whether the memory is the code's own: a sanitizer keeps books of every byte, and freed memory for a while.
  static let isOurs = ProcessInfo.processInfo.environment["DIRECTDNS_SANITIZER"] == nil

  static var now: Usage { now(Tally.Times()) }

  static func now(_ tally: Tally.Times) -> Usage {
    let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ")
    return Usage(
      resident: (pages?.dropFirst().first.flatMap { Int($0) } ?? 0) * 4_096, descriptors: count("/proc/self/fd"),
      threads: count("/proc/self/task"), tally: tally)
  }

  private static func count(_ folder: String) -> Int {
    (try? FileManager.default.contentsOfDirectory(atPath: folder).count) ?? 0
  }

  /// Waits until a condition holds, ten seconds at most: nobody tells when a thread or a descriptor has gone.
  static func settles(_ condition: (Usage) -> Bool) async -> Bool {
    let deadline = ContinuousClock.now + .seconds(10)
    while !condition(now) {
      guard ContinuousClock.now < deadline else { return false }
      try? await Task.sleep(for: .milliseconds(5))
    }
    return true
  }

  var description: String {
    "\(resident >> 10) KB, \(descriptors) descriptors, \(threads) threads"
  }
}

extension [Usage] {
  /// The median of each figure over some of the samples.
  func median(of range: Range<Int>) -> Usage {
    let some = range.isEmpty ? self : Array(self[range])
    func middle(_ figure: (Usage) -> Int) -> Int { some.map(figure).sorted()[some.count / 2] }
    return Usage(resident: middle(\.resident), descriptors: middle(\.descriptors), threads: middle(\.threads))
  }

  /// How long the slowest of a hundred took: the median over some of the samples, so that one bad moment is none.
  func slowest(of range: Range<Int>) -> Tally.Slowest {
    let some = range.isEmpty ? self : Array(self[range])
    func middle(_ figure: (Tally.Times) -> Duration?) -> Duration {
      let times = some.compactMap { figure($0.tally) }.sorted()
      return times.isEmpty ? .zero : times[times.count / 2]
    }
    return Tally.Slowest(resolving: middle(\.resolving.p99), requesting: middle(\.requesting.p99))
  }

  /// The same over the samples' last quarter, or another part.
  func slowest(last part: Int) -> Tally.Slowest { slowest(of: count - Swift.max(1, count / part)..<count) }

  /// The median over the samples' last quarter, or another part.
  func median(last part: Int) -> Usage { median(of: count - Swift.max(1, count / part)..<count) }

  /// A line for each eighth of the run.
  var table: [String] {
    let step = Swift.max(1, count / 8)
    return stride(from: step - 1, to: count, by: step).map { "\(self[$0]), \(self[$0].tally)" }
  }
}

/// Collects how long things took, and what failed that should not.
final class Tally: Sendable {
  /// What was collected in a while: figures alone, since the samples of an hour would be memory that grows.
  struct Times: CustomStringConvertible, Sendable {
    var resolving = Spread([])
    var requesting = Spread([])
    var failures: [String] = []

    var description: String {
      "\(resolving.count) lookups \(resolving), \(requesting.count) requests \(requesting), \(failures.count) failures"
        + (failures.first.map { ", such as \($0)" } ?? "")
    }
  }

  /// The slowest of a hundred lookups, and of a hundred requests.
  struct Slowest: CustomStringConvertible, Sendable {
    let resolving: Duration
    let requesting: Duration

    var description: String { "\(Spread.text(resolving)) ms of lookups and \(Spread.text(requesting)) ms of requests" }
  }

  /// How long things took: the middle, the slowest of a hundred, the slowest of all.
  struct Spread: CustomStringConvertible, Sendable {
    let count: Int
    private let figures: [Duration]

    init(_ times: [Duration]) {
      let sorted = times.sorted()
      count = sorted.count
      figures =
        sorted.isEmpty ? [] : [sorted[sorted.count / 2], sorted[sorted.count * 99 / 100], sorted[sorted.count - 1]]
    }

    var p99: Duration? { figures.isEmpty ? nil : figures[1] }

    static func text(_ time: Duration) -> String {
      (time / .milliseconds(1)).formatted(.number.precision(.significantDigits(3)))
    }

    var description: String {
      guard !figures.isEmpty else { return "" }
      let texts = figures.map(Self.text)
      return "(p50 \(texts[0]), p99 \(texts[1]), max \(texts[2]) ms)"
    }
  }

  private struct Collected {
    var resolving: [Duration] = []
    var requesting: [Duration] = []
    var failures: [String] = []
  }

  private let collected = Mutex(Collected())

  func resolved(_ time: Duration) { collected.withLock { $0.resolving.append(time) } }
  func requested(_ time: Duration) { collected.withLock { $0.requesting.append(time) } }
  func failed(_ what: String) { collected.withLock { $0.failures.append(what) } }

  /// What was collected since the last call.
  func take() -> Times {
    let taken = collected.withLock { collected in
      defer { collected = Collected() }
      return collected
    }
    return Times(
      resolving: Spread(taken.resolving), requesting: Spread(taken.requesting), failures: taken.failures)
  }
}

/// Random numbers that are the same in each run (SplitMix64).
struct SeededNumbers: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
