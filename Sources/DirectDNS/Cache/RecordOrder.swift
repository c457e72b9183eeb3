// SPDX-License-Identifier: Apache-2.0
/// The order of a record's addresses: how many of each family are equally good and take turns, and until when.
struct RecordOrder: Sendable, Hashable {
  var equals4: Int
  var equals6: Int
  /// The family that goes behind the other whichever is preferred, if any.
  var behind: IPAddress.Family?
  /// When a failed address may be used again or a connect time is forgotten, so that the order has to be made anew.
  var changesAt: ResolverInstant?
  /// ``AddressRanking/revision(of:)`` when the order was made.
  var revision: UInt32

  /// The word of a record that has the order, without the revision.
  struct Bits: Sendable, Hashable {
    let bits: UInt64

    @inline(__always)
    init(_ bits: UInt64) { self.bits = bits }

    init(_ order: RecordOrder) {
      // The lowest bits of the instant, 66 µs, make room for the rest: the order is made anew that much earlier.
      let changesAt = UInt64(bitPattern: order.changesAt?.nanoseconds ?? .max)
      let behind: UInt64 = order.behind.map { $0 == .ipv4 ? 0x4000 : 0x8000 } ?? 0
      bits = changesAt & ~0xffff | behind | UInt64(order.equals4) << 7 | UInt64(order.equals6)
    }

    @inline(__always)
    var changesAt: Int64 { Int64(bitPattern: bits & ~0xffff) }
    /// Whether IPv6 goes behind IPv4, or the other way round, whichever is preferred.
    @inline(__always)
    var isBehind6: Bool { bits & 0x8000 != 0 }
    @inline(__always)
    var isBehind4: Bool { bits & 0x4000 != 0 }
    @inline(__always)
    var equals4: Int { Int(truncatingIfNeeded: bits &>> 7 & 0x7f) }
    @inline(__always)
    var equals6: Int { Int(truncatingIfNeeded: bits & 0x7f) }
  }
}

/// The word of a record that has when it was last used, and the revision of its addresses when their order was made.
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
