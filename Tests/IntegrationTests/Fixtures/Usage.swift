// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization

/// What the process uses at a moment, by proc(5), and how long its work took since the moment before.
struct Usage: CustomStringConvertible, Sendable {
  /// Memory, with what the allocator keeps free.
  var resident: Int
  /// Memory in use: what is resident when the allocator has given back what it can.
  ///
  /// What it keeps free grows with chance, by where in between something is still in use.
  var inUse: Int
  var descriptors: Int
  var threads: Int
  var tally = Tally.Times()

  /// Whether the memory is the code's own: a sanitizer keeps books of every byte, and freed memory for a while.
  static let isOurs = ProcessInfo.processInfo.environment["DIRECTDNS_SANITIZER"] == nil

  static var now: Usage { now(Tally.Times()) }

  static func now(_ tally: Tally.Times) -> Usage {
    let resident = residentPages
    trim()
    return Usage(
      resident: resident * 4_096, inUse: residentPages * 4_096, descriptors: count("/proc/self/fd"),
      threads: count("/proc/self/task"), tally: tally)
  }

  private static var residentPages: Int {
    let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ")
    return pages?.dropFirst().first.flatMap { Int($0) } ?? 0
  }

  /// malloc_trim(3), which only glibc has.
  private static func trim() {
    typealias Trim = @convention(c) (Int) -> CInt
    guard let function = unsafe dlsym(nil, "malloc_trim") else { return }
    _ = unsafe unsafeBitCast(function, to: Trim.self)(0)
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
    "\(inUse >> 10) KB in use (\(resident >> 10) KB resident), \(descriptors) descriptors, \(threads) threads"
  }
}

extension [Usage] {
  /// The median of each figure over some of the samples.
  func median(of range: Range<Int>) -> Usage {
    let some = range.isEmpty ? self : Array(self[range])
    func middle(_ figure: (Usage) -> Int) -> Int { some.map(figure).sorted()[some.count / 2] }
    return Usage(
      resident: middle(\.resident), inUse: middle(\.inUse), descriptors: middle(\.descriptors),
      threads: middle(\.threads))
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
  /// What was collected in a while.
  struct Times: CustomStringConvertible, Sendable {
    var resolving = Spread()
    var requesting = Spread()
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
  ///
  /// It counts in buckets: an hour's times one by one would be memory that comes and goes, and what is measured is memory.
  struct Spread: CustomStringConvertible, Sendable {
    private(set) var count = 0
    private var longest = Duration.zero
    /// Eight for each doubling, beginning at a microsecond: a figure is a tenth too large at most.
    private var buckets = [Int](repeating: 0, count: 8 * 28)

    mutating func add(_ time: Duration) {
      count += 1
      longest = max(longest, time)
      let place = Int(log2(max(1, time / .microseconds(1))) * 8)
      buckets[min(place, buckets.count - 1)] += 1
    }

    var p99: Duration? { percentile(99) }

    private func percentile(_ percent: Int) -> Duration? {
      var rest = count * percent / 100
      for (place, number) in buckets.enumerated() {
        rest -= number
        if rest < 0 { return min(.microseconds(exp2(Double(place + 1) / 8)), longest) }
      }
      return nil
    }

    static func text(_ time: Duration) -> String {
      (time / .milliseconds(1)).formatted(.number.precision(.significantDigits(3)))
    }

    var description: String {
      guard let middle = percentile(50), let p99 else { return "" }
      return "(p50 \(Self.text(middle)), p99 \(Self.text(p99)), max \(Self.text(longest)) ms)"
    }
  }

  private let collected = Mutex(Times())

  func resolved(_ time: Duration) { collected.withLock { $0.resolving.add(time) } }
  func requested(_ time: Duration) { collected.withLock { $0.requesting.add(time) } }
  func failed(_ what: String) { collected.withLock { $0.failures.append(what) } }

  /// What was collected since the last call.
  func take() -> Times {
    collected.withLock { times in
      defer { times = Times() }
      return times
    }
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
