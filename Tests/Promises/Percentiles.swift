// SPDX-License-Identifier: Apache-2.0

/// Times, all of them kept.
struct Percentiles: Sendable {
  private var microseconds: [Double] = []

  var count: Int { microseconds.count }

  mutating func add(_ time: Duration) { microseconds.append(time / .microseconds(1)) }
  mutating func add(_ other: Percentiles) { microseconds += other.microseconds }
  mutating func removeLast() { microseconds.removeLast() }

  /// ` NAME_p50=… NAME_p99=… NAME_p999=… NAME_max=…`, in microseconds.
  func text(_ name: String) -> String {
    let sorted = microseconds.sorted()
    guard let most = sorted.last else { return " \(name)_count=0" }
    let parts = [("p50", 0.5), ("p99", 0.99), ("p999", 0.999)].map { label, share in
      " \(name)_\(label)=\(Int(sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]))"
    }
    return " \(name)_count=\(count)" + parts.joined() + " \(name)_max=\(Int(most))"
  }
}
