// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

/// How long the machine has been suspended, which the cheap clock of Linux does not count.
///
/// It is measured by two clocks that cost more, and therefore only now and then; in between the last value is used. It
/// is not an object, since threads would share its reference count.
struct Suspension: ~Copyable {
  /// Nanoseconds between two measurements, while the machine is awake.
  static let interval: Int64 = 50_000_000

  private let total = Atomic<Int64>(0)
  private let nextLook = Atomic<Int64>(.min)

  /// All time of suspension in nanoseconds, by the last measurement; it never decreases.
  ///
  /// - Parameters:
  ///   - now: the present, by the clock that stops during a suspension.
  ///   - elapsed: reads the clock that does not stop.
  ///   - awake: reads the clock that stops.
  /// - Returns: the difference between the clocks.
  @inline(__always)
  func total(at now: Int64, elapsed: () -> Int64, awake: () -> Int64) -> Int64 {
    if now >= nextLook.load(ordering: .relaxed) { look(at: now, elapsed, awake) }
    return total.load(ordering: .relaxed)
  }

  @inline(never)
  private func look(at now: Int64, _ elapsed: () -> Int64, _ awake: () -> Int64) {
    // In this order a thread that is interrupted in between measures too little, which the next measurement corrects.
    // After too much, time would go back.
    let before = elapsed()
    total.max(before - awake(), ordering: .relaxed)
    nextLook.store(now + Self.interval, ordering: .relaxed)
  }
}
