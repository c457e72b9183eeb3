// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

/// For how long the machine was suspended, which Linux's cheap clock does not count.
///
/// Between two looks it is taken to be what it was: a look reads two clocks that cost more. It is no object: threads would
/// share its count of references.
struct Suspension: ~Copyable {
  /// Nanoseconds awake from one look to the next.
  static let interval: Int64 = 50_000_000

  private let total = Atomic<Int64>(0)
  private let nextLook = Atomic<Int64>(.min)

  /// Nanoseconds in all, as the last look found them; it never becomes less.
  ///
  /// - Parameters:
  ///   - now: the present, by the clock that stands still meanwhile.
  ///   - elapsed: reads the clock that counts all time.
  ///   - awake: reads the one that stands still.
  /// - Returns: the time between them.
  @inline(__always)
  func total(at now: Int64, elapsed: () -> Int64, awake: () -> Int64) -> Int64 {
    if now >= nextLook.load(ordering: .relaxed) { look(at: now, elapsed, awake) }
    return total.load(ordering: .relaxed)
  }

  @inline(never)
  private func look(at now: Int64, _ elapsed: () -> Int64, _ awake: () -> Int64) {
    // In this order a thread that has to wait in between finds too little, and the next look makes up for it: time would
    // go back after too much.
    let before = elapsed()
    total.max(before - awake(), ordering: .relaxed)
    nextLook.store(now + Self.interval, ordering: .relaxed)
  }
}
