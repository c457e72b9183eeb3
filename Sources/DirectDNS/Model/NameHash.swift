// SPDX-License-Identifier: Apache-2.0
/// The hash of a name's bytes, seeded once per process.
///
/// Names may come from attackers, so the seed is random: nobody outside can prepare names that fall into one slot. The
/// mixing is that of wyhash (two 64-bit halves of a 128-bit product), eight bytes a step.
enum NameHash {
  static let seed = UInt64.random(in: .min ... .max)

  @inline(__always)
  static func mix(_ a: UInt64, _ b: UInt64) -> UInt64 {
    let product = a.multipliedFullWidth(by: b)
    return product.high ^ product.low
  }

  /// The hash of a name of `count` bytes.
  ///
  /// - Parameters:
  ///   - count: the name's bytes.
  ///   - word: the eight bytes at a position, the first byte lowest; bytes beyond the end are zero.
  /// - Returns: the hash.
  @inline(__always)
  static func hash(_ count: Int, _ word: (_ place: Int) -> UInt64) -> UInt64 {
    var hash = seed ^ UInt64(truncatingIfNeeded: count)
    var place = 0
    while place * 8 < count {
      hash = mix(hash ^ word(place), 0xe703_7ed1_a0b4_28db)
      place += 1
    }
    return mix(hash, 0x5899_65cc_7537_4cc3)
  }

  /// The hash of a name in its canonical form.
  static func hash(_ name: String) -> UInt64 {
    unsafe name.utf8.span.withUnsafeBufferPointer { unsafe NameBytes($0, isFolded: false).hash }
  }
}

/// A name's bytes, eight at a time.
@safe struct NameBytes {
  let start: UnsafeRawPointer?
  let count: Int
  let isFolded: Bool

  /// - Parameters:
  ///   - bytes: the name's text.
  ///   - isFolded: whether upper case is read as lower case and a final dot is left out.
  @inline(__always)
  init(_ bytes: UnsafeBufferPointer<UInt8>, isFolded: Bool) {
    unsafe start = UnsafeRawPointer(bytes.baseAddress)
    self.isFolded = isFolded
    let hasDot = unsafe isFolded && bytes.count > 1 && bytes[bytes.count - 1] == ASCII.dot
    count = bytes.count - (hasDot ? 1 : 0)
  }

  /// The word at a position, its first byte lowest; bytes beyond the end are zero.
  @inline(__always)
  func word(_ place: Int) -> UInt64 {
    guard let start = unsafe start else { return 0 }
    let offset = place * 8
    var word: UInt64
    if offset + 8 <= count {
      word = unsafe UInt64(littleEndian: start.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    } else if count >= 8 {
      // The last eight bytes, shifted down: no byte beyond the name is read.
      word = unsafe UInt64(littleEndian: start.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self))
      word >>= UInt64(offset + 8 - count) * 8
    } else {
      word = 0
      for index in offset..<count {
        word |= unsafe UInt64(start.load(fromByteOffset: index, as: UInt8.self)) << UInt64((index - offset) * 8)
      }
    }
    return isFolded ? Self.lowercased(word) : word
  }

  /// Eight bytes at once: bit 7 of each lane says whether the byte is an upper-case letter, and moves to bit 5.
  @inline(__always)
  private static func lowercased(_ word: UInt64) -> UInt64 {
    let low = word & 0x7f7f_7f7f_7f7f_7f7f
    let aboveZ = low &+ 0x2525_2525_2525_2525  // 0x7f - 'Z'
    let fromA = low &+ 0x3f3f_3f3f_3f3f_3f3f  // 0x80 - 'A'
    let upper = ~word & (fromA ^ aboveZ) & 0x8080_8080_8080_8080
    return word | upper >> 2
  }

  @inline(__always)
  var hash: UInt64 { NameHash.hash(count, word) }
}
