// SPDX-License-Identifier: Apache-2.0
/// Addresses in an order that matters.
///
/// Four IPv6 addresses are held without an allocation; four IPv4 addresses take as much room as one of IPv6.
public struct AddressList: RandomAccessCollection, Sendable, ExpressibleByArrayLiteral {
  // Cached lookups return millions of these, and large values are slow to copy. So these are four numbers and not an
  // array: from the first on, each holds one IPv6 address; from the last on, each holds four IPv4 addresses.
  private var first: UInt128 = 0
  private var second: UInt128 = 0
  private var third: UInt128 = 0
  private var fourth: UInt128 = 0
  private var overflow: [IPAddress]?
  /// Which of the addresses in these numbers are IPv6; the lowest bit is for the first address.
  private var ipv6Bits: UInt16 = 0
  private var count4: UInt8 = 0
  private var count6: UInt8 = 0

  /// Creates an empty list.
  @inline(__always)
  public init() {}

  /// Creates a list of those addresses, in their order.
  public init(_ addresses: some Sequence<IPAddress>) {
    self.init()
    for address in addresses { append(address) }
  }

  /// Creates a list of those addresses, in their order.
  public init(arrayLiteral elements: IPAddress...) { self.init(elements) }

  /// Adds an address at the end.
  public mutating func append(_ address: IPAddress) {
    let isIPv6 = address.family == .ipv6
    if overflow == nil, Self.fitsInline(ipv4: Int(count4) + (isIPv6 ? 0 : 1), ipv6: Int(count6) + (isIPv6 ? 1 : 0)) {
      if isIPv6 {
        appendInline(high: address.high, low: address.low)
      } else {
        appendInline(ipv4: UInt32(truncatingIfNeeded: address.low))
      }
    } else {
      var array = overflow ?? Array(self)
      overflow = nil
      array.append(address)
      overflow = array
    }
  }

  /// Whether that many addresses of each family need no allocation.
  @inline(__always)
  static func fitsInline(ipv4: Int, ipv6: Int) -> Bool { ipv6 &+ (ipv4 &+ 3) / 4 <= 4 }

  /// Adds an IPv4 address; there must be room for it.
  @inline(__always)
  mutating func appendInline(ipv4 address: UInt32) {
    let index = Int(count4)
    self[number: 3 &- index &>> 2] |= UInt128(address) &<< Self.shift(index)
    count4 &+= 1
  }

  /// Adds an IPv6 address; there must be room for it.
  @inline(__always)
  mutating func appendInline(high: UInt64, low: UInt64) {
    self[number: Int(count6)] = UInt128(high) &<< 64 | UInt128(low)
    ipv6Bits |= 1 &<< UInt16(inlineCount)
    count6 &+= 1
  }

  @inline(__always)
  private var inlineCount: Int { Int(count4 &+ count6) }

  /// The position of an IPv4 address in its number, in bits.
  @inline(__always)
  private static func shift(_ index: Int) -> UInt128 { UInt128(truncatingIfNeeded: (index & 3) &* 32) }

  /// How many of the addresses before that position are IPv6.
  private func ipv6Count(before place: Int) -> Int {
    (ipv6Bits & (1 &<< UInt16(place) &- 1)).nonzeroBitCount
  }

  private func isIPv6(_ place: Int) -> Bool { ipv6Bits &>> UInt16(place) & 1 != 0 }

  /// One of the four numbers.
  @inline(__always)
  private subscript(number place: Int) -> UInt128 {
    get {
      switch place {
      case 0: first
      case 1: second
      case 2: third
      default: fourth
      }
    }
    set {
      switch place {
      case 0: first = newValue
      case 1: second = newValue
      case 2: third = newValue
      default: fourth = newValue
      }
    }
  }

  /// An address in these numbers; only one of the same family may replace it.
  private subscript(inline place: Int) -> IPAddress {
    get {
      let before = ipv6Count(before: place)
      if isIPv6(place) {
        let number = self[number: before]
        return .ipv6(high: UInt64(truncatingIfNeeded: number >> 64), low: UInt64(truncatingIfNeeded: number))
      }
      let index = place - before
      return .ipv4(UInt32(truncatingIfNeeded: self[number: 3 - index / 4] >> Self.shift(index)))
    }
    set {
      let before = ipv6Count(before: place)
      if isIPv6(place) {
        self[number: before] = newValue.value
      } else {
        let index = place - before
        let others = self[number: 3 - index / 4] & ~(0xffff_ffff << Self.shift(index))
        self[number: 3 - index / 4] = others | newValue.value << Self.shift(index)
      }
    }
  }

  /// 0, the position of the first address.
  public var startIndex: Int { 0 }

  /// The number of addresses.
  @inline(__always)
  public var endIndex: Int { overflow?.count ?? inlineCount }

  /// The address at a position below `count`.
  public subscript(position: Int) -> IPAddress {
    get {
      if let overflow { return overflow[position] }
      // As with any collection: behind the end there is memory of other addresses.
      precondition(position >= 0 && position < inlineCount, "an index beyond the addresses")
      return self[inline: position]
    }
    set {
      // Written in place, if it has the family of the address that it replaces.
      if overflow == nil, position >= 0, position < inlineCount, isIPv6(position) == (newValue.family == .ipv6) {
        self[inline: position] = newValue
      } else {
        var addresses = Array(self)
        addresses[position] = newValue
        self = AddressList(addresses)
      }
    }
  }
}

extension AddressList: MutableCollection {}

extension AddressList: Hashable, CustomStringConvertible {
  /// Whether both have the same addresses in the same order.
  public static func == (left: Self, right: Self) -> Bool { left.elementsEqual(right) }

  /// Feeds every address.
  public func hash(into hasher: inout Hasher) {
    for address in self { hasher.combine(address) }
  }

  /// The addresses in brackets, with commas.
  public var description: String { "[" + map(\.description).joined(separator: ", ") + "]" }
}
