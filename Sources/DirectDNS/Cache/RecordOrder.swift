// SPDX-License-Identifier: Apache-2.0
/// How a record's addresses are used: those that are equally good take turns, until that changes.
struct RecordOrder: Sendable, Hashable {
  var equals4: Int
  var equals6: Int
  /// When an address is forgiven, and the order has to be made anew.
  var changesAt: ResolverInstant?
  /// ``AddressRanking/revision(of:)`` when the order was made.
  var revision: UInt32

  /// A record's word of it.
  struct Bits: Sendable, Hashable {
    let bits: UInt64

    @inline(__always)
    init(_ bits: UInt64) { self.bits = bits }

    init(_ order: RecordOrder) {
      // The instant's last 16 µs make room: the order is looked at so much earlier, and then changes when it should.
      let changesAt = UInt64(bitPattern: order.changesAt?.nanoseconds ?? .max)
      bits = changesAt & ~0x3fff | UInt64(order.equals4) << 7 | UInt64(order.equals6)
    }

    @inline(__always)
    var changesAt: Int64 { Int64(bitPattern: bits & ~0x3fff) }
    @inline(__always)
    var equals4: Int { Int(truncatingIfNeeded: bits &>> 7 & 0x7f) }
    @inline(__always)
    var equals6: Int { Int(truncatingIfNeeded: bits & 0x7f) }
  }
}

/// A record's word of when it was last used, and of what had been heard of its addresses when their order was made.
struct RecordUse: Sendable, Hashable {
  var bits: UInt64

  @inline(__always)
  init(bits: UInt64) { self.bits = bits }

  init(seconds: UInt32, revision: UInt32) { bits = UInt64(revision) << 32 | UInt64(seconds) }

  @inline(__always)
  var seconds: UInt32 {
    get { UInt32(truncatingIfNeeded: bits) }
    set { bits = bits & ~0xffff_ffff | UInt64(newValue) }
  }
  @inline(__always)
  var revision: UInt32 { UInt32(truncatingIfNeeded: bits &>> 32) }
}
