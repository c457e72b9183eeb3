// SPDX-License-Identifier: Apache-2.0
/// The hash of a name's bytes, seeded once per process.
///
/// Names come from attackers, so the seed is drawn at random: nobody outside can prepare names that fall
/// into one slot. The mixing is that of wyhash (two 64-bit halves of a 128-bit product), eight bytes a step.
enum NameHash {
  static let seed = UInt64.random(in: .min ... .max)

  @inline(__always)
  static func mix(_ a: UInt64, _ b: UInt64) -> UInt64 {
    let product = a.multipliedFullWidth(by: b)
    return product.high ^ product.low
  }

  /// Starts the hash of a name of `count` bytes.
  @inline(__always)
  static func begin(_ count: Int) -> UInt64 { seed ^ UInt64(truncatingIfNeeded: count) }

  /// Adds the next eight bytes, the first one lowest; the last step's missing bytes are zero.
  @inline(__always)
  static func step(_ hash: UInt64, _ eight: UInt64) -> UInt64 { mix(hash ^ eight, 0xe703_7ed1_a0b4_28db) }

  @inline(__always)
  static func end(_ hash: UInt64) -> UInt64 { mix(hash, 0x5899_65cc_7537_4cc3) }

  /// The hash of a name in its canonical form.
  static func hash(_ name: String) -> UInt64 {
    let bytes = name.utf8.span
    var hash = begin(bytes.count)
    var index = 0
    while index < bytes.count {
      var eight: UInt64 = 0
      for offset in 0..<min(8, bytes.count - index) {
        eight |= UInt64(bytes[index + offset]) << UInt64(8 * offset)
      }
      hash = step(hash, eight)
      index += 8
    }
    return end(hash)
  }
}
