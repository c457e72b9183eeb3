// SPDX-License-Identifier: Apache-2.0
/// Addresses in an order that matters.
///
/// Up to eight are held without an allocation.
public struct AddressList: RandomAccessCollection, Sendable, ExpressibleByArrayLiteral {
  // Cached lookups hand these out by the million: eight addresses cover nearly every name.
  private var words: InlineArray<16, UInt64>
  private var ipv6Bits: UInt8
  private var inlineCount: UInt8
  private var overflow: [IPAddress]?

  /// The number of addresses that need no allocation.
  static let inlineCapacity = 8

  /// Creates an empty list.
  @inline(__always)
  public init() {
    words = InlineArray(repeating: 0)
    ipv6Bits = 0
    inlineCount = 0
    overflow = nil
  }

  /// Creates a list of those addresses, in their order.
  public init(_ addresses: some Sequence<IPAddress>) {
    self.init()
    for address in addresses { append(address) }
  }

  /// Creates a list of those addresses, in their order.
  public init(arrayLiteral elements: IPAddress...) { self.init(elements) }

  /// Adds an address at the end.
  public mutating func append(_ address: IPAddress) {
    if overflow == nil, Int(inlineCount) < Self.inlineCapacity {
      appendInline(high: address.high, low: address.low, isIPv6: address.family == .ipv6)
    } else {
      var array = overflow ?? Array(self)
      overflow = nil
      array.append(address)
      overflow = array
    }
  }

  /// Adds an address where room is known to be.
  @inline(__always)
  mutating func appendInline(high: UInt64, low: UInt64, isIPv6: Bool) {
    let place = Int(inlineCount & 7)
    words[place * 2] = high
    words[place * 2 + 1] = low
    ipv6Bits |= (isIPv6 ? 1 : 0) << UInt8(place)
    inlineCount &+= 1
  }

  private subscript(inline place: Int) -> IPAddress {
    get {
      ipv6Bits >> UInt8(place) & 1 == 0
        ? .ipv4(UInt32(truncatingIfNeeded: words[place * 2 + 1]))
        : .ipv6(high: words[place * 2], low: words[place * 2 + 1])
    }
    set {
      words[place * 2] = newValue.high
      words[place * 2 + 1] = newValue.low
      ipv6Bits = ipv6Bits & ~(1 << UInt8(place)) | (newValue.family == .ipv6 ? 1 : 0) << UInt8(place)
    }
  }

  /// 0, where the first address stands.
  public var startIndex: Int { 0 }

  /// The number of addresses.
  @inline(__always)
  public var endIndex: Int { overflow?.count ?? Int(inlineCount) }

  /// The address at a position below `count`.
  public subscript(position: Int) -> IPAddress {
    get {
      if let overflow { return overflow[position] }
      // As an array's: the words beyond the count are zero, and no address.
      precondition(position < Int(inlineCount), "an index beyond the addresses")
      return self[inline: position]
    }
    set {
      if overflow != nil {
        overflow?[position] = newValue
      } else {
        precondition(position < Int(inlineCount), "an index beyond the addresses")
        self[inline: position] = newValue
      }
    }
  }
}

extension AddressList: MutableCollection {}

extension AddressList: Hashable, CustomStringConvertible {
  /// Whether the same addresses stand in the same order.
  public static func == (left: Self, right: Self) -> Bool { left.elementsEqual(right) }

  /// Feeds every address.
  public func hash(into hasher: inout Hasher) {
    for address in self { hasher.combine(address) }
  }

  /// The addresses in brackets, with commas.
  public var description: String { "[" + map(\.description).joined(separator: ", ") + "]" }
}
